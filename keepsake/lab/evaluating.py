"""Lives trials through a memory, asks, has a model answer: one row of figures a question."""

from __future__ import annotations

import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from keepsake.archive.privacy import PrivateWords
from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.answering import (
    CONTEXT,
    AnsweringModel,
    Asking,
    judged,
    prompt_for,
)
from keepsake.lab.probes import KEPT
from keepsake.lab.trial import Trial, TrialQuestion, abstains, matches, scores, stands_in
from keepsake.memory.protocol import (
    MemorySystem,
    RecalledLine,
    Surroundings,
    maker,
    opened,
)
from keepsake.ports import Embedder, FixedClock, LanguageModel, Tokens
from keepsake.prompt.tokens import Heuristic

type Row = dict[str, Any]
"""One question: names of columns and their values, as JSON has them."""

QUIET = timedelta(minutes=30)
"""So long without a memory is a rest."""
OVER = 1.25
"""The share of its budget that a context may cost: memories may count tokens differently."""
NIGHT = timedelta(hours=4)
"""So long without one, or a new day, is a night."""
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
    judge: AnsweringModel | None = None
    budget: int = CONTEXT  # tokens of the lines of a prompt
    recalled: int = RECALLED
    tokens: Tokens = field(default_factory=Heuristic)


def limited(trials: Sequence[Trial], limit: int) -> list[Trial]:
    """The trials with ``limit`` questions in all, spread evenly; 0 is no limit."""
    asked = [(number, each) for number, trial in enumerate(trials) for each in trial.questions]
    if limit and len(asked) > limit:
        asked = [asked[place * len(asked) // limit] for place in range(limit)]
    questions: dict[int, list[TrialQuestion]] = {}
    for number, each in asked:
        questions.setdefault(number, []).append(each)
    return [replace(trials[number], questions=tuple(own)) for number, own in questions.items()]


def evaluated(
    trials: Sequence[Trial],
    how: Evaluation,
    scratch: Path | None = None,
    done: Callable[[Row], None] = lambda _: None,
) -> list[Row]:
    """One row a question, in the order asked.

    The folders of the memories go to ``scratch`` meanwhile, by default to the system's own.

    Raises:
        KeepsakeError: The memory cannot be used, or a model does not answer.
    """
    maker(how.memory)  # said before anything is lived
    rows = []
    for trial in trials:
        for asking in _askings(trial, how, scratch):
            rows.append(row_of(trial, asking, how))
            done(rows[-1])
    return rows


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
        reply = how.answerer.ask(prompt, "Short answer:", how.tokens)
        row |= {
            "answer": reply.text,
            "abstained": abstains(reply.text),
            **scores(question, reply.text),
            "model": reply.model,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "answer_seconds": round(reply.seconds, 6),
        }
        rated = judged(how.judge, question, reply.text, how.tokens) if how.judge else None
        row |= {"judged": rated} if rated is not None else {}
    return row


# -- one life


class MemoryFault(KeepsakeError):
    """A memory raised an error, or returned something else than the protocol wants."""


class Living:
    """One life through one memory; blocks.

    Args:
        trial: What is lived and asked.
        memory: What lives through it.
        clock: The memory's, which is put to each moment.
        given: What the memory was given.
        limit: How much is recalled for a question.
    """

    def __init__(
        self, trial: Trial, memory: MemorySystem, clock: FixedClock, given: Surroundings, limit: int
    ) -> None:
        self._trial, self._memory, self._clock = trial, memory, clock
        self._given, self._limit = given, limit
        self._private = PrivateWords()

    def ask_all(self) -> Iterator[Asking]:
        """Live from the first memory to the last question."""
        waiting = sorted(self._trial.questions, key=lambda each: each.time)
        for memory in self._trial.memories:
            while waiting and waiting[0].time < memory.time:
                yield self._ask(waiting.pop(0))
            self._pass_to(memory.time)
            self._memory.perceive(memory)
            self._private.saw(memory)
        for question in waiting:
            yield self._ask(question)

    def _pass_to(self, moment: datetime) -> None:
        gap = moment - self._clock.time
        if gap >= QUIET:
            self._memory.rest(asleep=gap >= NIGHT or moment.date() != self._clock.time.date())
        self._clock.time = max(moment, self._clock.time)

    def _ask(self, question: TrialQuestion) -> Asking:
        self._pass_to(question.time)
        began = time.perf_counter()
        # The asker is known, as in the world: "my sister" is the asker's.
        words = f"{question.asker}: {question.text}" if question.asker else question.text
        recalled = self._memory.recall(words, self._limit)
        context = self._memory.context(self._given.budget)
        seconds = time.perf_counter() - began
        context, recalled = self._checked(context, recalled)
        may = partial(self._private.may_hear_all, audience=question.audience)
        recalled = tuple(each for each in recalled if may(each.numbers))
        costs = self._given.tokens.each([*context, *(each.text for each in recalled)])
        return Asking(question, context, recalled, sum(costs), seconds)

    def _checked(
        self, context: Any, recalled: Any
    ) -> tuple[tuple[str, ...], tuple[RecalledLine, ...]]:
        """What it gave, if that is what it is to give: a slip must not become a figure."""
        if isinstance(context, str) or not all(isinstance(each, str) for each in context):
            raise _unlike("context", "a list of lines, each a text")
        if isinstance(recalled, str) or not all(isinstance(e, RecalledLine) for e in recalled):
            raise _unlike("recall", "a list of RecalledLine")
        if len(recalled) > self._limit:
            raise _unlike("recall", f"{self._limit} lines at most, not {len(recalled)}")
        cost = sum(self._given.tokens.each(list(context)))
        if cost > OVER * self._given.budget:
            raise _unlike("context", f"{self._given.budget:,} tokens at most, not {cost:,}")
        return tuple(context), tuple(recalled)


def _unlike(method: str, wanted: str) -> MemoryFault:
    told = f"The memory's {method}() is to give {wanted}"
    return MemoryFault(told, "See docs/research.md; keepsake.lab.memories.conformance tests it")
