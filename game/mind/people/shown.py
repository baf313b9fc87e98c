"""What a prompt says of whoever is in the room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from game.mind.people.book import PeopleBook
from game.mind.people.config import PeopleConfig
from game.mind.ports import Tokens


@dataclass(frozen=True, slots=True)
class Present:
    """Somebody who is there, or the place itself.

    Attributes:
        key: Who it is; ``place:…`` for the place.
        name: What they are called now.
    """

    key: str
    name: str


def lines(
    present: Sequence[Present],
    book: PeopleBook,
    config: PeopleConfig,
    now: datetime,
    tokens: Tokens,
) -> tuple[str, ...]:
    """Lines for a prompt about ``present``, best known first; quick, from RAM alone."""
    return ()
