"""The measures of rows, by memory and by category, with intervals."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from keepsake.lab.measure import ALL, DEPTHS
from keepsake.lab.trials.evaluating import IN_CONTEXT, IN_REACH
from keepsake.lab.trials.intervals import Estimate, estimate
from keepsake.lab.trials.journal import Row
from keepsake.lab.trials.probes import KEPT
from keepsake.lab.trials.scoring import EXACT, F1, RIGHT, ROUGE_L

MRR = "mrr"
_AT = "recall@"


def recall_at(depth: int) -> str:
    """The measure of the share of the evidence among the first ``depth`` that were recalled."""
    return f"{_AT}{depth}"


RECALL = {depth: recall_at(depth) for depth in DEPTHS}
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


def figure(each: Estimate | None, measure: str) -> str:
    """A figure as tables show it: a share in per cent with its interval, a cost by itself."""
    if each is None:
        return "–"
    if measure in COSTS:
        return f"{each.mean:.3f}" if "seconds" in measure else f"{each.mean:,.0f}"
    return f"{100 * each.mean:.1f} ({100 * each.low:.0f}–{100 * each.high:.0f})"


def value(row: Row, measure: str) -> float | None:
    """A row's figure; None where the measure does not fit its question."""
    if not _is_of_recall(measure):
        return None if row.get(measure) is None else float(row[measure])
    if not row["evidence"]:
        return None
    if measure == MRR:
        return float(sum(1 / rank for rank in row["ranks"][:1]))
    depth = int(measure.removeprefix(_AT))  # any one
    return float(sum(rank <= depth for rank in row["ranks"]) / row["evidence"])


def _is_of_recall(measure: str) -> bool:
    return measure == MRR or measure.startswith(_AT)


type Question = tuple[str, str]
"""What a question is known by, whichever memory was asked: its trial, and its id there."""


def _question(row: Row) -> Question:
    return str(row.get("trial", "")), str(row.get("question", ""))


def by_question(rows: Iterable[Row], measure: str) -> dict[Question, float]:
    """Each question's figure, the mean of those that asked it several times (by other seeds).

    So a question counts once: five seeds of one file are no five times as many questions.
    """
    found: defaultdict[Question, list[float]] = defaultdict(list)
    for row in rows:
        if (figure := value(row, measure)) is not None:
            found[_question(row)].append(figure)
    return {question: statistics.fmean(figures) for question, figures in found.items()}


def groups_of(rows: Iterable[Row]) -> dict[Question, str]:
    """What each question is about: those about the same depend on each other."""
    return {_question(row): str(row.get("about") or _question(row)) for row in rows}


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
    rows: Sequence[Row], measures: Iterable[str] = (*MEASURES, *COSTS)
) -> list[MeasuredKind]:
    """Each category in alphabetical order, then all of them together.

    A memory that never recalls a line, but only shows a context, has no recall.
    """
    recalls = any(row["recalled"] for row in rows)
    wanted = [each for each in measures if recalls or not _is_of_recall(each)]
    kinds = sorted({str(row["kind"]) for row in rows} - {ALL})
    parts = [(kind, [row for row in rows if row["kind"] == kind]) for kind in kinds]
    return [_measured(kind, part, wanted) for kind, part in (*parts, (ALL, rows)) if part]


def _measured(kind: str, rows: Sequence[Row], measures: Iterable[str]) -> MeasuredKind:
    figures = {measure: by_question(rows, measure) for measure in measures}
    groups = groups_of(rows)
    estimates = {measure: estimate_of(each, groups) for measure, each in figures.items() if each}
    return MeasuredKind(kind, len(groups), estimates)
