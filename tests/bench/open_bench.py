"""The time that opening, renaming and starting an agent takes on the reactor, by its memories.

While the reactor is busy, no player is served. So none of these may grow with the archive.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of


def measure() -> Iterator[Figure]:
    """Measure them in a world of its own."""
    yield from figures_of("tests.bench.open_world", seconds=900)
