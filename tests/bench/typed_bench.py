"""The weights that tell whether a line tells what somebody typed, learned from a labelled evening.

``tests/data/typed_lines.csv`` has a line for each line of the evening that was judged for one of 69
wordings of 23 facts: what was known of it, how near it is to the best line of its wording, whether
it tells the fact (a person read the evening), who heard it, and who of the agents knows the fact.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Set

import numpy as np

from keepsake.tracing.typed.judging import ALONE, LIKELY, PERHAPS, TOGETHER
from tests.bench.figures import Figure
from tests.bench.recall_bench import DATA
from tests.bench.usefulness_bench import Flags, Numbers, regression

FILE = DATA / "typed_lines.csv"
_SHRINK = 1.0
"""The penalty of squared weights."""


class Labelled:
    """The labelled lines: a row of signals each."""

    def __init__(self) -> None:
        with FILE.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.facts = np.array([row["fact"] for row in rows])
        self.typed = np.array([row["typed"] for row in rows])
        self.tells = np.array([float(row["tells"]) for row in rows])
        self.signals = np.array([[float(row[name]) for name in ALONE] for row in rows])
        self.like_best = np.array([float(row["like_best"]) for row in rows])
        self.hearers = [frozenset(row["hearers"].split()) for row in rows]
        self.know = {row["typed"]: frozenset(row["know"].split()) for row in rows}

    def learn(self, rows: Flags) -> tuple[Numbers, Numbers]:
        """Return the weights of a line alone and among the others, the constants first.

        Those among the others are learned from logits that other facts predict.
        """
        counts = np.ones(len(self.tells))
        logits = np.zeros(len(self.tells))
        for fact in {*self.facts[rows]}:
            here = rows & (self.facts == fact)
            others = rows & ~here
            weights = regression(self.signals[others], self.tells[others], counts[others], _SHRINK)
            logits[here] = weights[0] + self.signals[here] @ weights[1:]
        among = self._among(logits)
        alone = regression(self.signals[rows], self.tells[rows], counts[rows], _SHRINK)
        return alone, regression(among[rows], self.tells[rows], counts[rows], _SHRINK)

    def _among(self, logits: Numbers) -> Numbers:
        behind = np.zeros(len(logits))
        for typed in self.know:
            here = self.typed == typed
            behind[here] = logits[here] - logits[here].max()
        return np.column_stack([logits, behind, self.like_best])

    def left_out(self) -> Numbers:
        """Return the probability of each line by the weights of the other facts."""
        found = np.zeros(len(self.tells))
        for fact in {*self.facts}:
            here = self.facts == fact
            alone, together = self.learn(~here)
            among = self._among(alone[0] + self.signals @ alone[1:])
            found[here] = (1.0 / (1.0 + np.exp(-together[0] - among @ together[1:])))[here]
        return found

    def known(self, typed: str, probable: Numbers, least: float) -> Set[str]:
        """Return who heard a line that tells what was typed, from a probability on."""
        rows = np.flatnonzero((self.typed == typed) & (probable >= least))
        return frozenset().union(*(self.hearers[row] for row in rows))


def measure() -> Iterator[Figure]:
    """Learn the weights from all facts; then predict each fact by the others."""
    labelled = Labelled()
    number = len(labelled.tells)
    alone, together = labelled.learn(np.ones(number, dtype=bool))
    names = ("alone: constant", *ALONE, "among others: constant", *TOGETHER)
    for name, weight in zip(names, (*alone, *together), strict=True):
        yield Figure(f"weight: {name}", number, round(float(weight), 2), "")
    probable = labelled.left_out()
    for least in (0.2, PERHAPS, 0.4, LIKELY, 0.6):
        known = {typed: labelled.known(typed, probable, least) for typed in labelled.know}
        right = sum(len(known[typed] & know) for typed, know in labelled.know.items())
        of = sum(map(len, known.values()))
        wanted = sum(map(len, labelled.know.values()))
        exact = sum(known[typed] == know for typed, know in labelled.know.items())
        told = f"{exact} of {len(known)} wordings exactly"
        name = f"from {least:.1f}"
        yield Figure(f"those who are named know it, {name}", of, 100.0 * right / of, "%", told)
        yield Figure(f"those who know it are named, {name}", wanted, 100.0 * right / wanted, "%")
