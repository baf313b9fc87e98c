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


RECALL = {depth: f"recall@{depth}" for depth in DEPTHS}
"""The measures of the share of the evidence among the first lines that were recalled."""
_OF_RECALL = frozenset({MRR, *RECALL.values()})
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
    if measure not in _OF_RECALL:
        return None if row.get(measure) is None else float(row[measure])
    if not row["evidence"]:
        return None
    if measure == MRR:
        return float(sum(1 / rank for rank in row["ranks"][:1]))
    depth = int(measure.partition("@")[2])
    return float(sum(rank <= depth for rank in row["ranks"]) / row["evidence"])


type _Array = NDArray[np.float64]
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
    wanted = [each for each in measures if recalls or each not in _OF_RECALL]
    parts = {kind: [r for r in rows if r["kind"] == kind] for kind in {r["kind"] for r in rows}}
    parts.pop(ALL, None)
    found = []
    for kind, part in (*sorted(parts.items()), *([(ALL, rows)] if rows else [])):
        figures, groups = {each: by_question(part, each) for each in wanted}, groups_of(part)
        estimates = {name: estimate_of(each, groups) for name, each in figures.items() if each}
        found.append(MeasuredKind(kind, len(groups), estimates))
    return found


# -- intervals


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval."""

    mean: float
    low: float
    high: float
    n: int  # questions


def estimate(values: Sequence[float], groups: Sequence[Hashable] = ()) -> Estimate:
    """The mean of some values with its interval; the same values give the same one.

    ``groups``: Which of them belong together, a name for each; none where all stand alone.
    """
    sums, counts = _grouped(values, groups)
    return _estimate(sums, counts, _means(sums, counts, ROUNDS))


def difference(
    first: Sequence[float],
    second: Sequence[float],
    groups: Sequence[Hashable] = (),
    *,
    family: int = 1,
) -> tuple[Estimate, float]:
    """``first`` less ``second``, of the same questions in the same order, and a two-sided p.

    ``family``: With how many others it is to be corrected: the more, the more samples are drawn,
    as no p value is below one of them.
    """
    sums, counts = _grouped(np.subtract(first, second), groups)
    means = _means(sums, counts, max(ROUNDS, _A_PAIR * family))
    # Of means drawn around the difference, those on the far side of none; see Efron & Tibshirani.
    side = min(float((means <= 0).mean()), float((means >= 0).mean()))
    # Few questions that differ are not told from chance, however they are drawn: all signs of so
    # many are equal as often as this, if neither is better.
    least = 2.0 ** (1 - int(np.count_nonzero(sums)))
    p = min(1.0, max(2 * side, 1 / len(means), least))
    return _estimate(sums, counts, means), p


def holm(found: Sequence[float]) -> list[float]:
    """The p values, corrected for their number (Holm 1979), in their order."""
    p, order = np.asarray(found, dtype=np.float64), np.argsort(found, kind="stable")
    p[order] = np.maximum.accumulate(np.minimum(1, p[order] * np.arange(len(p), 0, -1)))
    return [float(each) for each in p]


def _grouped(values: Sequence[float] | _Array, groups: Sequence[Hashable]) -> tuple[_Array, _Array]:
    """The sum of each group's values, and how many they are; in the order of the groups."""
    numbers: dict[Hashable, int] = {}
    places = [numbers.setdefault(each, len(numbers)) for each in groups or range(len(values))]
    return np.bincount(places, weights=values), np.bincount(places).astype(np.float64)


def _means(sums: _Array, counts: _Array, rounds: int) -> _Array:
    """The means of ``rounds`` samples of groups, with replacement."""
    size = len(sums)
    # By the data's size alone: two memories on the same questions are sampled alike.
    chance = np.random.default_rng(zlib.crc32(str(size).encode()))
    drawn = chance.integers(0, size, (rounds, size))
    found: _Array = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    return found


def _estimate(sums: _Array, counts: _Array, means: _Array) -> Estimate:
    rest = (1 - LEVEL) / 2
    low, high = np.quantile(means, (rest, 1 - rest))
    return Estimate(float(sums.sum() / counts.sum()), float(low), float(high), int(counts.sum()))
