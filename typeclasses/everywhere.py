"""What minds need of the whole world: who there is, and the builders who are connected."""

from __future__ import annotations

import evennia
from evennia.objects.models import ObjectDB

TAG_CATEGORY = "keepsake"
"""Of the tags that say which object of the world's files something is."""
_BUILDER = "_:perm(Builder)"
_NAMED = (
    "typeclasses.agents.Agent",
    "typeclasses.characters.Character",
    "typeclasses.rooms.Room",
)


def find(kind: str, key: str) -> ObjectDB | None:
    """The object of ``kind`` (room, exit, thing, agent) with this stable id, if it exists."""
    return ObjectDB.objects.get_by_tag(f"{kind}:{key}", category=TAG_CATEGORY).first()


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
    found = ObjectDB.objects.filter(db_typeclass_path__in=_NAMED)
    return frozenset(found.values_list("db_key", flat=True))
