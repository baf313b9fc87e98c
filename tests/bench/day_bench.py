"""A lively day of 5,000 memories with the embedded model: budget, tiers, what must be kept.

Run as a module it measures in its own process, where Evennia can be set up. It takes as long
as 200 thoughts of the embedded model do, which on a busy machine is hours.
``KEEPSAKE_BENCH_MEMORIES=1000`` makes a shorter day of it.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator

from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of, live, print_figures

MEMORIES = int(os.environ.get("KEEPSAKE_BENCH_MEMORIES", "5000"))
THOUGHT_EVERY = 25
_SECONDS = 4 * 3600
"""After these something hangs; a busy machine takes long."""


def measure() -> Iterator[Figure]:
    """The largest prompt against the budget, what was lost, and how well we counted."""
    yield from figures_of(__name__, seconds=_SECONDS)


def main() -> None:
    """Measure in this process and print the figures as JSON."""
    print_figures(_in_the_world)


def _in_the_world() -> list[Figure]:
    from keepsake.compaction.config import CompactionConfig  # noqa: PLC0415 - with the world
    from tests.game.lively_day import LivelyDay  # noqa: PLC0415

    figures: list[Figure] = []
    shipped = CompactionConfig()

    class World(LivelyDay):
        def measure(self) -> None:
            day = self.live(MEMORIES, thought_every=THOUGHT_EVERY, config=shipped)
            off = [abs(o - t) / t for o, t in zip(day.estimates, day.prompts, strict=True)]
            made = f"{len(day.prompts)} prompts, {day.compactions} compactions"
            rows = (
                ("largest prompt", max(day.prompts), "tokens", f"of {shipped.budget}; {made}"),
                ("pins lost", len(day.lost), "of 1", "wanted 0"),
                ("faults of the tiers", len(day.problems), "", "; ".join(day.problems[:3])),
                ("heuristic off by", 100 * statistics.median(off), "%", f"at most {max(off):.0%}"),
                ("a day lasts", day.seconds, "s", ""),
            )
            for name, value, unit, reference in rows:
                figures.append(Figure(f"lively day: {name}", MEMORIES, value, unit, reference))

    live(World("measure"))
    return figures


if __name__ == "__main__":
    main()
