"""What a journal may hold and show, from ``vault/config/journal.md``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from keepsake.markdown_config import FileSettings, between

SHARE = 12
"""The part of a chat model's prompt that entries may fill: one of so many."""


@dataclass(frozen=True, slots=True)
class JournalConfig(FileSettings):
    """Each is explained in the file."""

    budget: int = between(150, high=100_000)
    draw_from: int = 5  # how much a memory must matter to be drawn out before a compaction, 1 to 10
    drawn: int = 12  # the most memories that are drawn out before one compaction
    entries: int = 60  # the most entries of one day
    days: int = 60  # the most days that are looked at; older files stay, unread

    def for_prompt(self, tokens: int) -> JournalConfig:
        """These settings for a chat model whose prompt may have so many tokens; 0 for no chat."""
        return replace(self, budget=max(self.budget, tokens // SHARE)) if self.budget else self
