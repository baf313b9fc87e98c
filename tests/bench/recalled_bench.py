"""What a prompt recalls for eighty lines of three guests, after compactions.

The lines are the questions and ``lines_now`` of ``tests/data/three_guests.yaml``: questions about
what was told, small talk, banter, grief, advice, stories, three languages. The excerpts are printed
to stderr, for a reader who judges which of them are useful for an answer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of, live, print_figures

_SECONDS = 1800
_RECALLED = ("recalled", "notes", "experiences")
"""The sections of a prompt that recall fills."""


def measure() -> Iterator[Figure]:
    """Count excerpts, their characters, and the facts that are shown where they are asked for."""
    yield from figures_of(__name__, seconds=_SECONDS)


def _figures() -> list[Figure]:
    """Play the lines, and build a prompt for each line of the present."""
    from keepsake.prompt.sections import Rendered  # noqa: PLC0415 - with the world
    from tests.bench.guests_world import Guests, told  # noqa: PLC0415 - as above

    figures: list[Figure] = []
    life = told()

    class Lines(Guests):
        def measure(self) -> None:
            self.live()
            excerpts = [
                *(self.recalled(each["who"], each["question"]) for each in life["facts"]),
                *(self.recalled(each["who"], each["say"]) for each in life["lines_now"]),
            ]
            lines = len(excerpts)
            number = sum(map(len, excerpts))
            size = sum(len(text) for some in excerpts for text in some)
            empty = sum(not some for some in excerpts)
            figures.append(Figure("recalled excerpts a prompt", lines, number / lines, ""))
            figures.append(Figure("their characters a prompt", lines, size / lines, ""))
            figures.append(Figure("prompts that recall nothing", lines, empty, ""))

        def recalled(self, who: str, words: str) -> list[str]:
            prompt: Rendered = self.prompt(who, words)
            found = [
                text
                for text, section in prompt.lines
                if section in _RECALLED and text.startswith("- ")
            ]
            print(f"{who}: {words}", *found, sep="\n  ", file=sys.stderr)
            return found

    live(Lines("measure"))
    return figures


if __name__ == "__main__":
    print_figures(_figures)
