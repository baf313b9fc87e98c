"""How well marked evidence was found: recall at a depth, and the mean reciprocal rank."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from keepsake.lab.measures import ALL, DEPTHS


@dataclass(frozen=True, slots=True)
class Answered:
    """One question that was asked."""

    kind: str
    evidence: Collection[str]
    found: Sequence[str]

    def recall(self, depth: int) -> float:
        """The share of the evidence among the first ``depth``, 0 to 1."""
        return len(set(self.evidence) & set(self.found[:depth])) / len(set(self.evidence))

    def reciprocal_rank(self) -> float:
        """1 / place of the first evidence, 0 if none was found."""
        places = (n for n, each in enumerate(self.found, 1) if each in self.evidence)
        return next((1.0 / place for place in places), 0.0)


@dataclass(frozen=True, slots=True)
class RetrievalScore:
    """Means over the questions of one kind."""

    kind: str
    questions: int
    recall: dict[int, float]
    mrr: float


def scores(answered: Iterable[Answered]) -> list[RetrievalScore]:
    """A score for each kind in alphabetical order, then one for all."""
    every = list(answered)
    kinds = sorted({each.kind for each in every} - {ALL})
    found = [_score(kind, [each for each in every if each.kind == kind]) for kind in kinds]
    return [*found, _score(ALL, every)] if every else []


def _score(kind: str, answered: Sequence[Answered]) -> RetrievalScore:
    return RetrievalScore(
        kind=kind,
        questions=len(answered),
        recall={depth: statistics.fmean(a.recall(depth) for a in answered) for depth in DEPTHS},
        mrr=statistics.fmean(a.reciprocal_rank() for a in answered),
    )
