"""The weights that tell whether an answer can use an exchange, learned from labelled searches.

``tests/data/useful_exchanges.csv`` has a line for each memory that a search found: what the search
knew of it and its exchange, and how useful a reader found it for the answer, 0, 0.5 or 1.
``exchange`` numbers the exchanges of a query. The lines of two evenings of a village were played;
the questions and remarks about each evening were written before any search was run. ``needed``
marks queries that ask for something told before. The other talks have questions whose evidence is
known, and lines of talk that need nothing. Of their memories that are no evidence, one in eight is
in the file, with ``times`` 8.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from keepsake.recall.ranking.exchanges import LIKELY, WEIGHTS, ExchangeSignals
from tests.bench.figures import Figure
from tests.bench.recall_bench import DATA
from tests.bench.usefulness_bench import Flags, Numbers, regression

FILE = DATA / "useful_exchanges.csv"
EVENINGS = ("evening", "questions", "remarks")
"""What there is of each evening; the name of a talk ends in the evening's number."""
_LIMITS = (0.1, 0.2, 0.3, LIKELY, 0.5)
"""The least probabilities of a memory that is shown: a curve."""
_SHRINK = 10.0
"""The penalty of squared weights."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The exchanges that some queries are shown.

    Attributes:
        number: How many.
        useful: How many of them are useful; a half useful one counts half.
        served: How many queries that have a useful exchange are shown one.
        queries: How many queries have a useful exchange.
    """

    number: int
    useful: float
    served: int
    queries: int

    @property
    def f1(self) -> float:
        """The harmonic mean of the shares of useful exchanges and of queries that are served."""
        share = self.useful / max(self.number, 1)
        reach = self.served / max(self.queries, 1)
        return 2.0 * share * reach / max(share + reach, 1e-9)


class Labelled:
    """The labelled memories: a row of signals each."""

    def __init__(self) -> None:
        with FILE.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.talks = np.array([row["talk"] for row in rows])
        self.useful = np.array([float(row["useful"]) for row in rows])
        self.times = np.array([float(row["times"]) for row in rows])
        self.exchanges = [(int(row["query"]), int(row["exchange"])) for row in rows]
        self.signals = np.array([_signals(row).values() for row in rows])

    def of_evening(self, number: int) -> Flags:
        """Return which memories were found for lines of an evening, or about it."""
        found: Flags = np.isin(self.talks, [f"{each} {number}" for each in EVENINGS])
        return found

    def learn(self, rows: Flags) -> Numbers:
        """Return the weights that some rows give, the constant first; each talk counts the same."""
        counts = np.zeros(len(self.talks))
        for talk in {*self.talks[rows]}:
            here = rows & (self.talks == talk)
            counts[here] = 1000.0 * self.times[here] / self.times[here].sum()
        return regression(self.signals[rows], self.useful[rows], counts[rows], _SHRINK)

    def probabilities(self, weights: Numbers) -> Numbers:
        """Return the probability of each memory."""
        found: Numbers = (1.0 + np.tanh((weights[0] + self.signals @ weights[1:]) / 2.0)) / 2.0
        return found

    def shown(self, probable: Numbers, least: float, rows: Flags) -> Shown:
        """Return the exchanges that are shown from a probability on."""
        useful = dict[tuple[int, int], float]()
        seen = set[tuple[int, int]]()
        for row in np.flatnonzero(rows):
            key = self.exchanges[row]
            useful[key] = max(useful.get(key, 0.0), float(self.useful[row]))
            if probable[row] >= least:
                seen.add(key)
        served = {query for query, _ in (key for key in seen if useful[key] == 1.0)}
        queries = {query for (query, _), each in useful.items() if each == 1.0}
        return Shown(len(seen), sum(useful[key] for key in seen), len(served), len(queries))

    def limit(self, probable: Numbers, rows: Flags) -> float:
        """Return the least probability for which some rows have the best :attr:`Shown.f1`."""
        return max(
            (least / 100.0 for least in range(5, 70)),
            key=lambda least: self.shown(probable, least, rows).f1,
        )


def _signals(row: Mapping[str, str]) -> ExchangeSignals:
    return ExchangeSignals(
        alone=float(row["alone"]),
        words=int(row["words"]),
        likeness=float(row["likeness"]),
        rank=int(row["rank"]),
    )


def measure() -> Iterator[Figure]:
    """Learn the weights and the limit from all talks; then predict each evening without it."""
    labelled = Labelled()
    every = np.ones(len(labelled.talks), dtype=bool)
    evenings = labelled.of_evening(1) | labelled.of_evening(2)
    learned = labelled.learn(every)
    for name, weight in zip(("constant", *WEIGHTS), learned, strict=True):
        yield Figure(f"weight: {name}", len(labelled.talks), round(float(weight), 2), "")
    limit = labelled.limit(labelled.probabilities(learned), evenings)
    yield Figure("limit", int(evenings.sum()), limit, "")
    for number, other in ((1, 2), (2, 1)):
        here = labelled.of_evening(number)
        probable = labelled.probabilities(labelled.learn(~here))
        limit = labelled.limit(probable, labelled.of_evening(other))
        yield Figure(f"limit by evening {other}", int(here.sum()), limit, "")
        for least in (*_LIMITS, limit):
            yield from _curve(labelled, probable, least, number)


def _curve(labelled: Labelled, probable: Numbers, least: float, number: int) -> Sequence[Figure]:
    """Return the figures of an evening for one limit."""
    figures = list[Figure]()
    for part in EVENINGS:
        rows = labelled.talks == f"{part} {number}"
        shown = labelled.shown(probable, least, rows)
        told = f"{shown.useful:.1f} useful; {shown.served} of {shown.queries} served"
        share = 100.0 * shown.useful / max(shown.number, 1)
        what = f"useful exchanges, {part} {number}, from {least:.2f}"
        figures.append(Figure(what, shown.number, share, "%", told))
    return figures
