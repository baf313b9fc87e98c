"""Lives trials through a memory, asks, has a model answer: one row of figures a question."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.trials.answering import CONTEXT, AnsweringModel, ModelReply, prompt_for
from keepsake.lab.trials.journal import Row, RowJournal
from keepsake.lab.trials.judging import AnswerJudge
from keepsake.lab.trials.living import Asking, Living, MemoryFault
from keepsake.lab.trials.probes import KEPT
from keepsake.lab.trials.scoring import abstains, matches, scores, stands_in
from keepsake.lab.trials.trial import Trial
from keepsake.memory.protocol import Surroundings, maker, opened
from keepsake.ports import Embedder, FixedClock, LanguageModel, Tokens
from keepsake.prompt.tokens import Heuristic

RECALLED = 20
"""Lines that a memory may give for a question."""
IN_CONTEXT, IN_REACH = "in_context", "in_reach"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How trials are lived and asked."""

    memory: str  # by its name
    settings: Mapping[str, str] = field(default_factory=dict)  # the memory's own
    embedder: Embedder | None = None
    writer: LanguageModel | None = None  # writes the memory's summaries; None for rules
    answerer: AnsweringModel | None = None  # None where only recall is measured
    judge: AnswerJudge | None = None
    budget: int = CONTEXT  # tokens of the lines of a prompt
    recalled: int = RECALLED
    tokens: Tokens = field(default_factory=Heuristic)


def limited(trials: Sequence[Trial], limit: int) -> list[Trial]:
    """The trials with ``limit`` questions in all, equally many of each; 0 is no limit."""
    if not limit or sum(len(trial.questions) for trial in trials) <= limit:
        return list(trials)
    wanted = [0] * len(trials)
    for _ in range(limit):
        open_ones = [n for n, trial in enumerate(trials) if wanted[n] < len(trial.questions)]
        wanted[min(open_ones, key=lambda n: wanted[n])] += 1
    pairs = zip(trials, wanted, strict=True)
    return [_with_first(trial, count) for trial, count in pairs if count]


def _with_first(trial: Trial, count: int) -> Trial:
    """The trial with ``count`` of its questions, spread evenly."""
    step = len(trial.questions) / count
    chosen = tuple(trial.questions[int(place * step)] for place in range(count))
    return replace(trial, questions=chosen)


def evaluated(
    trials: Sequence[Trial],
    how: Evaluation,
    journal: RowJournal,
    scratch: Path | None = None,
    done: Callable[[Row], None] = lambda _: None,
) -> list[Row]:
    """One row a question, in the order asked; those of the journal are not asked again.

    The folders of the memories go to ``scratch`` meanwhile, by default to the system's own.

    Raises:
        KeepsakeError: The memory cannot be used, or a model does not answer.
    """
    maker(how.memory)  # said before anything is lived
    return [row for trial in trials for row in _rows(trial, how, journal, scratch, done)]


def _rows(
    trial: Trial,
    how: Evaluation,
    journal: RowJournal,
    scratch: Path | None,
    done: Callable[[Row], None],
) -> Iterator[Row]:
    keys = {question.id: f"{how.memory} {trial.name} {question.id}" for question in trial.questions}
    kept = [row for key in keys.values() if (row := journal.get(key)) is not None]
    if len(kept) == len(keys):  # nothing is left that it is lived for
        for each in kept:
            done(each)
            yield each
        return
    for asking in _askings(trial, how, scratch):
        key = keys[asking.question.id]
        row = journal.get(key)
        if row is None:
            row = row_of(trial, asking, how)
            journal.add(key, row)
        done(row)
        yield row


def _askings(trial: Trial, how: Evaluation, scratch: Path | None) -> Iterator[Asking]:
    """The questions one by one, so that a model answers each before the next is asked."""
    clock = FixedClock(trial.memories[0].time)
    with (
        refusing("There is no room for temporary files", "Free some disk space, or set TMPDIR"),
        tempfile.TemporaryDirectory(
            prefix="keepsake-trial-", dir=scratch, ignore_cleanup_errors=True
        ) as folder,
    ):
        given = Surroundings(
            agent=trial.agent,
            folder=Path(folder),
            clock=clock,
            embedder=how.embedder,
            model=how.writer,
            tokens=how.tokens,
            budget=how.budget,
            settings=how.settings,
        )
        with _naming(how.memory), closing(opened(how.memory, given)) as memory:
            yield from Living(trial, memory, clock, given, how.recalled).ask_all()


@contextmanager
def _naming(memory: str) -> Iterator[None]:
    """An error in a memory names the memory and the line."""
    try:
        yield
    except KeepsakeError:
        raise
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        told = f"The memory {memory!r} failed: {error!r} ({place.filename}, line {place.lineno})"
        raise MemoryFault(told, "Correct it, or leave it out") from error


def row_of(trial: Trial, asking: Asking, how: Evaluation) -> Row:
    """What a memory had for one question, and what a model made of it, as plain figures."""
    question = asking.question
    # A secret is found where it must not be: that is no recall.
    evidence = frozenset() if question.kind == KEPT else question.evidence
    row: Row = {
        "trial": trial.name,
        "question": question.id,
        "kind": question.kind,
        "about": question.about,
        "asker": question.asker,
        "text": question.text,
        "expected": " / ".join(question.answers or question.right),
        "answerable": question.answerable,
        "delay_hours": question.delay.total_seconds() / 3600 if question.delay else None,
        "load": trial.load or None,
        "evidence": len(evidence),
        # places of the evidence among what was recalled, from 1; what is missing was not found
        "ranks": [n for n, each in enumerate(asking.found, 1) if each in evidence],
        "recalled": len(asking.recalled),
        "memory_tokens": asking.tokens,
        "memory_seconds": round(asking.seconds, 6),
    }
    reach = [*asking.context, *(each.text for each in asking.recalled)]
    if question.kind == KEPT:  # right is that nothing of it can be seen
        row["kept"] = float(not matches(question.wrong, "\n".join(reach)))
    elif question.answerable and (question.answers or question.right):
        row[IN_CONTEXT] = float(stands_in(question, asking.context))
        row[IN_REACH] = float(stands_in(question, reach))
    if how.answerer is not None:
        prompt = prompt_for(asking, how.budget, how.tokens)
        row |= _answered(asking, how.answerer.ask(prompt, "Short answer:", how.tokens), how)
    return row


def _answered(asking: Asking, reply: ModelReply, how: Evaluation) -> Row:
    question = asking.question
    judged = how.judge.rates(question, reply.text, how.tokens) if how.judge else None
    return {
        "answer": reply.text,
        "abstained": abstains(reply.text),
        **scores(question, reply.text),
        **({"judged": judged} if judged is not None else {}),
        "model": reply.model,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "answer_seconds": round(reply.seconds, 6),
    }
