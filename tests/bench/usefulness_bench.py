"""The weights that tell whether an answer can use a memory, learned again from labelled searches.

``tests/data/useful_memories.csv`` has a line for each memory that a search found: what the search
knew of it, and whether a reader found it useful for the answer. ``query`` groups the memories of
one search, ``scene`` the memories of one talk; ``asks`` says whether the query is a question. The
first six talks have lines of players, villagers and guests. ``needed`` marks the memories of which
an answer to one of 19 lines needs at least one. The others have questions whose evidence is known,
and lines of talk that need nothing. Of their memories that are neither useful nor in the upper
group, one in eight is in the file, with ``times`` 8.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from keepsake.recall.usefulness import SEVERAL, USEFUL, WEIGHTS, Signals, other_talks
from tests.bench.figures import Figure
from tests.bench.recall_bench import DATA

FILE = DATA / "useful_memories.csv"
PLAYS = ("play 1", "play 2", "play 3", "play 4")
"""Evenings of a village with players whose recalled memories were read."""
LIMITS = (0.06, USEFUL, 0.15, 0.2, 0.25)
"""The least probabilities of a memory that is shown: a curve."""
_WHOLE_TALKS = (("four plays", PLAYS), ("two days", ("two days",)), ("guests", ("three guests",)))
"""The talks whose memories are all in the file, with the names of their figures."""
_ANY_DAY = datetime(2026, 1, 1, tzinfo=UTC)
"""The day of the first scene; each later one is another day, for :func:`other_talks`."""
_SHRINK = 3.0
"""The penalty of squared weights, which keeps those of a small sample from growing."""
_STEPS = 25
"""Newton's method needs ten or so."""

type Numbers = npt.NDArray[np.float64]
type Flags = npt.NDArray[np.bool_]


class Labelled:
    """The labelled memories: a row of signals each."""

    def __init__(self) -> None:
        with FILE.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.talks = np.array([row["talk"] for row in rows])
        self.useful = np.array([float(row["useful"]) for row in rows])
        self.needed = np.array([row["needed"] == "1" for row in rows])
        self.asks = np.array([row["asks"] == "1" for row in rows])
        self.queries = np.array([int(row["query"]) for row in rows])
        self.times = np.array([float(row["times"]) for row in rows])
        self._days = [_ANY_DAY + timedelta(days=int(row["scene"])) for row in rows]
        self.signals = np.array([_signals(row).values() for row in rows])

    def learn(self, talks: Sequence[str]) -> Numbers:
        """Return the weights that some of the talks give, the constant first.

        Each talk counts as much as any other.
        """
        chosen = np.isin(self.talks, talks)
        counts = np.zeros(len(self.talks))
        for talk in talks:
            of_talk = self.talks == talk
            counts[of_talk] = 1000.0 * self.times[of_talk] / self.times[of_talk].sum()
        return _regression(self.signals[chosen], self.useful[chosen], counts[chosen])

    def probabilities(self, weights: Numbers) -> Numbers:
        """Return the probability of each memory."""
        total = weights[0] + self.signals @ weights[1:]
        found: Numbers = (1.0 + np.tanh(total / 2.0)) / 2.0
        return found

    def left_out(self) -> Numbers:
        """Return the probability of each memory by the weights that the other talks give."""
        found = np.zeros(len(self.talks))
        names = list(dict.fromkeys(self.talks))
        for talk in names:
            others = [each for each in names if each != talk]
            here = self.talks == talk
            found[here] = self.probabilities(self.learn(others))[here]
        return found

    def shown(self, probable: Numbers, least: float) -> Flags:
        """Return which memories are shown from a probability on, in a chat model's prompt."""
        shown = probable >= least
        for query in dict.fromkeys(self.queries[self.asks]):
            of_query = np.flatnonzero(self.queries == query)
            found = [(self._days[row], float(probable[row])) for row in of_query]
            if other_talks(found) >= SEVERAL:
                shown[of_query] = True
        return shown

    def lines_served(self, shown: Flags) -> tuple[int, int]:
        """Return how many lines that need a memory are shown one, and how many need one."""
        need = {*self.queries[self.needed]}
        return len({*self.queries[self.needed & shown]}), len(need)


def _signals(row: dict[str, str]) -> Signals:
    return Signals(
        above=float(row["above"]),
        share=float(row["share"]),
        heard=row["heard"] == "1",
        by_asker=row["by_asker"] == "1",
        new_words=float(row["new_words"]),
        terms=float(row["terms"]),
        upper=row["upper"] == "1",
    )


def _regression(signals: Numbers, useful: Numbers, counts: Numbers) -> Numbers:
    """Return the weights of a logistic regression, by Newton's method."""
    middle = signals.mean(axis=0)
    spread = signals.std(axis=0) + 1e-9
    rows = np.column_stack([np.ones(len(signals)), (signals - middle) / spread])
    penalty = _SHRINK * np.eye(rows.shape[1])
    penalty[0, 0] = 0.0
    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        found = (1.0 + np.tanh(rows @ weights / 2.0)) / 2.0
        slope = rows.T @ (counts * (found - useful)) + penalty @ weights
        curve = (rows * (counts * found * (1.0 - found))[:, None]).T @ rows + penalty
        weights = weights - np.linalg.solve(curve, slope)
    own = weights[1:] / spread
    return np.concatenate([[weights[0] - own @ middle], own])


def measure() -> Iterator[Figure]:
    """Learn the weights from all talks; then predict each talk by the others."""
    labelled = Labelled()
    learned = labelled.learn(list(dict.fromkeys(labelled.talks)))
    names = ("constant", *WEIGHTS)
    for name, weight in zip(names, learned, strict=True):
        yield Figure(f"weight: {name}", len(labelled.talks), round(float(weight), 2), "")
    probable = labelled.left_out()
    for least in LIMITS:
        shown = labelled.shown(probable, least)
        served, need = labelled.lines_served(shown)
        yield Figure(f"lines with what they need, from {least}", need, served, "")
        for name, talks in _WHOLE_TALKS:
            there = np.isin(labelled.talks, talks)
            number = int((shown & there).sum())
            useful = labelled.useful[shown & there].sum()
            of_all = f"{useful:.0f} of {labelled.useful[there].sum():.0f} useful ones"
            share = 100.0 * useful / max(number, 1)
            what = f"useful among the shown, from {least}: {name}"
            yield Figure(what, number, share, "%", of_all)
