"""What a journal may hold and show, from ``vault/config/journal.md``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from game.mind.books.journal.entries import LEAST, MOST
from game.mind.markdown_config import merged


@dataclass(frozen=True, slots=True)
class JournalConfig:
    """Each is explained in the file.

    Attributes:
        budget: Tokens that entries of the journal may take in one prompt; 0: none.
        draw_from: How much a memory must matter to be drawn out before a compaction, 1 to 10.
        drawn: The most memories that are drawn out before one compaction.
        entries: The most entries of one day; the least important go into one line.
        days: The most days that are looked at; older files stay, unread.
    """

    budget: int = 150
    draw_from: int = 6
    drawn: int = 12
    entries: int = 60
    days: int = 60


def load_journal_config(path: Path) -> JournalConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    read, default = merged(path), JournalConfig()
    read.only(field.name for field in fields(JournalConfig))
    return JournalConfig(
        budget=read.integer("budget", default.budget, high=100_000),
        draw_from=read.integer("draw_from", default.draw_from, low=LEAST, high=MOST),
        drawn=read.integer("drawn", default.drawn, high=200),
        entries=read.integer("entries", default.entries, low=2, high=1000),
        days=read.integer("days", default.days, low=1, high=3650),
    )
