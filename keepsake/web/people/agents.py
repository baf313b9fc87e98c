"""An agent whose books are read, for pages about people."""

from __future__ import annotations

from dataclasses import dataclass

from keepsake.agent.mind import Mind


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent whose books are read.

    Attributes:
        key: Its identity, by which others know it.
        mind: None if its memory is not open.
    """

    id: int
    name: str
    key: str
    mind: Mind | None
