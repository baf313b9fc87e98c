"""The weights that tell whether an answer can use a memory, learned again from labelled searches.

``tests/data/useful_memories.csv`` has a line for each memory that a search found: what the search
knew of it, and whether a reader found it useful for the answer. ``query`` groups the memories of
one search, ``scene`` the memories of one talk; ``asks`` says whether the query is a question. The
plays, the two days and the three guests have lines of players, villagers and guests. *Useful* means
that the memory bears on the line, so that a writer of the answer would be glad of it. ``needed``
marks the memories of which an answer needs at least one: without it, it would be wrong or lack what
was asked for. The other talks have questions whose evidence is known, and lines of talk that need
nothing. Of their memories that are neither useful nor in the upper group, one in 24 is in the file,
with ``times`` 24.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from keepsake.lab.intervals import estimate
from keepsake.recall.ranking.usefulness import SEVERAL, USEFUL, WEIGHTS, Signals, other_talks
from tests.bench.figures import Figure
from tests.bench.recall_bench import DATA

FILE = DATA / "useful_memories.csv"
_SAME_SCRIPT = ("play 1", "play 2", "play 3", "play 4", "play 5")
"""Plays in which the players asked for much the same things."""
_ONE_STORY = ("play 6", "play 7")
"""An evening of a village, and the next one."""
PLAYS = (*_SAME_SCRIPT, *_ONE_STORY)
"""Evenings of a village with players whose recalled memories were read."""
LIMITS = (0.06, USEFUL, 0.15, 0.2, 0.25)
"""The least probabilities of a memory that is shown: a curve."""
_WHOLE_TALKS = (("plays", PLAYS), ("two days", ("two days",)), ("guests", ("three guests",)))
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

    @property
    def groups(self) -> Sequence[Sequence[str]]:
        """The names of all talks; those that resemble each other together."""
        alike = (_SAME_SCRIPT, _ONE_STORY)
        others = (talk for talk in dict.fromkeys(self.talks) if talk not in PLAYS)
        return (*alike, *((talk,) for talk in others))

    def learn(self, groups: Sequence[Sequence[str]]) -> Numbers:
        """Return the weights that some groups of talks give, the constant first.

        Each group counts as much as any other.
        """
        counts = np.zeros(len(self.talks))
        for group in groups:
            here = np.isin(self.talks, group)
            counts[here] = 1000.0 * self.times[here] / self.times[here].sum()
        chosen = counts > 0.0
        return regression(self.signals[chosen], self.useful[chosen], counts[chosen])

    def probabilities(self, weights: Numbers) -> Numbers:
        """Return the probability of each memory."""
        total = weights[0] + self.signals @ weights[1:]
        found: Numbers = (1.0 + np.tanh(total / 2.0)) / 2.0
        return found

    def left_out(self) -> Numbers:
        """Return the probability of each memory by the weights that the other groups give."""
        found = np.zeros(len(self.talks))
        for group in self.groups:
            others = [each for each in self.groups if each != group]
            here = np.isin(self.talks, group)
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


def regression(
    signals: Numbers, useful: Numbers, counts: Numbers, shrink: float = _SHRINK
) -> Numbers:
    """Return the weights of a logistic regression, by Newton's method."""
    middle = signals.mean(axis=0)
    spread = signals.std(axis=0) + 1e-9
    rows = np.column_stack([np.ones(len(signals)), (signals - middle) / spread])
    penalty = shrink * np.eye(rows.shape[1])
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
    """Learn the weights from all talks; then predict each group of talks by the others."""
    labelled = Labelled()
    learned = labelled.learn(labelled.groups)
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
            useful = labelled.useful[shown & there]
            found = estimate(useful, list(labelled.queries[shown & there]))
            told = (
                f"{useful.sum():.0f} of {labelled.useful[there].sum():.0f} useful ones; "
                f"{100.0 * found.low:.0f} to {100.0 * found.high:.0f} %"
            )
            what = f"useful among the shown, from {least}: {name}"
            yield Figure(what, len(useful), 100.0 * found.mean, "%", told)
