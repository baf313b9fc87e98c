"""Plausible evenings at an inn as an agent's memories, and facts to plant in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import yaml

from keepsake.archive.records import MemoryKind
from keepsake.language.perception import sentences
from keepsake.paths import REPOSITORY

NAME = "Mira"
WORLD = REPOSITORY / "world"
INN: dict[str, Any] = yaml.safe_load((REPOSITORY / "tests/data/inn_talk.yaml").read_text("utf-8"))
PEOPLE = tuple(INN["people"])


@dataclass(frozen=True, slots=True)
class Line:
    """A future memory: its text and kind."""

    text: str
    kind: MemoryKind = MemoryKind.PERCEPTION


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that a summary should keep."""

    line: Line  # the memory that holds it
    keys: tuple[str, ...]  # all words that a text with the fact must have

    def kept(self, text: str) -> bool:
        """Whether every key is in ``text``."""
        return all(key.casefold() in text.casefold() for key in self.keys)


def talk(random: Random) -> Iterator[Line]:
    """Yield small talk without end; neighbouring lines differ."""
    # Most lines are seldom repeated, so that facts do not stand out by being new.
    stock = [*INN["said"], *INN["news"], *told_of_the_world()]
    while True:
        who = random.choice(PEOPLE)
        for said in random.sample(stock, random.randint(1, 3)):
            words = _filled(said, random) if said in INN["news"] else said.replace('"', "'")
            yield Line(f'{who} says to you, "{words}"')
        yield Line(random.choice(INN["answers"]), MemoryKind.ACT)
        if random.random() < 0.5:
            yield Line(random.choice(INN["scenes"]).format(who=random.choice(PEOPLE)))
        if random.random() < 0.08:
            yield Line("look", MemoryKind.ACT)
            yield Line(INN["room"], MemoryKind.RESULT)


@cache
def told_of_the_world() -> tuple[str, ...]:
    """Return sentences of the world's descriptions, as topics."""
    atlas = yaml.safe_load((WORLD / "map.yaml").read_text(encoding="utf-8"))
    rooms = [[room["desc"], *room.get("details", {}).values()] for room in atlas["rooms"].values()]
    told = (each for room in rooms for text in room for each in sentences(text))
    return tuple(each for each in told if 30 < len(each) < 160)


def _filled(template: str, random: Random) -> str:
    gaps = {"who": "people", "place": "places", "things": "things", "town": "towns"}
    filled = {gap: random.choice(INN[kind]) for gap, kind in gaps.items()}
    return template.format(number=random.choice(INN["numbers"]), **filled)


def _fact(keys: list[str], said: str, who: str = "") -> Fact:
    heard = Line(f'{who} says to you, "{said}"')
    own = Line(f"say {said}", MemoryKind.ACT)
    return Fact(heard if who else own, tuple(keys))


FACTS = tuple(_fact(**each) for each in INN["facts"])
