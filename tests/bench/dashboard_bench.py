"""How quick the dashboard's pages and its API are with a hundred agents of long lives.

A real world, reached over HTTP through the Portal as a browser does; see ``dashboard_world.py``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench import dashboard_world
from tests.bench.dashboard_world import AGENTS, MEMORIES, WANTED, Browser
from tests.bench.figures import Figure, percentile

ROUNDS = 60
"""Times that each address is asked for, with ten agents in turn."""


def measure() -> Iterator[Figure]:
    """Median and p95 of each page and of each answer, and the first answer of all."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        dashboard_world.world(Path(scratch), AGENTS, MEMORIES) as copy,
    ):
        browser = Browser(copy)
        for title, paths in dashboard_world.pages(browser.numbers(MEMORIES // 2)).items():
            cold = browser.milliseconds(*paths, rounds=1)[0]
            times = browser.milliseconds(*paths, rounds=ROUNDS)
            told = f"wanted < {WANTED:.0f} ms"
            for share, of_it in ((0.5, "median"), (0.95, "p95")):
                value = percentile(times, share)
                yield Figure(f"dashboard: {title}, {of_it}", AGENTS, value, "ms", told)
            yield Figure(f"dashboard: {title}, the first time", AGENTS, cold, "ms", told)
