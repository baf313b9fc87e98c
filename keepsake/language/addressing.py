"""Whether words are meant for an agent."""

from __future__ import annotations

from keepsake.happening import ME, Speech
from keepsake.language.perception import names


def meant_for(said: Speech, own_name: str, *, alone: bool = False) -> bool:
    """Return whether it was said to the agent: directly, or to everybody with its name in it.

    Args:
        own_name: The agent's name.
        alone: Whether the speaker and the agent are alone, so that each word is for the other.
    """
    return ME in said.to or (not said.to and (alone or names(said.words, own_name)))
