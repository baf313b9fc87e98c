"""Which players are not in the game. Everything here runs on the reactor thread, and is quick."""

from __future__ import annotations

from typing import Any

from evennia.objects.models import ObjectDB

from keepsake.agent.surroundings.identity import identity_of, is_agent, number_of
from keepsake.happening import PersonId


def away_player(key: PersonId) -> Any:
    """Return the character of a player who is in no room now; None if they are in one.

    None also for an agent, for somebody who was deleted, and for who is not known (an empty key).
    One query.
    """
    met: Any = ObjectDB.objects.filter(id=number_of(key)).first() if key else None
    is_it = met is not None and identity_of(met) == key and not is_agent(met)
    return met if is_it and met.location is None else None
