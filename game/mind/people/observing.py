"""What one memory adds to the profile of a person, a place or a thing."""

from __future__ import annotations

from game.mind.people.profile import Kind, Name, Profile
from game.mind.records import Memory


def observe(profile: Profile | None, memory: Memory, own_name: str, importance: int) -> Profile:
    """The profile of the person who caused ``memory``, with it worked in."""
    name = Name(memory.source or "somebody", memory.time)
    known = profile or Profile(
        memory.source_id, Kind.PERSON, (name,), memory.time, memory.time, meetings=1
    )
    return known
