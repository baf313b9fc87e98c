"""Is it meant for me? What a perceived message means to an agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keepsake.agent.impulses import EventKind, PerceivedEvent
from keepsake.agent.surroundings import identity_of, people_near
from keepsake.language.words import pattern

_SPEECH = frozenset({"say", "talk", "whisper", "pose", "shout"})
_CALLED = ("say", "shout")


def event_of(
    agent: Any, speaker: Any, line: str, facts: Mapping[str, Any]
) -> PerceivedEvent | None:
    """What ``line`` from ``speaker`` asks of the agent's attention; None for nothing.

    ``facts``: The message's ``type`` and, for directed speech, ``to``: a database number.
    """
    kind, to = str(facts.get("type", "")), facts.get("to")
    from_player = bool(getattr(speaker, "has_account", False))
    meant = _meaning(agent, speaker, line, kind, to)
    if meant is EventKind.HEARD and to is not None and not from_player:
        return None  # what an agent says to somebody else is no reason to join in
    if meant is None:
        return None
    return PerceivedEvent(meant, from_player, speaker.key, source_id=identity_of(speaker))


def _meaning(agent: Any, speaker: Any, line: str, kind: str, to: Any) -> EventKind | None:
    if kind == "give" and to == agent.id:
        return EventKind.GIVEN
    if kind == "wake" and to == agent.id:
        return EventKind.ADDRESSED
    if kind not in _SPEECH:
        return None
    if to == agent.id or (kind == "whisper" and to is None):
        return EventKind.ADDRESSED
    if to is not None:
        return EventKind.HEARD
    if is_named(line, agent.key):
        return EventKind.ADDRESSED if kind in _CALLED else EventKind.NAMED
    # Two alone in a room: whatever one says is for the other.
    if kind in _CALLED and people_near(agent) == [speaker]:
        return EventKind.ADDRESSED
    return EventKind.HEARD


def words_of(line: str) -> str:
    """What is said in a perceived line, without who says it: between the quotation marks."""
    return line.partition('"')[2].removesuffix('"')


def is_named(line: str, name: str) -> bool:
    """Whether that name stands in a line, as a word."""
    return pattern(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE).search(line) is not None
