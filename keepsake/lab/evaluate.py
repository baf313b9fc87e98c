"""Lives trials through a memory, asks, has a model answer: one row of figures a question."""

from __future__ import annotations

import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from keepsake.archive.privacy import NOBODY, Audience
from keepsake.errors import refusing
from keepsake.lab.answers import CONTEXT, PROMPTS, AnsweringModel
from keepsake.lab.benchmarks import Trial, TrialQuestion
from keepsake.lab.measures import (
    IN_CONTEXT,
    IN_REACH,
    JUDGED,
    KEPT,
    OF_RECALL,
    TOLD,
    WITHIN,
    of_evidence,
    scores,
    stands_in,
)
from keepsake.lab.memories.plain import first_within
from keepsake.memory.protocol import Maker, RecalledLine, Surroundings, line_of, maker
from keepsake.ports import Embedder, FixedClock, LanguageModel
from keepsake.prompt.tokens import Heuristic

type Row = dict[str, Any]
"""One question: names of columns and their values, as JSON has them."""

QUIET, NIGHT = timedelta(minutes=30), timedelta(hours=4)
"""So long without a memory is a rest; so long, or a new day, is a night."""
OVER = 1.25
"""The share of its budget that counts of a context: memories may count tokens differently."""
RECALLED = 100
"""Lines that a memory may give for a question: as many as the largest prompt measured holds."""
_TOKENS = Heuristic()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How trials are lived and asked."""

    memory: str | Maker  # by its name, or its class
    settings: Mapping[str, str] = field(default_factory=dict)  # the memory's own
    embedder: Embedder | None = None
    writer: LanguageModel | None = None  # writes the memory's summaries; None for rules
    answerer: AnsweringModel | None = None  # None where only recall is measured
    judge: AnsweringModel | None = None
    judging: Mapping[str, str] = field(default_factory=lambda: PROMPTS["judge"])  # its prompts
    parallel: int = 1  # answers that are asked for at once
    prices: tuple[float, float] = (0.0, 0.0)  # dollars of a million tokens, asked and answered
    budget: int = CONTEXT  # tokens of the lines of a prompt
    recalled: int = RECALLED


@dataclass(frozen=True, slots=True)
class Asking:
    """One question and what the memory had for it."""

    question: TrialQuestion
    context: Sequence[str]  # what every prompt shows
    recalled: Sequence[RecalledLine]  # what was found for this question, best first
    seconds: float  # that the memory took for both
    budget: int  # tokens of the lines of a prompt
    before_others: Sequence[str] = ()  # what it shows before those from whom it is to be kept


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
    trials: Sequence[Trial], how: Evaluation, done: Callable[[], None] = lambda: None
) -> list[Row]:
    """One row a question, in the order asked; ``done`` is called after each.

    Raises:
        KeepsakeError: The memory cannot be used, or a model does not answer.
    """
    _maker(how)  # said before anything is lived
    rows: list[Row] = []
    waiting = deque[tuple[Row, Future[Row]]]()

    def settle(most: int) -> None:
        while len(waiting) > most:
            row, answer = waiting.popleft()
            rows.append(row | answer.result())
            done()

    with ThreadPoolExecutor(how.parallel, thread_name_prefix="answers") as pool:
        for trial in trials:
            for asking in lived(trial, how):
                row = row_of(trial, asking)
                waiting.append((row, pool.submit(answered, asking, how)))
                settle(how.parallel)  # a model that does not answer is known soon
        settle(0)
    if not any(row["recalled_lines"] for row in rows):  # it only shows a context
        rows = [row | dict.fromkeys(OF_RECALL & row.keys()) for row in rows]
    return rows


def _maker(how: Evaluation) -> Maker:
    return maker(how.memory) if isinstance(how.memory, str) else how.memory


def lived(trial: Trial, how: Evaluation) -> Iterator[Asking]:
    """Live a life; a question is asked when its time has come.

    Raises:
        KeepsakeError: The memory cannot be used.
    """
    clock, hearing = FixedClock(trial.memories[0].time), NOBODY
    waiting = deque(sorted(trial.questions, key=lambda each: each.time))
    with (
        refusing("There is no room for temporary files", "Free some disk space, or set TMPDIR"),
        tempfile.TemporaryDirectory(prefix="keepsake-", ignore_cleanup_errors=True) as folder,
    ):
        given = Surroundings(
            agent=trial.agent,
            folder=Path(folder),
            clock=clock,
            embedder=how.embedder,
            model=how.writer,
            budget=how.budget,
            audience=lambda: hearing,
            settings=how.settings,
        )
        with closing(_maker(how)(given)) as memory:
            budget: int = getattr(memory, "own_budget", how.budget)
            if how.answerer is not None and how.answerer.context:
                budget = min(budget, how.answerer.budget)

            def pass_to(moment: datetime) -> None:
                gap, new_day = moment - clock.time, moment.date() != clock.time.date()
                if gap >= QUIET:
                    memory.rest(asleep=gap >= NIGHT or new_day)
                clock.time = max(moment, clock.time)

            def shown(question: TrialQuestion, others: Audience) -> Asking:
                nonlocal hearing
                began, hearing = time.perf_counter(), question.audience | others
                # The asker is known, as in the world: "my sister" is the asker's.
                asker = f"{question.asker}: " if question.asker else ""
                recalled = memory.recall(f"{asker}{question.text}", how.recalled)
                context = memory.context(budget)
                seconds, hearing = time.perf_counter() - began, NOBODY
                # What is more than was asked for does not count.
                context = [*first_within(context[::-1], int(OVER * budget), _TOKENS)][::-1]
                return Asking(question, context, recalled[: how.recalled], seconds, budget)

            for next_one in (*trial.memories, None):
                while waiting and (next_one is None or waiting[0].time < next_one.time):
                    question = waiting.popleft()
                    pass_to(question.time)
                    asking = shown(question, NOBODY)
                    if question.kept_from:
                        before = shown(question, question.kept_from)
                        others = (*before.context, *(each.text for each in before.recalled))
                        asking = replace(asking, before_others=others)
                    yield asking
                if next_one is not None:
                    pass_to(next_one.time)
                    memory.perceive(next_one)


def row_of(trial: Trial, asking: Asking) -> Row:
    """What a memory had for one question, as plain figures."""
    question, lines = asking.question, [each.text for each in asking.recalled]
    ranked = list(dict.fromkeys(n for each in asking.recalled for n in each.numbers))
    reach = [*asking.context, *lines]
    row: Row = {
        "trial": trial.name,
        "question": question.id,
        "kind": question.kind,
        "about": question.about,
        "asker": question.asker,
        "text": question.text,
        "expected": " / ".join(question.answers),
        "answerable": question.answerable,
        "delay_hours": question.delay.total_seconds() / 3600 if question.delay else None,
        "load": trial.load or None,
        "evidence": len(question.evidence),
        # places of the evidence among what was recalled, from 1; what is missing was not found
        "ranks": [place for place, each in enumerate(ranked, 1) if each in question.evidence],
        "recalled_lines": len(lines),
        "memory_tokens": sum(_TOKENS.each(reach)),
        "memory_seconds": round(asking.seconds, 6),
    }
    if question.evidence:
        days = [f"{each.time:%Y-%m-%d}" for each in trial.memories]
        sessions = dict(enumerate(trial.sessions or days, 1))
        row |= of_evidence(question.evidence, ranked, sessions)
        wanted = {n: line_of(trial.memories[n - 1]) for n in question.evidence}
        row[IN_CONTEXT] = _held(wanted, asking.context, ())
        row[IN_REACH] = _held(wanted, asking.context, asking.recalled)
        for tokens, name in WITHIN.items():
            row[name] = _held(wanted, *fitting(asking, tokens))
    if question.answerable and question.answers:
        row[TOLD] = float(stands_in(question.answers, reach))
    if question.kept_from and row.get(TOLD):  # what is forgotten is not kept
        row[KEPT] = float(not stands_in(question.answers, asking.before_others))
    return row


def _held(
    wanted: Mapping[int, str], context: Iterable[str], found: Iterable[RecalledLine]
) -> float:
    """The share of some memories that lines hold: word for word, or by the number of a line."""
    text, numbers = "\n".join(context), {n for each in found for n in each.numbers}
    return sum(n in numbers or line in text for n, line in wanted.items()) / len(wanted)


def answered(asking: Asking, how: Evaluation) -> Row:
    """What a model makes of it, as plain figures; nothing where none is asked.

    Raises:
        ModelError: A model does not answer.
    """
    if how.answerer is None:
        return {}
    reply = how.answerer.ask(prompt_for(asking, asking.budget))
    spent = reply.prompt_tokens * how.prices[0] + reply.completion_tokens * how.prices[1]
    row = {
        "answer": reply.text,
        **scores(asking.question, reply.text),
        "model": reply.model,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "answer_seconds": round(reply.seconds, 6),
        "dollars": spent / 1e6 if any(how.prices) else None,
    }
    if how.judge is not None:
        row[JUDGED] = how.judge.judge(asking.question, reply.text, how.judging)
    return row


def fitting(asking: Asking, budget: int) -> tuple[list[str], list[RecalledLine]]:
    """What of it a prompt holds: what was found first, and the newest context in the room left."""
    lines = [each.text for each in asking.recalled]
    found = list(first_within(lines, budget, _TOKENS))
    rest, shown = budget - sum(_TOKENS.each(found)), set(found)
    others = (line for line in reversed(asking.context) if line not in shown)
    return list(first_within(others, rest, _TOKENS))[::-1], [*asking.recalled[: len(found)]]


def prompt_for(asking: Asking, budget: int) -> str:
    """The prompt of a question: what was found for it, in the room left the context, the task."""
    context, found = fitting(asking, budget)
    asked, lines = asking.question, [each.text for each in found]
    parts = [
        *(["What is remembered, oldest first:", *context, ""] if context else []),
        *(["What was found for this question, best first:", *lines, ""] if lines else []),
        PROMPTS["task"],
        f"It is {asked.time:%-d %B %Y}.",
        f"{asked.asker} asks: {asked.text}" if asked.asker else f"Question: {asked.text}",
    ]
    return "\n".join(parts)
