"""Prompts of random talks: are they true to the archive, and how much can a server's cache reuse?

Three people speak, whisper, gesture, come and go, also while the agent's answer is being written.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from operator import mul
from typing import Any

from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of, live, print_figures

TURNS = 300
_SECONDS = 1800
_POOR = 0.5
"""A prompt that shares less than this with the one before is read nearly anew."""


def measure() -> Iterator[Figure]:
    """Count the prompts that differ."""
    yield from figures_of(__name__, seconds=_SECONDS)


def _figures() -> list[Figure]:
    """Play the turns, and check each prompt."""
    from tests.world.prompt_checks import TalkInAnyOrder  # noqa: PLC0415 - with the world

    figures: list[Figure] = []

    class Turns(TalkInAnyOrder):
        def measure(self) -> None:
            differing = [each for each in self.turns(TURNS) if each.differs]
            for each in differing:
                print(each, file=sys.stderr)
            what = "prompts that differ from the archive in order, partner or addressee"
            figures.append(Figure(what, TURNS, len(differing), "", "0"))
            calls = self.calls()
            prompts = [_as_read(call.body["messages"]) for call in calls]
            shared = [_shared(*pair) for pair in itertools.pairwise(prompts)]
            sizes = list(map(len, prompts[1:]))
            of_all = sum(map(mul, shared, sizes)) / sum(sizes)
            what = "share of all prompts that begins like the one before, whispers included"
            figures.append(Figure(what, len(shared), 100 * of_all, "%"))
            low = sum(each < _POOR for each in shared)
            what = f"prompts of which less than {_POOR:.0%} begins like the one before"
            figures.append(Figure(what, len(shared), low, ""))

    live(Turns("measure"))
    return figures


def _as_read(messages: list[dict[str, Any]]) -> str:
    """Return the messages in the order in which a model reads them."""
    return "\n".join(f"{each['role']}: {each['content']}" for each in messages)


def _shared(before: str, prompt: str) -> float:
    """Return the share of a prompt that is equal to the beginning of the one before it."""
    pairs = zip(before, prompt, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)) / len(prompt)


if __name__ == "__main__":
    print_figures(_figures)
