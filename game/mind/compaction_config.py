"""The sizes of the tiers, from ``vault/config/memory_compaction.md``."""

from __future__ import annotations

from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any

from game.mind.markdown_config import Section, merged

LARGEST_WINDOW = 10_000
LARGEST_CONTEXT = 4_000_000
BOUNDS = {
    "immediate_window": (1, LARGEST_WINDOW),
    "recent_window": (1, LARGEST_WINDOW),
    "context_tokens": (256, LARGEST_CONTEXT),
    "reserve_tokens": (1, LARGEST_CONTEXT),
    "rounds": (1, LARGEST_WINDOW),
    "longterm_tokens": (50, LARGEST_CONTEXT),
    "fallback_after": (0, 1000),
}


@dataclass(frozen=True, slots=True)
class CompactionConfig:
    """When to compact, how far, and who writes the summaries.

    Shares are of :attr:`budget`; each setting is explained in the file.

    Attributes:
        strategy: Name of the template in ``vault/config/compaction/``.
        immediate_window: Memories that stay verbatim after a compaction by count.
        recent_window: Memories by which the window grows until the next one.
        context_tokens: Tokens that the model can look at.
        reserve_tokens: Those of them that are kept free for the answer.
        high: Share at which an ordinary compaction starts.
        low: Share that a compaction comes down to.
        sleep: Share at which one starts in an agent that sleeps.
        emergency: Share at which one is made at once, before the thought.
        preserve_memories: The newest memories that always stay verbatim.
        preserve_share: The share of the budget that the newest memories may always have.
        min_saving_tokens: What an automatic compaction must save at least.
        rounds: Thoughts over which a saving is set against what the compaction costs.
        longterm_tokens: Tokens beyond which the long-term summary is summarised again.
        mask: Whether old tool results are shortened and repeats folded.
        on_count: Whether a full window starts a compaction.
        on_high: Whether the high mark does.
        on_sleep: Whether the sleep mark does.
        on_emergency: Whether the emergency mark does.
        on_agent: Whether the agent may ask for one.
        profile: Name of the profile in ``llm.md`` that writes the summaries.
        fallback_after: Failed tries after which the extractive summary steps in; 0 never.
    """

    strategy: str = "narrative"
    immediate_window: int = 64
    recent_window: int = 64
    context_tokens: int = 4096
    reserve_tokens: int = 256
    high: float = 0.85
    low: float = 0.60
    sleep: float = 0.70
    emergency: float = 0.95
    preserve_memories: int = 20
    preserve_share: float = 0.20
    min_saving_tokens: int = 300
    rounds: int = 50
    longterm_tokens: int = 600
    mask: bool = True
    on_count: bool = True
    on_high: bool = True
    on_sleep: bool = True
    on_emergency: bool = True
    on_agent: bool = True
    profile: str = "summarizer"
    fallback_after: int = 3

    @property
    def budget(self) -> int:
        """Tokens that a prompt may have."""
        return self.context_tokens - self.reserve_tokens


def load_compaction_config(path: Path) -> CompactionConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    settings = merged(path)
    settings.only(field.name for field in fields(CompactionConfig))
    return CompactionConfig(
        **{field.name: _value(settings, field) for field in fields(CompactionConfig)}
    )


def _value(settings: Section, field: Field[Any]) -> Any:
    """One setting as its field's type and bounds want it."""
    key, default = field.name, field.default
    if isinstance(default, bool):
        return settings.flag(key, default)
    if isinstance(default, float):
        return settings.number(key, default, low=0.0, high=1.0)
    if isinstance(default, int):
        low, high = BOUNDS.get(key, (0, LARGEST_WINDOW))
        return settings.integer(key, default, low=low, high=high)
    return settings.text(key, str(default))
