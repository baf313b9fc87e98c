"""When and how agents think, from ``vault/config/thinking.md``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from game.mind.markdown_config import between, load_settings, one_of

_DAY = 86_400.0
GRAMMAR, SCHEMA, FREE = "grammar", "schema", "no"
CONSTRAINTS = (GRAMMAR, SCHEMA, FREE)


@dataclass(frozen=True, slots=True)
class ThinkingConfig:
    """All times in seconds; each is explained in the file."""

    gather: float = between(0.6, high=30.0)
    cooldown: float = between(4.0, high=_DAY)
    jitter: float = 0.3
    idle_interval: float = between(270.0, low=5.0, high=_DAY)
    idle_away_factor: float = between(10.0, low=1.0)
    chatter_turns: int = between(4, high=1000)
    chatter_pause: float = 120.0
    retries: int = 2
    pause_notice: float = 2.0
    template: str = "prompt.md"
    insist: bool = True
    constrain: str = one_of(GRAMMAR, CONSTRAINTS)


def load_thinking_config(path: Path) -> ThinkingConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    config, read = load_settings(path, ThinkingConfig)
    if not re.fullmatch(r"[\w-]+\.md", config.template):
        raise read.refuse(
            "template",
            f"{config.template!r} is not a file in this folder",
            "Give the name of a .md file beside this one",
        )
    return config
