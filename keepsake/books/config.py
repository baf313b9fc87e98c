"""How much a prompt shows of books, from ``vault/config/journal.md`` and ``people.md``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from keepsake.markdown_config import FileSettings, between, one_of

SHARE = 12
"""The part of a chat model's prompt that each book may fill: a twelfth."""
PRIVATE, IN_CONFIDENCE = "private", "in confidence"
"""What becomes of whispers: nobody else hears of them, or others do, as of something confided."""


@dataclass(frozen=True, slots=True)
class JournalConfig(FileSettings):
    """Each is explained in the file."""

    budget: int = between(150, high=100_000)

    def for_prompt(self, tokens: int) -> Self:
        """These settings for a chat model whose prompt may have so many tokens; 0 for no chat."""
        return replace(self, budget=max(self.budget, tokens // SHARE)) if self.budget else self


@dataclass(frozen=True, slots=True)
class PeopleConfig(JournalConfig):
    """Each is explained in the file."""

    budget: int = between(300, high=100_000)
    whispers: str = one_of(PRIVATE, (PRIVATE, IN_CONFIDENCE))

    @property
    def in_confidence(self) -> bool:
        """Whether what was whispered may be told to others, marked as confided."""
        return self.whispers == IN_CONFIDENCE
