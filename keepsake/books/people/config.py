"""How much agents keep and show of people, from ``vault/config/people.md``."""

from __future__ import annotations

from dataclasses import dataclass, replace

import frontmatter
import yaml

from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigSection, FileSettings, between

PRIVATE, IN_CONFIDENCE = "private", "in confidence"
"""What becomes of whispers: nobody else hears of them, or others do, as of something confided."""
_CURE = f"Write `whispers: {PRIVATE}` or `whispers: {IN_CONFIDENCE}` between its two lines of ---"


SHARE = 12
"""The part of a chat model's prompt that people may fill: one of so many."""


@dataclass(frozen=True, slots=True)
class PeopleConfig(FileSettings):
    """Each is explained in the file."""

    budget: int = between(300, high=100_000)
    shown: int = 6  # the most people of a room who stand in a prompt
    lines: int = 40  # the newest sentences and deeds that a page keeps
    # whether what was whispered may be said to others, marked as confided
    in_confidence: bool = False

    def for_prompt(self, tokens: int) -> PeopleConfig:
        """These settings for a chat model whose prompt may have so many tokens; 0 for no chat."""
        return replace(self, budget=max(self.budget, tokens // SHARE)) if self.budget else self

    def checked(self, read: ConfigSection) -> PeopleConfig:
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
