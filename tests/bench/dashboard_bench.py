"""How quick the dashboard's pages and its API are with a hundred agents of long lives.

A real world, reached over HTTP through the Portal as a browser does; see ``dashboard_world.py``.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench import dashboard_world
from tests.bench.dashboard_world import AGENTS, MEMORIES, WANTED, Browser
from tests.bench.figures import Figure, percentile
from tests.bench.in_chromium import chromium

ROUNDS = 60
"""Times that each address is asked for, with ten agents in turn."""
LOADS = 20
"""Times that each page is opened in Chromium, with ten agents in turn."""
_WATCH = """new MutationObserver(() => {
  if (document.querySelector(%r)) window.seen ??= performance.now();
}).observe(document, { childList: true, subtree: true });"""
"""Notes how many milliseconds after a page was asked for there is something in it."""


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
        yield from _seen(browser)


def _seen(browser: Browser) -> Iterator[Figure]:
    """How soon what a page is opened for stands in it, in Chromium."""
    numbers = browser.numbers(MEMORIES // 2)[:10]
    opened = {
        "all agents stand in their page": ["/agents/"],
        "an agent's page tells how it is": [f"/agents/{each}/" for each in numbers],
        "its newest memories stand there": [f"/agents/{each}/#memory" for each in numbers],
    }
    wanted = ("#agents tr", "#state .badge", "#panel-memory li.memory")
    with chromium(browser) as context:
        for (title, paths), shown in zip(opened.items(), wanted, strict=True):
            times = []
            for path in itertools.islice(itertools.cycle(paths), LOADS + 1):
                page = context.new_page()  # or what is behind the # alone would not be loaded
                page.add_init_script(_WATCH % shown)
                page.goto(path)
                times.append(float(page.wait_for_function("() => window.seen").json_value()))
                page.close()
            first, *rest = times
            told = f"{LOADS} times; p95 {percentile(rest, 0.95):.0f} ms, the first {first:.0f} ms"
            yield Figure(f"dashboard: {title}, median", AGENTS, percentile(rest, 0.5), "ms", told)
