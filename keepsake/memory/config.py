"""The settings of ``vault/config/memory_compaction.md``."""

from __future__ import annotations

from dataclasses import dataclass

from keepsake.markdown_config import ConfigSection, FileSettings, between

LARGEST_WINDOW = 10_000
LARGEST_CONTEXT = 4_000_000
AUTO, USUAL_CONTEXT = 0, 4096
"""As ``context_tokens``: what the agents' model takes; this many where that is not known."""
SUMMARY_SHARE = 6
"""A long-term summary may fill one part in this many of a chat model's prompt."""

_CIRCLE = "a compaction would end where it begins"
_BELOW = (
    ("low", "high", _CIRCLE),
    ("low", "sleep", _CIRCLE),
    ("low", "emergency", _CIRCLE),
    ("high", "emergency", "an emergency would come before the ordinary compaction"),
    ("preserve_share", "low", "no compaction could come down to low"),
)
"""Which marks stand below which, and why."""


@dataclass(frozen=True, slots=True)
class CompactionConfig(FileSettings):
    """When to compact, how far, and who writes the summaries.

    Windows are counted in memories, shares are of :attr:`budget`, the rest is tokens; each
    setting is explained in ``vault/config/memory_compaction.md``.
    """

    immediate_window: int = between(64, low=1, high=LARGEST_WINDOW)
    recent_window: int = between(64, low=1, high=LARGEST_WINDOW)
    context_tokens: int = between(AUTO, high=LARGEST_CONTEXT)
    reserve_tokens: int = between(256, low=1, high=LARGEST_CONTEXT)
    high: float = between(0.85, low=0.01, high=0.99)
    low: float = between(0.60, low=0.01, high=0.99)
    sleep: float = between(0.70, low=0.01, high=0.99)
    emergency: float = between(0.95, low=0.01, high=0.99)
    preserve_memories: int = between(20, high=LARGEST_WINDOW)
    preserve_share: float = between(0.20, high=0.99)
    min_saving_tokens: int = between(300, high=LARGEST_CONTEXT)
    longterm_tokens: int = between(600, low=50, high=LARGEST_CONTEXT)
    profile: str = "summarizer"

    @property
    def budget(self) -> int:
        """Tokens that a prompt may have."""
        return (self.context_tokens or USUAL_CONTEXT) - self.reserve_tokens

    def of_budget(self, share: float) -> int:
        """So much of :attr:`budget`, in tokens."""
        return int(share * self.budget)

    def checked(self, read: ConfigSection) -> CompactionConfig:
        """These settings, if the marks go together and there is some room."""
        for smaller, larger, why in _BELOW:
            below, above = getattr(self, smaller), getattr(self, larger)
            if below >= above:
                told = f"{smaller} {below:g} is not below {larger} {above:g}: {why}"
                key = _written(read, larger, smaller)
                raise read.refuse(key, told, f"Lower {smaller} or raise {larger}")
        if self.budget <= 0:
            told = f"a reserve of {self.reserve_tokens:,} leaves nothing of the context"
            key = _written(read, "reserve_tokens", "context_tokens")
            raise read.refuse(key, told, "Lower reserve_tokens or raise context_tokens")
        return self


def _written(settings: ConfigSection, *keys: str) -> str:
    """The first of the keys that the file names, so that a message points to a line."""
    return next((key for key in keys if key in settings.entries), keys[0])
