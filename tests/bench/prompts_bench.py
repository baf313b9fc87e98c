"""How many prompts of random talks differ from the archive in order, partner or addressee.

Three people speak, whisper, gesture, come and go, also while the agent's answer is being written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of, live, print_figures

TURNS = 300
_SECONDS = 1800


def measure() -> Iterator[Figure]:
    """Count the prompts that differ."""
    yield from figures_of(__name__, seconds=_SECONDS)


def _figures() -> list[Figure]:
    """Play the turns, and check each prompt."""
    from tests.world.prompt_checks import TalkInAnyOrder  # noqa: PLC0415

    figures: list[Figure] = []

    class Turns(TalkInAnyOrder):
        def measure(self) -> None:
            differing = [each for each in self.turns(TURNS) if each.differs]
            for each in differing:
                print(each, file=sys.stderr)
            what = "prompts that differ from the archive in order, partner or addressee"
            figures.append(Figure(what, TURNS, len(differing), "", "0"))

    live(Turns("measure"))
    return figures


if __name__ == "__main__":
    print_figures(_figures)
