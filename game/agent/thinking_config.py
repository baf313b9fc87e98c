"""When and how agents think, from ``vault/config/thinking.md``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from game.mind.markdown_config import merged
from game.mind.retired_settings import current_settings

_DAY = 86_400.0
GRAMMAR, SCHEMA, FREE = "grammar", "schema", "no"
CONSTRAINTS = (GRAMMAR, SCHEMA, FREE)


@dataclass(frozen=True, slots=True)
class ThinkingConfig:
    """All times in seconds; each is explained in the file."""

    gather: float = 0.6
    cooldown: float = 4.0
    jitter: float = 0.3
    idle_interval: float = 270.0
    idle_away_factor: float = 10.0
    chatter_turns: int = 4
    chatter_pause: float = 120.0
    retries: int = 2
    pause_notice: float = 2.0
    template: str = "prompt.md"
    insist: bool = True
    constrain: str = GRAMMAR


def load_thinking_config(path: Path) -> ThinkingConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    read, default = current_settings(merged(path), ThinkingConfig), ThinkingConfig()
    config = ThinkingConfig(
        gather=read.number("gather", default.gather, high=30.0),
        cooldown=read.number("cooldown", default.cooldown, high=_DAY),
        idle_interval=read.number("idle_interval", default.idle_interval, low=5.0, high=_DAY),
        idle_away_factor=read.number("idle_away_factor", default.idle_away_factor, low=1.0),
        chatter_turns=read.integer("chatter_turns", default.chatter_turns, high=1000),
        template=read.text("template", default.template),
        insist=read.flag("insist", default.insist),
        constrain=read.choice("constrain", CONSTRAINTS, default.constrain),
    )
    if not re.fullmatch(r"[\w-]+\.md", config.template):
        raise read.refuse(
            "template",
            f"{config.template!r} is not a file in this folder",
            "Give the name of a .md file beside this one",
        )
    return config
