"""What recall may use and how much it may say, from ``vault/config/recall.md``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from keepsake.markdown_config import ConfigSection, FileSettings, between, fixed

CHILD, NONE = "child", "none"
SHARE = 4
"""The part of a chat model's prompt that recall may fill: one of so many."""


@dataclass(frozen=True, slots=True)
class RecallConfig(FileSettings):
    """Each is explained in the file."""

    chroma: str = CHILD
    budget: int = between(600, high=100_000)
    notes: int = fixed(3)
    summaries: int = fixed(2)
    memories: int = between(5, high=200)
    patience: float = between(0.5, low=0.05, high=60.0)
    remembered: int = fixed(24)
    remembered_tokens: int = fixed(600)
    remembered_thoughts: int = fixed(3)

    def for_prompt(self, tokens: int) -> RecallConfig:
        """These settings for a chat model, of whose prompt a quarter may be recalled.

        Args:
            tokens: The most tokens of its prompt; 0 for a model that does not chat.
        """
        if not self.budget or tokens // SHARE <= self.budget:
            return self
        memories = self.memories * (tokens // SHARE) // self.budget
        return replace(self, budget=tokens // SHARE, memories=memories)

    def checked(self, read: ConfigSection) -> RecallConfig:
        """These settings, ``chroma`` as one of its two words or an address."""
        written = self.chroma.rstrip("/")
        if written not in (CHILD, NONE) and not _is_address(written):
            raise read.refuse(
                "chroma",
                f"{written!r} is neither child, none nor an address",
                "Write child, none, or an address such as http://127.0.0.1:8000",
            )
        return replace(self, chroma=written)


def _is_address(written: str) -> bool:
    try:
        url = urlsplit(written)
        usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # a port that is no number
        return False
    return usable and not url.path and not url.query
