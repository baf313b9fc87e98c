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
    """All times in seconds; each is explained in the file.

    Attributes:
        gather: How long to go on listening before a player is answered.
        cooldown: The least time between two thoughts.
        jitter: By what share the cooldown varies, 0 to 1.
        idle_interval: Between two idle thoughts with a player near, on average.
        idle_away_factor: How much longer when no player is near.
        chatter_turns: Lines that agents exchange among themselves; 0: none.
        chatter_pause: Silence after which they may start anew.
        retries: How often an answer that is no command, or a repeat, is thought again.
        pause_notice: Thinking time after which people see that it thinks; 0: never.
        template: File name of the prompt's template, in ``vault/config``.
        insist: Whether a player who waits gets words after an act that is no answer.
        constrain: How the model is held to the verbs: ``grammar``, ``schema`` or ``no``.
    """

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
