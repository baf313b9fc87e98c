"""Who a character is: an agent or not, and its permanent identity."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeGuard

from keepsake.agent.body import Body
from keepsake.agent.surroundings.game_objects import CharacterObject, GameObject
from keepsake.happening import PersonId


def is_agent(somebody: object) -> TypeGuard[Body]:
    """Return whether this is a Keepsake agent; characters of other classes are not."""
    return bool(getattr(somebody, "is_agent", False))


def is_character(somebody: GameObject | None) -> TypeGuard[CharacterObject]:
    """Return whether an object is a character, and not deleted."""
    kinds = getattr(somebody, "_content_types", ())
    return somebody is not None and somebody.pk is not None and "character" in kinds


def identity_of(somebody: GameObject | None) -> str:
    """Return the permanent unique identity of a character: ``41-20261121194500``.

    It belongs to the character, not to the account: two characters of one player are two people,
    and a renamed character stays the same. It holds the creation time because a new database
    counts from 1 again, and its characters must not be taken for those of an old vault.

    Returns:
        The database number and the creation time (UTC); empty if the object is no character or is
        deleted.
    """
    if not is_character(somebody):
        return ""
    return _identity(somebody.id, somebody.db_date_created)


def number_of(identity: PersonId) -> int:
    """Return the database number in an identity; 0 if it is none, as in an early archive."""
    number = identity.partition("-")[0]
    return int(number) if number.isdecimal() else 0


@lru_cache(maxsize=4096)  # called for everybody near, many times per thought
def _identity(number: int, made: datetime) -> str:
    return f"{number}-{made.astimezone(UTC) if made.tzinfo else made:%Y%m%d%H%M%S}"
