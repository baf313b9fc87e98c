"""How much a prompt shows of books, from ``vault/config/journal.md`` and ``people.md``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import frontmatter
import yaml

from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigSection, FileSettings, between

SHARE = 12
"""The part of a chat model's prompt that each book may fill: one of so many."""
PRIVATE, IN_CONFIDENCE = "private", "in confidence"
"""What becomes of whispers: nobody else hears of them, or others do, as of something confided."""
_CURE = f"Write `whispers: {PRIVATE}` or `whispers: {IN_CONFIDENCE}` between its two lines of ---"


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
    # whether what was whispered may be said to others, marked as confided
    in_confidence: bool = False

    def checked(self, read: ConfigSection) -> Self:
        """These settings, with what the front matter says of whispers."""
        path = read.path
        try:
            post = frontmatter.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError) as error:
            reason = f"its front matter cannot be read ({error})"
            raise ConfigError(path, 1, reason, _CURE) from error
        choice = str(post.get("whispers", PRIVATE)).strip().casefold()
        if choice not in (PRIVATE, IN_CONFIDENCE):
            raise ConfigError(path, 1, f"whispers is {choice!r}", _CURE)
        return replace(self, in_confidence=choice == IN_CONFIDENCE)
