"""How summaries are written: a template in ``vault/config/compaction/`` for each way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Layout(StrEnum):
    """Which tiers a strategy keeps."""

    CASCADE = "cascade"
    """Window, short-term and long-term summary."""
    REPLACE = "replace"
    """One summary of everything, and what is going on."""
    SLIDING = "sliding"
    """The newest memories and no summary."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way of writing summaries.

    Attributes:
        name: The template's file name without its ending.
        layout: Which tiers it keeps.
        headings: The headings that a summary must have, in order; none for prose.
        path: The template, for messages.
    """

    name: str
    layout: Layout
    headings: tuple[str, ...]
    path: Path
