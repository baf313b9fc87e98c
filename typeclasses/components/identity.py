"""Who somebody is, whatever they are called."""

from __future__ import annotations

from datetime import UTC
from typing import Any


def identity_of(somebody: Any) -> str:
    """What tells this character from every other, now and later: ``41-20261121194500``.

    It is the character's, not the account's, so that two characters of one player are two
    people, and one that is renamed stays the same. The time of its making is in it because
    database numbers begin anew with a new database: over an old vault nobody is known.

    Returns:
        The database number and the time of the making (UTC); empty for what is no character,
        or is deleted.
    """
    if getattr(somebody, "is_agent", None) is None or somebody.id is None:
        return ""
    made = somebody.db_date_created
    return f"{somebody.id}-{made.astimezone(UTC) if made.tzinfo else made:%Y%m%d%H%M%S}"
