"""Takes characters out of the world whose players are not connected.

A player who leaves takes the character along. If Portal and Server are killed, nobody does that:
the database still says that somebody plays it, and others would see it in its room.
"""

from __future__ import annotations

import evennia
from evennia.objects.models import ObjectDB


def stow_absent() -> list[str]:
    """Stow every character that nobody plays any more; return their names.

    Call it after a start, when the Portal has handed over the sessions of connected players.
    """
    played = {session.puppet for session in evennia.SESSION_HANDLER.values()}
    stowed = []
    for character in ObjectDB.objects.get_by_tag(key="puppeted", category="account"):
        if character in played:
            continue
        character.sessions.clear()  # numbers of sessions of the killed processes
        character.at_pre_unpuppet()
        character.at_post_unpuppet(None, reason=" (connection lost)")
        character.tags.remove("puppeted", category="account")
        stowed.append(character.key)
    return stowed
