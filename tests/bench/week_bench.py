"""A week of one agent with the real embedded model, awake and asleep: what is left of it.

It takes many minutes. ``KEEPSAKE_BENCH_CALLS=6`` lets each night cost no more model calls than
that, which shortens it. Run as a module it measures in its own process, where Evennia can be
set up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of, live, print_figures

_SECONDS = 4 * 3600
"""After these something hangs; a busy machine takes long."""


def measure() -> Iterator[Figure]:
    """Facts that are right, nights, their model calls, and what Rook has achieved."""
    yield from figures_of(__name__, seconds=_SECONDS)


def main() -> None:
    """Measure in this process and print the figures as JSON."""
    print_figures(_in_the_world)


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

    live(World("measure"))
    return figures


if __name__ == "__main__":
    main()
