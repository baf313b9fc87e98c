"""The measures of rows, by memory and by category, with intervals."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from game.lab.trials.evaluating import IN_CONTEXT, IN_REACH
from game.lab.trials.intervals import Estimate, estimate
from game.lab.trials.journal import Row
from game.lab.trials.probes import KEPT
from game.lab.trials.scoring import EXACT, F1, RIGHT, ROUGE_L
from game.mind.recall.measure import ALL, DEPTHS

MRR = "mrr"
_AT = "recall@"
RECALL = {depth: f"{_AT}{depth}" for depth in DEPTHS}
MEASURES: Mapping[str, str] = {
    **{name: name for name in RECALL.values()},
    MRR: "MRR",
    IN_CONTEXT: "in context",
    IN_REACH: "in reach",
    "kept": KEPT,
    F1: "F1",
    EXACT: "exact",
    ROUGE_L: "ROUGE-L",
    RIGHT: "right",
    "judged": "judged right",
}
"""All shares of 0 to 1, and what tables call them."""
COSTS: Mapping[str, str] = {
    "memory_tokens": "tokens of memory",
    "prompt_tokens": "tokens of prompt",
    "memory_seconds": "s memory",
    "answer_seconds": "s answer",
    "memories": "memories",
    "thoughts": "thoughts",
    "thought_tokens": "tokens a thought",
    "compactions": "compactions",
    "window": "memories in the window",
    "over_budget": "prompts over budget",
}


def value(row: Row, measure: str) -> float | None:
    """A row's figure; None where the measure does not fit its question."""
    if measure.startswith(_AT):  # at any depth
        return _recall(row, int(measure.removeprefix(_AT)))
    if measure == MRR:
        return float(sum(1 / rank for rank in row["ranks"][:1])) if row["evidence"] else None
    return None if row.get(measure) is None else float(row[measure])


def recall_at(depth: int) -> str:
    """The measure of the share of the evidence among the first ``depth`` that were recalled."""
    return f"{_AT}{depth}"


def _recall(row: Row, depth: int) -> float | None:
    if not row["evidence"]:
        return None
    return float(sum(rank <= depth for rank in row["ranks"]) / row["evidence"])


type Question = tuple[str, ...]
"""What a question is known by, whichever memory was asked."""


def by_question(
    rows: Iterable[Row], measure: str, key: Sequence[str] = ("trial", "question")
) -> dict[Question, float]:
    """Each question's figure, the mean of those that asked it several times (by other seeds).

    So a question counts once: five seeds of one file are no five times as many questions.
    """
    found: defaultdict[Question, list[float]] = defaultdict(list)
    for row in rows:
        if (figure := value(row, measure)) is not None:
            found[tuple(str(row.get(name, "")) for name in key)].append(figure)
    return {question: statistics.fmean(figures) for question, figures in found.items()}


def groups_of(
    rows: Iterable[Row], key: Sequence[str] = ("trial", "question")
) -> dict[Question, str]:
    """What each question is about: those about the same depend on each other."""
    found: dict[Question, str] = {}
    for row in rows:
        question = tuple(str(row.get(name, "")) for name in key)
        found[question] = str(row.get("about") or question)
    return found


def estimate_of(figures: Mapping[Question, float], groups: Mapping[Question, str]) -> Estimate:
    """The mean of some questions' figures."""
    return estimate([*figures.values()], [groups[question] for question in figures])


@dataclass(frozen=True, slots=True)
class MeasuredKind:
    """One category of questions."""

    kind: str
    questions: int
    estimates: Mapping[str, Estimate]  # by measure; those that fit none of its questions are absent


def measured(
    rows: Sequence[Row],
    measures: Iterable[str] = (*MEASURES, *COSTS),
    key: Sequence[str] = ("trial", "question"),
) -> list[MeasuredKind]:
    """Each category in alphabetical order, then all of them together.

    A memory that never recalls a line, but only shows a context, has no recall.
    """
    recalls = any(row["recalled"] for row in rows)
    wanted = [each for each in measures if recalls or not (each == MRR or each.startswith(_AT))]
    kinds = sorted({str(row["kind"]) for row in rows} - {ALL})
    parts = [(kind, [row for row in rows if row["kind"] == kind]) for kind in kinds]
    return [_measured(kind, part, wanted, key) for kind, part in (*parts, (ALL, rows)) if part]


def _measured(
    kind: str, rows: Sequence[Row], measures: Iterable[str], key: Sequence[str]
) -> MeasuredKind:
    figures = {measure: by_question(rows, measure, key) for measure in measures}
    groups = groups_of(rows, key)
    estimates = {measure: estimate_of(each, groups) for measure, each in figures.items() if each}
    return MeasuredKind(kind, len(groups), estimates)
