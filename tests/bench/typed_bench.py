"""The weights that tell whether a line tells what somebody typed, learned from labelled evenings.

``tests/data/typed_wordings.csv`` has 253 wordings of 76 facts and 41 names or words of two played
evenings, each with who of the agents knows it, by their initials. ``typed_lines.csv`` has a line
for each line of the evening that was judged for a wording: what was known of it, how near it is to
the best line, whether it tells the fact (a person read the evening), and who heard it. A line tells
of a rare name if it has it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Set

import numpy as np

from keepsake.tracing.typed.judging import ALONE, LIKELY, PERHAPS, TOGETHER
from tests.bench.figures import Figure
from tests.bench.recall_bench import DATA
from tests.bench.usefulness_bench import Flags, Numbers, regression

_SHRINK = 1.0
"""The penalty of squared weights."""


def _rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


class Labelled:
    """The labelled lines: a row of signals each."""

    def __init__(self) -> None:
        wordings = {row["wording"]: row for row in _rows("typed_wordings.csv")}
        rows = _rows("typed_lines.csv")
        of = [wordings[row["wording"]] for row in rows]
        self.evenings = np.array([row["evening"] for row in of])
        self.facts = np.array([f"{row['evening']} {row['fact']}" for row in of])
        self.typed = np.array([row["wording"] for row in rows])
        self.tells = np.array([float(row["tells"]) for row in rows])
        self.signals = np.array([[float(row[name]) for name in ALONE] for row in rows])
        self.like_best = np.array([float(row["like_best"]) for row in rows])
        self.hearers = [frozenset(row["hearers"]) for row in rows]
        self.know = {each: frozenset(row["know"]) for each, row in wordings.items()}

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

    def predict(self, parts: Numbers) -> Numbers:
        """Return the probability of each line, by the weights that the other parts give."""
        found = np.zeros(len(self.tells))
        for part in {*parts}:
            here = parts == part
            alone, together = self.learn(~here)
            among = self._among(alone[0] + self.signals @ alone[1:])
            found[here] = (1.0 / (1.0 + np.exp(-together[0] - among @ together[1:])))[here]
        return found

    def known(self, typed: str, probable: Numbers, least: float) -> Set[str]:
        """Return who heard a line that tells what was typed, from a probability on."""
        rows = np.flatnonzero((self.typed == typed) & (probable >= least))
        return frozenset().union(*(self.hearers[row] for row in rows))

    def figures(self, by: str, probable: Numbers, evening: str = "") -> Iterator[Figure]:
        """Yield how well those who know are found, of all wordings or of one evening's."""
        here = {*self.typed[self.evenings == evening]} if evening else {*self.typed}
        know = {typed: self.know[typed] for typed in sorted(here)}
        for least in (PERHAPS, LIKELY):
            known = {typed: self.known(typed, probable, least) for typed in know}
            right = sum(len(known[typed] & those) for typed, those in know.items())
            of = sum(map(len, known.values()))
            wanted = sum(map(len, know.values()))
            exact = sum(known[typed] == those for typed, those in know.items())
            told = f"{exact} of {len(known)} wordings exactly"
            name = f"from {least:.1f}, {by}"
            yield Figure(f"those who are named know it, {name}", of, 100.0 * right / of, "%", told)
            yield Figure(
                f"those who know it are named, {name}", wanted, 100.0 * right / wanted, "%"
            )


def measure() -> Iterator[Figure]:
    """Learn the weights from all; predict each fact by the others, each evening by the other."""
    labelled = Labelled()
    number = len(labelled.tells)
    alone, together = labelled.learn(np.ones(number, dtype=bool))
    names = ("alone: constant", *ALONE, "among others: constant", *TOGETHER)
    for name, weight in zip(names, (*alone, *together), strict=True):
        yield Figure(f"weight: {name}", number, round(float(weight), 2), "")
    yield from labelled.figures("each fact by the others", labelled.predict(labelled.facts))
    by_evening = labelled.predict(labelled.evenings)
    for evening in sorted({*labelled.evenings}):
        yield from labelled.figures(f"evening {evening} by the other", by_evening, evening)
