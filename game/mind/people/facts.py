"""What somebody says of themselves, read by rules; what they say of others is never a fact."""

from __future__ import annotations

from game.mind.people.profile import Fact
from game.mind.records import Memory


def facts_in(memory: Memory, own_name: str) -> tuple[tuple[str, Fact], ...]:
    """The facts in one memory with the key of whom they are about; mostly none."""
    return ()
