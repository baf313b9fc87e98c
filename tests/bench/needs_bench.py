"""The probe that tells which lines of a talk ask for something told before, learned again.

``tests/data/needing_lines.csv`` has the lines of three evenings of a village, and lines about two
of them that were written before any search was run, each as a search embeds it (names are *I*).
``needs`` is 1 if a good answer takes something that was told or happened earlier, whether it stands
in the prompt or not; one reader read them all. Lines of which that could not be told are left out.
"""

from __future__ import annotations

import base64
import csv
from collections.abc import Iterator

import numpy as np

from keepsake.models.local.minilm import MiniLMEmbedder
from tests.bench.figures import Figure
from tests.bench.recall_bench import DATA
from tests.bench.usefulness_bench import Flags, Numbers, regression

FILE = DATA / "needing_lines.csv"
_SHRINK = 2000.0
"""The penalty of squared weights. A fourth and four times of it predict evenings as well."""
_SAME = 1e-6
_MOST = 127
"""The largest weight as it is kept, in a byte."""


class Lines:
    """The labelled lines with their vectors."""

    def __init__(self) -> None:
        with FILE.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.texts = [row["line"] for row in rows]
        self.evenings = np.array([int(row["evening"]) for row in rows])
        self.needs = np.array([float(row["needs"]) for row in rows])
        self.vectors = np.array(MiniLMEmbedder().embed(self.texts), dtype=np.float64)

    def learn(self, rows: Flags) -> Numbers:
        """Return the weights that some lines give, the constant first; evenings count alike."""
        counts = np.zeros(len(self.needs))
        for evening in {*self.evenings[rows]}:
            here = rows & (self.evenings == evening)
            counts[here] = 1000.0 / here.sum()
        # A number that is the same in all vectors tells nothing, and cannot be standardised.
        varies = [True, *(self.vectors[rows].std(axis=0) > _SAME)]
        weights = np.zeros(len(varies))
        vectors = self.vectors[rows][:, varies[1:]]
        weights[varies] = regression(vectors, self.needs[rows], counts[rows], _SHRINK)
        return weights

    def logits(self, weights: Numbers) -> Numbers:
        """Return the logit of each line."""
        found: Numbers = weights[0] + self.vectors @ weights[1:]
        return found

    def left_out(self) -> Numbers:
        """Return the logit of each line by the other evenings."""
        found = np.zeros(len(self.needs))
        for evening in {*self.evenings}:
            here = self.evenings == evening
            found[here] = self.logits(self.learn(~here))[here]
        return found


def separates(needs: Numbers, logits: Numbers) -> float:
    """Return how often a line that needs something has the higher logit (area under the curve)."""
    higher = logits[needs == 1.0][:, None] - logits[needs == 0.0][None, :]
    return float((higher > 0.0).mean() + (higher == 0.0).mean() / 2.0)


def packed(weights: Numbers) -> tuple[float, str]:
    """Return the size of a step and the weights in steps, a byte each, in base64."""
    step = float(np.abs(weights).max()) / _MOST
    steps = np.round(weights / step).astype(np.int8)
    return step, base64.b64encode(steps.tobytes()).decode()


def measure() -> Iterator[Figure]:
    """Learn the probe from all lines; then predict each evening by the others."""
    lines = Lines()
    learned = lines.learn(np.ones(len(lines.needs), dtype=bool))
    step, weights = packed(learned[1:])
    yield Figure("constant", len(lines.needs), round(float(learned[0]), 2), "")
    yield Figure("step", len(lines.needs), step, "", weights)
    logits = lines.left_out()
    yield Figure("mean of the logits", len(lines.needs), round(float(logits.mean()), 2), "")
    for evening in sorted({*lines.evenings}):
        here = lines.evenings == evening
        area = 100.0 * separates(lines.needs[here], logits[here])
        yield Figure(f"lines told apart, evening {evening}", int(here.sum()), area, "%")
