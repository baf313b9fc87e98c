"""The tags that say which object of the world's files something is."""

from __future__ import annotations

from evennia.objects.models import ObjectDB

TAG_CATEGORY = "keepsake"


def find(kind: str, key: str) -> ObjectDB | None:
    """The object of ``kind`` (room, exit, thing, agent) with this stable id, if it exists."""
    return ObjectDB.objects.get_by_tag(f"{kind}:{key}", category=TAG_CATEGORY).first()
