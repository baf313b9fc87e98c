"""Runs trials through a memory, asks questions, lets a model answer: one row per question."""

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
from random import Random
from typing import Any

from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience
from keepsake.archive.records import Memory
from keepsake.errors import refusing
from keepsake.lab.answers import CONTEXT, PROMPTS, AnsweringModel
from keepsake.lab.benchmarks import Trial, TrialQuestion
from keepsake.lab.measures import (
    HAS_ANSWER,
    IN_CONTEXT,
    IN_REACH,
    JUDGED,
    KEPT,
    RANKING_MEASURES,
    WITHIN,
    occurs_in,
    ranking_scores,
    scores,
)
from keepsake.lab.memories.plain import within_budget
from keepsake.language.tokens import Heuristic
from keepsake.memory.protocol import (
    MemoryArguments,
    MemoryFactory,
    RecalledLine,
    line_of,
    load_memory_class,
)
from keepsake.paths import SHIPPED_CONFIG
from keepsake.ports import Embedder, FixedClock, LanguageModel
from keepsake.recall.ranking.merging import picked_first
from keepsake.tasks.questions.reread import MOST_SHOWN, NO_CHOICE, Choice, FoundLine, Reread
from keepsake.tasks.task_prompts import ShippedTemplates

type Row = dict[str, Any]
"""The result of one question: column names and values that JSON can hold."""

REST_GAP = timedelta(minutes=30)
SLEEP_GAP = timedelta(hours=4)
"""Gaps without a memory after which the agent rests, or sleeps. A rest over midnight is sleep."""
CUT_FACTOR = 1.25
"""Contexts are cut at this multiple of the budget: memories may count tokens differently."""
MOST_RECALLED = 100
"""The most lines recalled for a question: as many as the largest measured prompt holds."""
_TOKENS = Heuristic()
_PROMPTS = ShippedTemplates(SHIPPED_CONFIG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The configuration of an evaluation."""

    memory: str | MemoryFactory  # the memory's name or class
    settings: Mapping[str, str] = field(default_factory=dict)  # the memory's settings
    embedder: Embedder | None = None
    writer: LanguageModel | None = None  # writes the memory's summaries; None for rules
    answerer: AnsweringModel | None = None  # None if only recall is measured
    judge: AnsweringModel | None = None
    # picks among what was found and searches further, for every memory alike; None for no model
    decomposer: AnsweringModel | None = None
    judge_prompts: Mapping[str, str] = field(default_factory=lambda: PROMPTS["judge"])
    parallel: int = 1  # answers requested at the same time
    prices: tuple[float, float] = (0.0, 0.0)  # dollars per million tokens, input and output
    budget: int = CONTEXT  # tokens of memory lines in a prompt
    recalled: int = MOST_RECALLED


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question, and the context and recalled lines that the memory returned for it."""

    question: TrialQuestion
    context: Sequence[str]  # the lines that every prompt shows
    recalled: Sequence[RecalledLine]  # the lines found for this question, best first
    seconds: float  # the time that the memory took for both
    budget: int  # tokens of memory lines in a prompt
    choice: Choice = NO_CHOICE  # what a model picked of the search, and searched for beside it
    before_others: Sequence[str] = ()  # lines shown when the audience includes ``kept_from``


def limit_questions(trials: Sequence[Trial], limit: int, seed: int = 1) -> list[Trial]:
    """Return the trials with a random sample of ``limit`` questions in total; 0 for no limit.

    Each kind of question has the share that it has of all, and at least one question if there are
    not more kinds than ``limit``. The same seed gives the same sample.
    """
    asked = [(number, each) for number, trial in enumerate(trials) for each in trial.questions]
    if not limit or len(asked) <= limit:
        return [trial for trial in trials if trial.questions]
    by_kind: dict[str, list[int]] = {}
    for place, (_, each) in enumerate(asked):
        by_kind.setdefault(each.kind, []).append(place)
    sizes = _shares({kind: len(places) for kind, places in by_kind.items()}, limit)
    random = Random(seed)
    chosen = {place for kind in by_kind for place in random.sample(by_kind[kind], sizes[kind])}
    questions: dict[int, list[TrialQuestion]] = {}
    for place in sorted(chosen):
        number, each = asked[place]
        questions.setdefault(number, []).append(each)
    return [replace(trials[number], questions=tuple(own)) for number, own in questions.items()]


def _shares(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Return how many of ``total`` each kind gets, in proportion; the largest remainders first."""
    whole = sum(sizes.values())
    least = 1 if len(sizes) <= total else 0
    shares = {kind: max(least, size * total // whole) for kind, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda kind: shares[kind] - sizes[kind] * total / whole)
    for kind in by_remainder[: max(0, total - sum(shares.values()))]:
        shares[kind] += 1
    while sum(shares.values()) > total:  # some rare kinds got their one question
        shares[max(shares, key=shares.__getitem__)] -= 1
    return shares


def evaluate(
    trials: Sequence[Trial], config: Evaluation, done: Callable[[], None] = lambda: None
) -> list[Row]:
    """Return one row per question, in the order asked; call ``done`` after each.

    Raises:
        KeepsakeError: The memory cannot be used, or a model does not answer.
    """
    _factory(config)  # fails early if the memory does not exist
    rows: list[Row] = []
    waiting = deque[tuple[Row, Future[Row]]]()

    def collect(most: int) -> None:
        while len(waiting) > most:
            row, answer = waiting.popleft()
            rows.append(row | answer.result())
            done()

    with ThreadPoolExecutor(config.parallel, thread_name_prefix="answers") as pool:
        for trial in trials:
            for result in run_trial(trial, config):
                row = recall_row(trial, result)
                waiting.append((row, pool.submit(answer_row, result, config)))
                collect(config.parallel)  # notices early that a model does not answer
        collect(0)
    if not any(row["recalled_lines"] for row in rows):  # the memory only shows a context
        rows = [row | dict.fromkeys(RANKING_MEASURES & row.keys()) for row in rows]
    return rows


def _factory(config: Evaluation) -> MemoryFactory:
    return load_memory_class(config.memory) if isinstance(config.memory, str) else config.memory


def run_trial(trial: Trial, config: Evaluation) -> Iterator[QuestionResult]:
    """Feed a trial's memories to the memory system, and ask each question at its time.

    Raises:
        KeepsakeError: The memory cannot be used.
    """
    waiting = deque(sorted(trial.questions, key=lambda each: each.time))
    with (
        refusing("There is no room for temporary files", "Free some disk space, or set TMPDIR"),
        tempfile.TemporaryDirectory(prefix="keepsake-", ignore_cleanup_errors=True) as folder,
        closing(_TrialRun(trial, config, Path(folder))) as run,
    ):
        for next_one in (*trial.memories, None):
            while waiting and (next_one is None or waiting[0].time < next_one.time):
                yield run.answer(waiting.popleft())
            if next_one is not None:
                run.perceive(next_one)


class _TrialRun:
    """A memory system that lives through a trial, with a clock of its own."""

    def __init__(self, trial: Trial, config: Evaluation, folder: Path) -> None:
        self._config = config
        self._clock = FixedClock(trial.memories[0].time)
        self._audience = NO_PRIVATE_WORDS
        given = MemoryArguments(
            agent=trial.agent,
            folder=folder,
            clock=self._clock,
            embedder=config.embedder,
            model=config.writer,
            budget=config.budget,
            audience=lambda: self._audience,
            settings=config.settings,
        )
        self._memory = _factory(config)(given)
        self._budget: int = getattr(self._memory, "own_budget", config.budget)
        if config.answerer is not None and config.answerer.context:
            self._budget = min(self._budget, config.answerer.budget)

    def close(self) -> None:
        """Close the memory's files."""
        self._memory.close()

    def perceive(self, memory: Memory) -> None:
        """Let the memory system perceive a memory at its time."""
        self._advance_to(memory.time)
        self._memory.perceive(memory)

    def answer(self, question: TrialQuestion) -> QuestionResult:
        """Ask a question at its time; if it is kept from others, also while they listen."""
        self._advance_to(question.time)
        result = self._ask(question, NO_PRIVATE_WORDS)
        if not question.kept_from:
            return result
        before = self._ask(question, question.kept_from)
        others = (*before.context, *(each.text for each in before.recalled))
        return replace(result, before_others=others)

    def _advance_to(self, moment: datetime) -> None:
        """Let the time pass; in a gap the memory rests or sleeps."""
        gap = moment - self._clock.time
        new_day = moment.date() != self._clock.time.date()
        if gap >= REST_GAP:
            self._memory.rest(asleep=gap >= SLEEP_GAP or new_day)
        self._clock.time = max(moment, self._clock.time)

    def _ask(self, question: TrialQuestion, others: Audience) -> QuestionResult:
        """Ask a question that ``others`` hear, besides those who hear it in the trial."""
        began = time.perf_counter()
        self._audience = question.audience | others
        # The memory learns who asks, as in the world: "my sister" is the asker's sister.
        asker = f"{question.asker}: " if question.asker else ""
        found = self._memory.recall(f"{asker}{question.text}", self._config.recalled)
        choice = self._choice(question, found)
        further = [
            self._memory.recall(f"{asker}{each}", self._config.recalled) for each in choice.searches
        ]
        found = _one_ranking(found, choice.picked, further)
        context = self._memory.context(self._budget)
        seconds = time.perf_counter() - began
        self._audience = NO_PRIVATE_WORDS
        # Lines over the budget do not count.
        most = int(CUT_FACTOR * self._budget)
        context = [*within_budget(context[::-1], most, _TOKENS)][::-1]
        shown = found[: self._config.recalled]
        return QuestionResult(question, context, shown, seconds, self._budget, choice)

    def _choice(self, question: TrialQuestion, found: Sequence[RecalledLine]) -> Choice:
        """Return what the model chooses of the lines that were found; nothing without a model."""
        decomposer = self._config.decomposer
        if decomposer is None or not found:
            return NO_CHOICE
        lines = [FoundLine(each.text, tuple(each.numbers)) for each in found]
        day = f"{question.time:%-d %B %Y}"
        prompts = _PROMPTS["reread"].current
        return decomposer.reread(Reread(prompts, question.text, lines, day, question.asker))


def _one_ranking(
    found: Sequence[RecalledLine],
    picked: Sequence[int],
    further: Sequence[Sequence[RecalledLine]],
) -> Sequence[RecalledLine]:
    """Return the lines of all searches; each memory once, as first found.

    ``picked``: The places of what the model picked in ``found``.
    """
    if not (picked or further):
        return found
    first: dict[tuple[int, ...] | str, RecalledLine] = {}
    for ranking in (found, *further):
        for line in ranking:
            first.setdefault(_key(line), line)
    keys = [_key(line) for line in found]
    others = [[_key(line) for line in ranking] for ranking in further]
    best = picked_first([keys[place] for place in picked], keys, MOST_SHOWN, others)
    return [first[key] for key in best]


def _key(line: RecalledLine) -> tuple[int, ...] | str:
    """Return the numbers of the memories that a line quotes, or its text if it quotes none."""
    return tuple(line.numbers) or line.text


def recall_row(trial: Trial, result: QuestionResult) -> Row:
    """Return the table row of one question, with all measures of the memory's result."""
    question = result.question
    lines = [each.text for each in result.recalled]
    ranked = list(dict.fromkeys(n for each in result.recalled for n in each.numbers))
    reach = [*result.context, *lines]
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
        "lost": ", ".join(question.lost),
        "picked": len(result.choice.picked),
        "searches": " / ".join(result.choice.searches),
        # ranks of the evidence among the recalled memories, from 1; evidence not found has none
        "ranks": [place for place, each in enumerate(ranked, 1) if each in question.evidence],
        "recalled_lines": len(lines),
        "memory_tokens": sum(_TOKENS.each(reach)),
        "memory_seconds": round(result.seconds, 6),
    }
    if question.evidence:
        days = [f"{each.time:%Y-%m-%d}" for each in trial.memories]
        sessions = dict(enumerate(trial.sessions or days, 1))
        row |= ranking_scores(question.evidence, ranked, sessions)
        wanted = {n: line_of(trial.memories[n - 1]) for n in question.evidence}
        row[IN_CONTEXT] = _evidence_share(wanted, result.context, ())
        row[IN_REACH] = _evidence_share(wanted, result.context, result.recalled)
        for tokens, name in WITHIN.items():
            row[name] = _evidence_share(wanted, *fit_budget(result, tokens))
    if question.answerable and question.answers:
        row[HAS_ANSWER] = float(occurs_in(question.answers, reach))
    if question.kept_from and row.get(HAS_ANSWER):  # a forgotten secret does not count
        row[KEPT] = float(not occurs_in(question.answers, result.before_others))
    return row


def _evidence_share(
    wanted: Mapping[int, str], context: Iterable[str], found: Iterable[RecalledLine]
) -> float:
    """Return the share of the wanted memories in the lines, by wording or by memory number."""
    text = "\n".join(context)
    numbers = {n for each in found for n in each.numbers}
    return sum(n in numbers or line in text for n, line in wanted.items()) / len(wanted)


def answer_row(result: QuestionResult, config: Evaluation) -> Row:
    """Return the columns of the model's answer; empty if no model answers.

    Raises:
        ModelError: A model does not answer.
    """
    if config.answerer is None:
        return {}
    reply = config.answerer.ask(prompt_for(result, result.budget))
    spent = reply.prompt_tokens * config.prices[0] + reply.completion_tokens * config.prices[1]
    row = {
        "answer": reply.text,
        **scores(result.question, reply.text),
        "model": reply.model,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "answer_seconds": round(reply.seconds, 6),
        "dollars": spent / 1e6 if any(config.prices) else None,
    }
    if config.judge is not None:
        row[JUDGED] = config.judge.judge(result.question, reply.text, config.judge_prompts)
    return row


def fit_budget(result: QuestionResult, budget: int) -> tuple[list[str], list[RecalledLine]]:
    """Return what fits in a prompt: recalled lines first, then the newest context lines."""
    lines = [each.text for each in result.recalled]
    found = list(within_budget(lines, budget, _TOKENS))
    rest = budget - sum(_TOKENS.each(found))
    shown = set(found)
    others = (line for line in reversed(result.context) if line not in shown)
    return list(within_budget(others, rest, _TOKENS))[::-1], [*result.recalled[: len(found)]]


def prompt_for(result: QuestionResult, budget: int) -> str:
    """Return the prompt of a question: context, recalled lines, task, date, question."""
    context, found = fit_budget(result, budget)
    asked = result.question
    lines = [each.text for each in found]
    parts = [
        *(["What is remembered, oldest first:", *context, ""] if context else []),
        *(["What was found for this question, best first:", *lines, ""] if lines else []),
        PROMPTS["task"],
        f"It is {asked.time:%-d %B %Y}.",
        f"{asked.asker} asks: {asked.text}" if asked.asker else f"Question: {asked.text}",
    ]
    return "\n".join(parts)
