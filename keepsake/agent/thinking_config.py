"""When agents think, from ``vault/config/thinking.md``."""

from __future__ import annotations

from dataclasses import dataclass

from keepsake.markdown_config import FileSettings, between

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class ThinkingConfig(FileSettings):
    """All times in seconds; each is explained in the file."""

    gather: float = between(0.6, high=30.0)
    cooldown: float = between(4.0, high=_DAY)
    jitter: float = 0.3
    idle_interval: float = between(270.0, low=5.0, high=_DAY)
    idle_away_factor: float = between(10.0, low=1.0)
    chatter_turns: int = between(4, high=1000)
    chatter_pause: float = 120.0
    pause_notice: float = 2.0
