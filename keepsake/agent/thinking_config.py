"""When and how agents think, from ``vault/config/thinking.md``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from keepsake.markdown_config import ConfigSection, FileSettings, between, one_of

_DAY = 86_400.0
GRAMMAR, SCHEMA, FREE = "grammar", "schema", "no"
CONSTRAINTS = (GRAMMAR, SCHEMA, FREE)


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
    retries: int = 2
    pause_notice: float = 2.0
    template: str = "prompt.md"
    insist: bool = True
    constrain: str = one_of(GRAMMAR, CONSTRAINTS)

    def checked(self, read: ConfigSection) -> ThinkingConfig:
        """These settings, if ``template`` is the name of a file."""
        if not re.fullmatch(r"[\w-]+\.md", self.template):
            raise read.refuse(
                "template",
                f"{self.template!r} is not a file in this folder",
                "Give the name of a .md file beside this one",
            )
        return self
