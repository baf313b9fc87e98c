"""What an agent lives in: the little that its mind asks of the world around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

type Body = Any
"""The agent itself, as the world has it: an ``AgentMixin`` of
:mod:`keepsake.contrib.evennia.agents`, which says what it has."""
type FindBody = Callable[[], Body | None]
"""Gives the agent as it is now; None if it has been deleted."""


@dataclass(frozen=True, slots=True)
class Life:
    """Whose mind it is."""

    number: int  # the agent's database number
    name: str  # its name
    folder: Path  # ``vault/agents/<name>``
    body: FindBody  # gives the agent as it is now
    # those of all people and places; quick, on the reactor thread
    names: Callable[[], frozenset[str]]
    memory: str = ""  # what its memory is called, as its profile says; empty for ours
