"""How many facts that guests told an agent are in the prompt when they ask, after compactions.

The life is ``tests/data/three_guests.yaml``: 309 lines of nine days with twenty facts, two of them
whispered. Then each guest asks for the facts that they told.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of, live, print_figures

_SECONDS = 1800


def measure() -> Iterator[Figure]:
    """Count which of the twenty facts are in the prompt of their question."""
    yield from figures_of(__name__, seconds=_SECONDS)


def _figures() -> list[Figure]:
    """Play the lines, and ask the questions."""
    from tests.bench.guests_world import Guests, told  # noqa: PLC0415 - with the world

    figures: list[Figure] = []
    life = told()

    class Asked(Guests):
        def measure(self) -> None:
            self.live()
            shown = 0
            leaked = 0
            for fact in life["facts"]:
                prompt = self.prompt(fact["who"], fact["question"]).text
                there = fact["answer"].casefold() in prompt.casefold()
                shown += there
                if not there:
                    print(f"missing: {fact}", file=sys.stderr)
                if fact.get("whispered"):
                    others = (name for name in self.guests if name != fact["who"])
                    answers = [self.prompt(each, fact["question"]).text for each in others]
                    leaked += sum(fact["answer"] in each for each in answers)
            asked = len(life["facts"])
            made = self.mind.memory.memory.tiers.compactions
            for what, n, value in (
                ("compactions of a life of so many lines", len(life["lines"]), made),
                ("facts in the prompt of their question", asked, shown),
                ("whispers in the prompt of another's question", asked, leaked),
            ):
                figures.append(Figure(what, n, value, ""))

    live(Asked("measure"))
    return figures


if __name__ == "__main__":
    print_figures(_figures)
