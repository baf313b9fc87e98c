"""The sizes of the tiers, from ``vault/config/memory_compaction.md``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from game.mind.markdown_config import Section, merged

LARGEST_WINDOW = 10_000
CASCADE, SLIDING = "cascade", "sliding"
STRATEGIES = (CASCADE, SLIDING)


@dataclass(frozen=True, slots=True)
class CompactionConfig:
    """When to compact, and who writes the summaries.

    Attributes:
        strategy: ``cascade``, or ``sliding`` for a window without summaries.
        immediate_window: Memories that stay verbatim after a compaction.
        recent_window: Memories by which the window grows until the next one.
        profile: Name of the profile in ``llm.md`` that writes the summaries.
        fallback_after: Failed tries after which the extractive summary steps in; 0 never.
    """

    strategy: str = CASCADE
    immediate_window: int = 64
    recent_window: int = 64
    profile: str = "summarizer"
    fallback_after: int = 3


def load_compaction_config(path: Path) -> CompactionConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    settings = merged(path)
    settings.only(field.name for field in fields(CompactionConfig))
    default = CompactionConfig()
    return CompactionConfig(
        strategy=settings.choice("strategy", STRATEGIES, default.strategy),
        immediate_window=_window(settings, "immediate_window", default.immediate_window),
        recent_window=_window(settings, "recent_window", default.recent_window),
        profile=settings.text("profile", default.profile),
        fallback_after=settings.integer("fallback_after", default.fallback_after, high=1000),
    )


def _window(settings: Section, key: str, default: int) -> int:
    return settings.integer(key, default, low=1, high=LARGEST_WINDOW)
