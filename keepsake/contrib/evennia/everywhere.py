"""What minds need of the whole world: who there is, and the builders who are connected."""

from __future__ import annotations

from itertools import chain

import evennia
from evennia.objects.objects import DefaultCharacter, DefaultRoom

AGENT_TAG = ("agent", "keepsake")
"""The tag of every agent, and its category."""
_BUILDER = "_:perm(Builder)"


def tell_builders(text: str) -> None:
    """Show ``text`` to every builder who is connected; on the reactor thread."""
    told = {}
    for session in evennia.SESSION_HANDLER.get_sessions():
        who = session.puppet or session.account
        if who is not None and who.locks.check_lockstring(who, _BUILDER):
            told[id(who)] = who
    for who in told.values():
        who.msg(text)


def known_names() -> frozenset[str]:
    """Everybody's and every place's name. Recall treats a mention of one as more than a word."""
    people, rooms = DefaultCharacter.objects.all_family(), DefaultRoom.objects.all_family()
    names = (each.values_list("db_key", flat=True) for each in (people, rooms))
    return frozenset(chain(*names))
