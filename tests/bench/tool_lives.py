"""Lives with tool calls among the talk, of several sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random

from keepsake.archive.records import MemoryKind
from tests.bench.talk import PEOPLE, Line, talk

_WORDS = (
    *("lantern", "ferry", "orchard", "barrel", "winter", "pennies", "chapel", "river", "basket"),
    *("silver", "candle", "quarry", "meadow", "harbour", "goose", "shutter", "ribbon", "ladder"),
    *("copper", "walnut", "tower", "heron", "bridge", "kettle"),
)


@dataclass(frozen=True, slots=True)
class Outputs:
    """How much an agent asks of its tools, and what they bring.

    Attributes:
        name: What the tables call it.
        share: Tool calls for each line of talk.
        characters: Length of one result.
    """

    name: str
    share: float
    characters: tuple[int, int]


OUTPUTS = (
    Outputs("small", 0.10, (30, 90)),
    Outputs("many", 0.60, (60, 260)),
    Outputs("huge", 0.20, (550, 700)),
)


def life(outputs: Outputs, length: int, seed: int = 5) -> list[Line]:
    """So many memories of talk, with tool calls and their results in between."""
    return list(islice(_lines(outputs, Random(seed)), length))


def _lines(outputs: Outputs, random: Random) -> Iterator[Line]:
    rooms = [_look(random, name, outputs) for name in ("The Kettle", "The Green", "The Jetty")]
    for line in talk(random):
        yield line
        if random.random() < outputs.share:
            yield from random.choice((_looked, _recalled, _listed))(random, rooms, outputs)


def _looked(random: Random, rooms: list[str], _: Outputs) -> tuple[Line, ...]:
    # A room looks the same each time but for who is there.
    seen = f"{random.choice(rooms)} Here: {', '.join(random.sample(PEOPLE, 2))}."
    return Line("look", MemoryKind.ACT), Line(seen, MemoryKind.RESULT)


def _recalled(random: Random, _: list[str], outputs: Outputs) -> tuple[Line, ...]:
    words = _prose(random, outputs)
    call = f"recall {random.choice(_WORDS)}"
    return Line(call, MemoryKind.ACT), Line(f"You recall: {words}", MemoryKind.RESULT)


def _listed(random: Random, _: list[str], outputs: Outputs) -> tuple[Line, ...]:
    words = _prose(random, outputs)
    return Line("notes", MemoryKind.ACT), Line(f"Your notes: {words}", MemoryKind.RESULT)


def _look(random: Random, name: str, outputs: Outputs) -> str:
    return f"{name}. {_prose(random, outputs)} Exits: north, up."


def _prose(random: Random, outputs: Outputs) -> str:
    length = random.randint(*outputs.characters)
    words: list[str] = []
    while sum(map(len, words)) + len(words) < length:
        words.append(random.choice(_WORDS))
    return " ".join(words).capitalize() + "."
