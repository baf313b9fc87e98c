"""The sizes of the tiers, from ``vault/config/memory_compaction.md``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from game.mind.markdown_config import Values, read_values

LARGEST_WINDOW = 10_000


@dataclass(frozen=True, slots=True)
class CompactionConfig:
    """When to compact, and who writes the summaries.

    Attributes:
        immediate_window: Memories that stay verbatim after a compaction.
        recent_window: Memories by which the window grows until the next one.
        profile: Name of the profile in ``llm.md`` that writes the summaries.
        fallback_after: Failed tries after which the extractive summary steps in; 0 never.
    """

    immediate_window: int = 64
    recent_window: int = 64
    profile: str = "summarizer"
    fallback_after: int = 3


def load_compaction_config(path: Path) -> CompactionConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    values = read_values(path)
    default = CompactionConfig()
    config = CompactionConfig(
        immediate_window=_window(values, "immediate_window", default.immediate_window),
        recent_window=_window(values, "recent_window", default.recent_window),
        profile=values.text("profile", default.profile),
        fallback_after=values.integer("fallback_after", default.fallback_after, 0, 1000),
    )
    values.refuse_unknown()
    return config


def _window(values: Values, key: str, default: int) -> int:
    return values.integer(key, default, 1, LARGEST_WINDOW)
