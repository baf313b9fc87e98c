"""The weights that tell whether an answer can use an exchange, learned from labelled searches.

``tests/data/useful_exchanges.csv`` has a line for each memory that a search found: what the search
knew of it and its exchange, and how useful a reader found it for the answer, 0, 0.5 or 1.
``exchange`` numbers the exchanges of a query. The lines of three evenings of a village were played;
the questions and remarks about two of them were written before any search was run. Lines of the
third before its first summary are searched as if the prompt showed the newest 40 memories alone
(*window of 40*). ``private`` marks exchanges with a whisper, and ``needed`` queries for which a
memory is useful. ``need`` is by the probe of ``python -m tests.bench needs``, learned from the
other evenings.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from keepsake.recall.ranking.exchanges import LIKELY, WEIGHTS, AnsweredLine, ExchangeSignals
from tests.bench.figures import Figure
from tests.bench.recall_bench import DATA
from tests.bench.usefulness_bench import Flags, Numbers, regression

FILE = DATA / "useful_exchanges.csv"
PARTS = ("evening {}", "evening {}, window of 40", "questions {}", "remarks {}")
"""What there is of each evening, by its number."""
EVENINGS = (1, 2, 3)
_LIMITS = (0.3, 0.4, LIKELY, 0.55, 0.6)
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

    def good(self, reach: float) -> float:
        """The weighted harmonic mean of the shares of useful exchanges and of queries served.

        ``reach``: How much the second counts beside the first: 1 for F1, 0.5 for F0.5.
        """
        useful = self.useful / max(self.number, 1)
        served = self.served / max(self.queries, 1)
        weight = reach**2
        return (1.0 + weight) * useful * served / max(weight * useful + served, 1e-9)


class Labelled:
    """The labelled memories: a row of signals each."""

    def __init__(self) -> None:
        with FILE.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.talks = np.array([row["talk"] for row in rows])
        self.useful = np.array([float(row["useful"]) for row in rows])
        self.private = np.array([row["private"] == "1" for row in rows])
        self.exchanges = [(int(row["query"]), int(row["exchange"])) for row in rows]
        self.signals = np.array([_signals(row).values() for row in rows])

    def of_evening(self, number: int) -> Flags:
        """Return which memories were found for lines of an evening, or about it."""
        found: Flags = np.isin(self.talks, [each.format(number) for each in PARTS])
        return found

    def learn(self, rows: Flags) -> Numbers:
        """Return the weights that some rows give, the constant first; each talk counts the same."""
        counts = np.zeros(len(self.talks))
        for talk in {*self.talks[rows]}:
            here = rows & (self.talks == talk)
            counts[here] = 1000.0 / here.sum()
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

    def left_out(self) -> Numbers:
        """Return the probability of each memory by the weights of the other evenings."""
        found = np.zeros(len(self.talks))
        for number in EVENINGS:
            here = self.of_evening(number)
            found[here] = self.probabilities(self.learn(~here))[here]
        return found

    def limit(self, probable: Numbers, rows: Flags, reach: float) -> float:
        """Return the least probability for which some rows have the best :meth:`Shown.good`."""
        return max(
            (least / 100.0 for least in range(5, 70)),
            key=lambda least: self.shown(probable, least, rows).good(reach),
        )


def _signals(row: Mapping[str, str]) -> ExchangeSignals:
    return ExchangeSignals(
        alone=float(row["alone"]),
        line=AnsweredLine(int(row["words"]), float(row["need"])),
        likeness=float(row["likeness"]),
        rank=int(row["rank"]),
        gain=float(row["gain"]),
    )


def measure() -> Iterator[Figure]:
    """Learn the weights from all evenings; then predict each evening by the others."""
    labelled = Labelled()
    learned = labelled.learn(np.ones(len(labelled.talks), dtype=bool))
    for name, weight in zip(("constant", *WEIGHTS), learned, strict=True):
        yield Figure(f"weight: {name}", len(labelled.talks), round(float(weight), 2), "")
    probable = labelled.left_out()
    every = np.ones(len(labelled.talks), dtype=bool)
    limits = (("limit", every, 0.5), ("limit of private exchanges", labelled.private, 1.0))
    for name, rows, reach in limits:
        yield Figure(name, int(rows.sum()), labelled.limit(probable, rows, reach), "")
    for number in EVENINGS:
        for least in _LIMITS:
            yield from _curve(labelled, probable, least, number)


def _curve(labelled: Labelled, probable: Numbers, least: float, number: int) -> Sequence[Figure]:
    """Return the figures of an evening for one limit."""
    figures = list[Figure]()
    for part in (each.format(number) for each in PARTS):
        rows = labelled.talks == part
        if not rows.any():
            continue
        shown = labelled.shown(probable, least, rows)
        told = f"{shown.useful:.1f} useful; {shown.served} of {shown.queries} served"
        share = 100.0 * shown.useful / max(shown.number, 1)
        what = f"useful exchanges, {part}, from {least:.2f}"
        figures.append(Figure(what, shown.number, share, "%", told))
    return figures
