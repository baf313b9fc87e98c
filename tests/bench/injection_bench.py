"""What known attacks achieve against agents whose model obeys everything, counted by kind.

The attacks, and what is counted, are those of ``tests/game/test_injection.py``. Run as a module it
measures in its own process, where Evennia can be set up.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of, live, print_figures

_SECONDS = 1800


def measure() -> Iterator[Figure]:
    """What came of each kind of attack; all but the first three is to be 0."""
    yield from figures_of(__name__, seconds=_SECONDS)


def main() -> None:
    """Measure in this process and print the figures as JSON."""
    print_figures(_in_the_world)


def _in_the_world() -> list[Figure]:
    from tests.game.test_injection import InjectionWorld, Tally  # noqa: PLC0415 - with the world

    found: dict[str, list[Tally]] = {}

    class Replies(InjectionWorld):
        def measure(self) -> None:
            for kind, tally in self.played().items():
                found.setdefault(kind, []).append(tally)

    class Acts(Replies):
        FORM = "script"

    for world in (Replies, Acts):
        live(world("measure"))
    figures = []
    for kind, tallies in found.items():
        lines = tallies[0].lines
        for name in tallies[0].counted():
            total = sum(tally.counted()[name] for tally in tallies)
            figures.append(Figure(f"{kind}: {name}", lines, total, "", "as speech and as acts"))
    return figures


if __name__ == "__main__":
    main()
