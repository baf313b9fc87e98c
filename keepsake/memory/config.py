"""The settings of ``vault/config/memory_compaction.md``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from keepsake.markdown_config import ConfigSection, FileSettings, between, fixed

LARGEST_WINDOW = 10_000
"""The largest setting of a window, in memories; a mistyped number is refused."""
LARGEST_CONTEXT = 4_000_000
"""The largest setting of a context window, in tokens; no model has more."""
AUTO = 0
"""The ``context_tokens`` that means: as the agents' model."""
USUAL_CONTEXT = 4096
"""The tokens of a context window if that of the agents' model is unknown."""
SUMMARY_SHARE = 6
"""A divisor: a long-term summary may fill one sixth of a chat model's prompt."""

COUNT_ROOM = 1_600
"""Tokens of room for which a compaction by count is put off: some fifty memories. Where there is
more, longer prompts cost less than the calls of the summaries."""
COUNT_MOST = 0.80
"""The share of the budget beyond which it is not put off, so that it comes before the high mark."""


@dataclass(frozen=True, slots=True)
class CompactionConfig(FileSettings):
    """When to compact, how far, and which profile writes the summaries.

    Windows are counted in memories, shares refer to :attr:`budget`, the rest is in tokens.
    ``vault/config/memory_compaction.md`` explains each setting.
    """

    immediate_window: int = between(64, low=1, high=LARGEST_WINDOW)
    recent_window: int = between(64, low=1, high=LARGEST_WINDOW)
    context_tokens: int = between(AUTO, high=LARGEST_CONTEXT)
    reserve_tokens: int = between(256, low=1, high=LARGEST_CONTEXT)
    high: float = between(0.85, low=0.22, high=0.94)
    low: float = between(0.60, low=0.21, high=0.69)
    sleep: float = fixed(0.70)
    emergency: float = fixed(0.95)
    count_from: float = between(0.60, low=0.0, high=0.94)
    preserve_memories: int = between(20, high=LARGEST_WINDOW)
    min_saving_tokens: int = between(300, high=LARGEST_CONTEXT)
    longterm_tokens: int = between(600, low=50, high=LARGEST_CONTEXT)
    profile: str = "summarizer"

    @property
    def budget(self) -> int:
        """Tokens that a prompt may have."""
        return (self.context_tokens or USUAL_CONTEXT) - self.reserve_tokens

    def fitted(self, prompt_tokens: int) -> CompactionConfig:
        """Return the settings fitted to a model, whose prompt limit counts unless one is set.

        ``prompt_tokens``: The most tokens of its prompts; 0 if the settings decide.
        """
        if self.context_tokens or not prompt_tokens:
            return self
        return replace(
            self,
            context_tokens=prompt_tokens + self.reserve_tokens,
            longterm_tokens=max(self.longterm_tokens, prompt_tokens // SUMMARY_SHARE),
        )

    @property
    def count_tokens(self) -> int:
        """Tokens that a prompt must have before the number of memories starts a compaction.

        0 if the number alone decides.
        """
        if not self.count_from:
            return 0
        roomy = min(self.budget - COUNT_ROOM, self.of_budget(COUNT_MOST))
        return max(self.of_budget(self.count_from), roomy)

    @property
    def goes_deeper(self) -> bool:
        """Whether a compaction goes below the low mark."""
        return self.low_tokens < self.of_budget(self.low)

    @property
    def low_tokens(self) -> int:
        """Tokens to which a compaction brings a prompt: the low mark, or less where there is room.

        It goes below the mark by as many tokens as a compaction by count is put off. A summary
        changes the beginning of all later prompts, so one large step costs less than two. In two
        recorded evenings with budgets of 8,000 tokens there were 11 compactions in place of 16.
        """
        put_off = max(self.count_tokens - self.of_budget(self.count_from), 0)
        return max(self.of_budget(self.low) - put_off, 0)

    def of_budget(self, share: float) -> int:
        """This share of :attr:`budget`, in tokens."""
        return int(share * self.budget)

    def checked(self, read: ConfigSection) -> CompactionConfig:
        """Return these settings.

        Raises:
            ConfigError: ``low`` is not below ``high``, or the reserve leaves no budget.
        """
        if self.low >= self.high:
            told = f"{self.high:g} is not above low {self.low:g}"
            raise read.refuse("high", told, "Raise it or lower low")
        if self.budget <= 0:
            told = f"a reserve of {self.reserve_tokens:,} leaves no tokens for a prompt"
            raise read.refuse("context_tokens", told, "Lower reserve_tokens or raise this")
        return self
