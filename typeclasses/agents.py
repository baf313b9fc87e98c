"""Agents: characters that a language model plays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evennia.utils import create

from typeclasses.characters import Character


class Agent(Character):
    """A character with a memory, a thinker and an actor."""


def create_agent(
    name: str,
    *,
    location: Any,
    profile: str,
    examples: Sequence[str] = (),
    home: Any = None,
    talkativeness: float = 0.5,
) -> Agent:
    """Make an agent and put it into the world.

    Args:
        name: The agent's name.
        location: The room it stands in.
        profile: Who it is, as text.
        examples: Script lines that show its voice.
        home: The room it belongs to; its location if not given.
        talkativeness: How often it does something unasked, 0 to 1.

    Returns:
        The new agent.
    """
    return create.create_object(
        Agent,
        key=name,
        location=location,
        home=home or location,
        attributes=[
            ("profile", profile),
            ("examples", list(examples)),
            ("talkativeness", talkativeness),
        ],
    )
