"""Is it meant for me? What a perceived message means to an agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from game.mind.attention import Event, EventKind
from game.mind.patterns import pattern
from typeclasses.components.surroundings import people_near

_SPEECH = frozenset({"say", "talk", "whisper", "pose", "shout"})
_CALLED = ("say", "shout")


def event_of(agent: Any, speaker: Any, line: str, facts: Mapping[str, Any]) -> Event | None:
    """What ``line`` from ``speaker`` asks of the agent's attention; None for nothing.

    Args:
        agent: Who perceives.
        speaker: Who caused it.
        line: The perceived line.
        facts: The message's ``type`` and, for directed speech, ``to``: a database number.
    """
    kind, to = str(facts.get("type", "")), facts.get("to")
    from_player = bool(getattr(speaker, "has_account", False))
    if kind == "give" and to == agent.id:
        return Event(EventKind.GIVEN, from_player, speaker.key)
    if kind == "wake" and to == agent.id:
        return Event(EventKind.ADDRESSED, from_player, speaker.key)
    if kind not in _SPEECH:
        return None
    if to == agent.id or (kind == "whisper" and to is None):
        return Event(EventKind.ADDRESSED, from_player, speaker.key)
    if to is not None:
        return Event(EventKind.HEARD, from_player, speaker.key)
    if _names(line, agent.key):
        return Event(
            EventKind.ADDRESSED if kind in _CALLED else EventKind.NAMED, from_player, speaker.key
        )
    # Two alone in a room: whatever one says is for the other.
    if kind in _CALLED and people_near(agent) == [speaker]:
        return Event(EventKind.ADDRESSED, from_player, speaker.key)
    return Event(EventKind.HEARD, from_player, speaker.key)


def words_of(line: str) -> str:
    """What is said in a perceived line, without who says it: between the quotation marks."""
    return line.partition('"')[2].removesuffix('"')


def _names(line: str, name: str) -> bool:
    return pattern(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE).search(line) is not None
