"""The tags that say which object of the world's files something is: ``room:quay``."""

from __future__ import annotations

from typing import Any

from evennia.objects.models import ObjectDB

TAG_CATEGORY = "keepsake"


def find(kind: str, key: str) -> ObjectDB | None:
    """The object of ``kind`` (room, exit, thing, agent) with this stable id, if it exists."""
    return ObjectDB.objects.get_by_tag(f"{kind}:{key}", category=TAG_CATEGORY).first()


def id_of(obj: Any) -> str:
    """The id of its file, ``quay`` for ``room:quay``; empty for none."""
    tags = obj.tags.get(category=TAG_CATEGORY, return_list=True) if obj is not None else []
    return str(tags[0]).partition(":")[2] if tags and tags[0] else ""
