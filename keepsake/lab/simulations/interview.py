"""The interview at the end of a simulation: which agent is asked what, and the file of answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path

import yaml

from keepsake.json_lines import Record
from keepsake.lab.simulations.items import Item
from keepsake.lab.simulations.record import text_of

QUESTIONS: Mapping[str, Sequence[str]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text("utf-8")
)
"""The questions by kind."""
KINDS = tuple(QUESTIONS)
"""The kinds: ``itself``, ``memory``, ``plans``, ``reactions``, ``reflections``."""
MOST = sum(map(len, QUESTIONS.values()))
ABOUT_ITEM = "item"
"""The kind of a question about an item; it is no part of the blind interview."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question to one agent.

    Attributes:
        kind: One of :data:`KINDS`, or :data:`ABOUT_ITEM`.
        number: Its place in its kind, from 1.
        item: The id of the item that it is about; empty for none.
    """

    agent: str
    kind: str
    number: int
    text: str
    item: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """What identifies it in a simulation."""
        return self.agent, self.kind, self.number

    def to_line(self, **answer: object) -> Record:
        """Return the line of the file of answers."""
        line = {"agent": self.agent, "kind": self.kind, "number": self.number}
        return {**line, "question": self.text, "item": self.item, **answer}


def questions_for(
    agent: str, cast: Sequence[str], how_many: int, items: Sequence[Item] = ()
) -> list[AskedQuestion]:
    """Return the questions to one agent: the same in every simulation with the same cast.

    Args:
        cast: The names of all agents.
        how_many: How many questions, evenly from all kinds; at most :data:`MOST`. Questions about
            ``items`` are asked besides.
    """
    place = cast.index(agent)
    others = [*cast[place + 1 :], *cast[:place]]
    names = {"other": others[0], "another": others[1 % len(others)]} if others else {}
    # One of each kind, then the second of each …
    turns = zip_longest(*([(kind, *each) for each in _texts(kind)] for kind in KINDS))
    asked = islice(filter(None, chain.from_iterable(turns)), max(how_many, 0))
    found = [
        AskedQuestion(agent, kind, number, text.format(**names))
        for kind, number, text in asked
        if names or "{" not in text
    ]
    found += [
        AskedQuestion(agent, ABOUT_ITEM, number, item.question, item.id)
        for number, item in enumerate(items, start=1)
    ]
    return sorted(found, key=lambda each: ((*KINDS, ABOUT_ITEM).index(each.kind), each.number))


def _texts(kind: str) -> list[tuple[int, str]]:
    return list(enumerate(QUESTIONS[kind], start=1))


def questions_left(
    cast: Sequence[str], how_many: int, items: Sequence[Item], answers: Iterable[Record]
) -> list[AskedQuestion]:
    """Return the questions that are not answered yet, by agent, in the order of the cast.

    ``answers``: The lines of the file of answers.
    """
    answered = set(map(key_of, answers))
    every = (each for agent in cast for each in questions_for(agent, cast, how_many, items))
    return [each for each in every if each.key not in answered]


def key_of(answer: Record) -> tuple[str, str, int]:
    """Return the :attr:`AskedQuestion.key` of a line of the file of answers."""
    return text_of(answer, "agent"), text_of(answer, "kind"), int(answer.get("number", 0))
