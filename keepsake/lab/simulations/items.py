"""Items: a fact or an invitation that one agent gets at the start, so that its spread is measured.

The form of a file::

    - id: bonfire
      kind: invitation
      to: bram
      by: a pedlar
      line: Light your bonfire on {when}, and ask everybody to come!
      says: [bonfire]
      question: Has anybody asked you to come somewhere?
      where: orchard
      hours: 33

``says`` lists ways of saying the item. A way is one or more words with commas between them, which
must all occur; ``supper|dinner`` is either word. A word also stands for words that begin with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.conversation import first_error

GIVEN = "given-"
"""The happening of the memory by which an agent gets an item is this, and the item's id."""


class ItemKind(StrEnum):
    """What an item is."""

    FACT = "fact"
    INVITATION = "invitation"


class Item(BaseModel):
    """A fact or an invitation.

    Attributes:
        id: A word; also part of file contents.
        to: The agent that gets it: its name, in any case.
        by: Who tells it, somebody from outside: ``a pedlar``. Empty if it is the agent's own idea.
        line: The words, or what the agent perceives; ``{when}`` is the time of an invitation.
        says: The ways of saying it.
        question: What every agent is asked at the end.
        where: The place of an invitation: the id of a room in the world's files.
        hours: When an invitation begins, in hours from the start of the simulation.
        minutes: How long it lasts.
        plans: Lines that are written into the plans of the agent that gets it, for models that only
            follow plans. Agents without plans get none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9_]{1,32}$")
    kind: ItemKind
    to: str = Field(min_length=1)
    by: str = ""
    line: str = Field(min_length=1)
    says: tuple[str, ...] = Field(min_length=1)
    question: str = Field(min_length=1)
    where: str = ""
    hours: float = Field(0.0, ge=0.0)
    minutes: float = Field(60.0, ge=1.0, le=24 * 60)
    plans: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if (self.kind is ItemKind.INVITATION) != bool(self.where):
            raise ValueError("an invitation has `where`, and a fact has none")
        if not all(map(_words_of_way, self.says)):
            raise ValueError("each line of `says` needs a word")
        return self

    @property
    def happening(self) -> str:
        """The id of the happening by which the agent gets it."""
        return f"{GIVEN}{self.id}"

    @property
    def is_invitation(self) -> bool:
        """Whether it invites to a place at a time."""
        return self.kind is ItemKind.INVITATION

    def begins(self, start: datetime) -> datetime:
        """Return when an invitation begins; ``start``: of the simulation."""
        return start + timedelta(hours=self.hours)

    def given_line(self, start: datetime) -> str:
        """Return the words, or the line that the agent perceives."""
        at = self.begins(start)
        return self.line.replace("{when}", f"{at:%A} {at.day} {at:%B}, {at:%H:%M}")

    def is_said_in(self, text: str) -> bool:
        """Return whether a text says the item in one of its ways."""
        said = text.casefold()
        return any(
            all(any(_begins_word(each, said) for each in either) for either in _words_of_way(way))
            for way in self.says
        )


@lru_cache(maxsize=256)
def _words_of_way(way: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of a way: each a tuple of alternatives."""
    parts = (part.split("|") for part in way.casefold().split(","))
    words = (tuple(filter(None, map(str.strip, part))) for part in parts)
    return tuple(filter(None, words))


def _begins_word(word: str, text: str) -> bool:
    """Return whether a word of the text begins so.

    Languages that put no spaces between words have no such beginnings: there, any place counts.
    """
    if not word[0].isascii():
        return word in text
    return re.search(rf"(?<![^\W_]){re.escape(word)}", text) is not None


def read_items(path: Path) -> tuple[Item, ...]:
    """Read a file of items.

    Raises:
        KeepsakeError: The file cannot be read, or an item is wrong.
    """
    with refusing(f"{path} cannot be read", "Name a YAML file with items", yaml.YAMLError):
        found: Any = yaml.safe_load(path.read_text("utf-8"))
    try:
        items = TypeAdapter(tuple[Item, ...]).validate_python(found)
    except ValidationError as error:
        cure = "docs/simulations.md has the form of an item"
        raise KeepsakeError(f"{path} has a wrong item: {first_error(error)}", cure) from error
    check_ids(items)
    return items


def check_ids(items: Iterable[Item]) -> None:
    """Raise a KeepsakeError if two items have the same id."""
    ids = [item.id for item in items]
    if twice := {each for each in ids if ids.count(each) > 1}:
        raise KeepsakeError(f"Two items have the id {min(twice)!r}", "Give each its own")
