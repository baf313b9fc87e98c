"""A week of one agent with the real embedded model, awake and asleep: what is left of it.

It takes many minutes. ``KEEPSAKE_BENCH_CALLS=6`` lets each night cost no more model calls than
that, which shortens it. Run as a module it measures in its own process, where Evennia can be
set up.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from collections.abc import Iterator
from dataclasses import asdict

from game.paths import REPOSITORY
from tests.bench.figures import Figure

_SECONDS = 4 * 3600
"""After these something hangs; a busy machine takes long."""


def measure() -> Iterator[Figure]:
    """Facts that are right, nights, their model calls, and what Rook has achieved."""
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", __name__],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_SECONDS,
        check=True,
    )
    for each in json.loads(child.stdout.splitlines()[-1]):
        yield Figure(**each)


def main() -> None:
    """Measure in this process and print the figures as JSON."""
    from tests.game import evennia_up  # noqa: PLC0415 - sets the environment of the process

    evennia_up.start()
    with evennia_up.database():
        figures = _in_the_world()
    print(json.dumps([asdict(each) for each in figures]))


def _in_the_world() -> list[Figure]:
    from tests.game.embedded_week import EmbeddedWeek  # noqa: PLC0415 - with the world

    figures: list[Figure] = []

    class World(EmbeddedWeek):
        CALLS = int(os.environ.get("KEEPSAKE_BENCH_CALLS", EmbeddedWeek.CALLS))

        def measure(self) -> None:
            left = self.week()
            days = left.memories
            for name, value, unit, reference in left.rows():
                figures.append(Figure(f"a week: {name}", days, value, unit, reference))

    result = unittest.TestResult()
    World("measure").run(result)
    for _, problem in result.errors + result.failures:
        raise RuntimeError(problem)
    return figures


if __name__ == "__main__":
    main()
