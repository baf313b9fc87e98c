"""Talk: how well the agents answer with the shipped model, on the talks that are kept aside."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from game.cli.lab.talk import as_table
from game.lab.simulations.settings import copy_config
from game.lab.talk.evaluation import evaluate
from game.lab.talk.job import Job
from game.lab.talk.scores import QuestionScore, scores
from game.lab.talk.talk_set import CHECKABLE, HELD_OUT
from keepsake.models.profiles import EMBEDDED
from keepsake.paths import REPOSITORY, Places, Ports
from tests.bench.figures import Figure

TALKS = REPOSITORY / "tests" / "data" / "talk" / "held_out.yaml"
SEED = 1


def measure() -> Iterator[Figure]:
    """Ask all questions of the part that is kept aside, and print the table."""
    found = _scores()
    Console().print(as_table(found))
    for score in found:
        yield from _figures(score)


def _scores() -> list[QuestionScore]:
    with tempfile.TemporaryDirectory() as scratch:
        places = Places(Path(scratch) / "home", Path(scratch) / "vault", Ports())
        places.home.mkdir()
        places.vault.mkdir()
        shipped = REPOSITORY / "vault" / "config"
        copy_config(shipped, places.config, EMBEDDED, SEED, places.models)
        talks = evaluate(places, Job(str(TALKS), HELD_OUT, seed=SEED))
    return scores([answer for talk in talks for answer in talk.answers])


def _figures(score: QuestionScore) -> Iterator[Figure]:
    low, high = score.interval
    between = f"95 %: {100 * low:.0f} to {100 * high:.0f}"
    yield Figure(f"talk: {score.kind}, right", score.n, 100 * score.right, "%", between)
    if score.kind in CHECKABLE:
        return
    for verdict in ("markup", "repeat", "silent", "parrot"):
        yield Figure(f"talk: {score.kind}, {verdict}", score.n, score.counts[verdict], "answers")
    if score.whose_life_of:
        share = 100 * score.whose_life / score.whose_life_of
        yield Figure(f"talk: {score.kind}, another's life", score.whose_life_of, share, "%")
    yield Figure(f"talk: {score.kind}, model, median", score.n, score.median_seconds, "s")
    yield Figure(f"talk: {score.kind}, model, p95", score.n, score.p95_seconds, "s")
