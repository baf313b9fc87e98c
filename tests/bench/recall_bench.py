"""Recall: how much of the evidence Keepsake and the usual memories find.

Three data sets: ``recall_hythe.json``, many people in one world; ``recall_two_friends.json``, two
friends; ``recall_ten_talks.json``, whose questions need two or three lines each. Its third, sixth,
ninth and tenth talk were not used to develop recall. All memories have the same embedder.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from keepsake.lab.benchmarks import read_trials
from keepsake.lab.evaluate import Evaluation, evaluate
from keepsake.lab.measures import ALL_HIT, MRR, RECALL
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure

DATA = REPOSITORY / "tests" / "data"
SETS = ("hythe", "two_friends", "ten_talks")
MEMORIES = ("bm25", "rag", "hybrid", "keepsake")


def measure() -> Iterator[Figure]:
    """Measure the share of the evidence that each memory finds, by data set."""
    embedder = MiniLMEmbedder()
    for life in SETS:
        trials = read_trials(DATA / f"recall_{life}.json")
        for memory in MEMORIES:
            rows = evaluate(trials, Evaluation(memory=memory, embedder=embedder))
            marked = [row for row in rows if row["evidence"]]
            names = (RECALL[5], RECALL[10], RECALL[20], ALL_HIT[10], MRR)
            at_5, at_10, *more = (100 * fmean(row[name] for row in marked) for name in names)
            told = "@5 {:.1f}, @20 {:.1f}, all@10 {:.1f}, MRR {:.1f}".format(at_5, *more)
            yield Figure(f"evidence in the top 10, {life}: {memory}", len(marked), at_10, "%", told)
