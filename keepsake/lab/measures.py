"""The measures of rows, by memory and by category, with intervals.

How sure a mean is, and a difference: percentile bootstrap over questions (Efron 1979) with a fixed
seed; the difference of two is paired by question, and a family of them is corrected by Holm (1979).
Questions that depend on each other, such as one that is asked again later, are drawn together, as a
group.
"""

from __future__ import annotations

import statistics
import zlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsake.lab.evaluating import IN_CONTEXT, IN_REACH, Row
from keepsake.lab.probes import KEPT
from keepsake.lab.trial import EXACT, F1, RIGHT, ROUGE_L

DEPTHS = (5, 10, 20)
ALL = "all"
ROUNDS = 2000
LEVEL = 0.95
_A_PAIR = 100
"""Rounds for each of a family: its smallest p value, corrected, is then at most 0.01."""
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


# -- intervals


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval."""

    mean: float
    low: float
    high: float
    n: int  # questions


@dataclass(frozen=True, slots=True)
class Difference:
    """How much higher the mean of one is than that of another, over the same questions."""

    mean: float
    low: float
    high: float
    p: float  # two-sided
    n: int


def estimate(values: Sequence[float], groups: Sequence[Hashable] = ()) -> Estimate:
    """The mean of some values with its interval; the same values give the same one.

    ``groups``: Which of them belong together, a name for each; none where all stand alone.
    """
    data = _Grouped.of(values, groups)
    low, high = _between(data.means(ROUNDS))
    return Estimate(data.mean, low, high, len(values))


def difference(
    first: Sequence[float],
    second: Sequence[float],
    groups: Sequence[Hashable] = (),
    *,
    family: int = 1,
) -> Difference:
    """``first`` less ``second``, which are of the same questions in the same order.

    ``family``: With how many others it is to be corrected: the more, the more samples are drawn,
    as no p value is below one of them.
    """
    data = _Grouped.of([one - other for one, other in zip(first, second, strict=True)], groups)
    means = data.means(max(ROUNDS, _A_PAIR * family))
    low, high = _between(means)
    # Of means drawn around the difference, those on the far side of none; see Efron & Tibshirani.
    side = min(float((means <= 0).mean()), float((means >= 0).mean()))
    # Few questions that differ are not told from chance, however they are drawn: all signs of so
    # many are equal as often as this, if neither is better.
    least = 2.0 ** (1 - int(np.count_nonzero(data.sums)))
    p = min(1.0, max(2 * side, 1 / len(means), least))
    return Difference(data.mean, low, high, p, len(first))


def holm(found: Sequence[float]) -> list[float]:
    """The p values, corrected for their number (Holm 1979), in their order."""
    order = sorted(range(len(found)), key=lambda place: found[place])
    corrected, least = [1.0] * len(found), 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, (len(found) - rank) * found[place]))
        corrected[place] = least
    return corrected


def _between(means: NDArray[np.float64]) -> tuple[float, float]:
    rest = (1 - LEVEL) / 2
    low, high = np.quantile(means, (rest, 1 - rest))
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class _Grouped:
    """Values by group: their sums, and how many they are."""

    sums: NDArray[np.float64]
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, values: Sequence[float], groups: Sequence[Hashable]) -> _Grouped:
        found: dict[Hashable, list[float]] = {}
        for group, value in zip(groups or range(len(values)), values, strict=True):
            found.setdefault(group, []).append(value)
        sums = np.asarray([sum(each) for each in found.values()], dtype=np.float64)
        return cls(sums, np.asarray([len(each) for each in found.values()], dtype=np.float64))

    @property
    def mean(self) -> float:
        return float(self.sums.sum() / self.counts.sum())

    def means(self, rounds: int) -> NDArray[np.float64]:
        """The means of ``rounds`` samples of groups, with replacement."""
        size = len(self.sums)
        # By the data's size alone: two memories on the same questions are sampled alike.
        chance = np.random.default_rng(zlib.crc32(str(size).encode()))
        drawn = chance.integers(0, size, (rounds, size))
        found: NDArray[np.float64] = self.sums[drawn].sum(axis=1) / self.counts[drawn].sum(axis=1)
        return found
