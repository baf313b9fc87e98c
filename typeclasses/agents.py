"""The village's agents."""

from __future__ import annotations

from typing import Any

from keepsake.agent.runtime import runtime
from keepsake.contrib.evennia.agents import AgentMixin
from typeclasses.characters import Character
from world import days
from world.almanac import almanac_now


class Agent(AgentMixin, Character):
    """A character of the village that a language model plays.

    Attributes (in the database):
        day: What it does at which hour; see :mod:`world.days`.
    """

    agent_cmdset = "commands.agent_cmdset.AgentCmdSet"

    def at_minute(self) -> None:
        """Go on with its day."""
        super().at_minute()
        days.live_on(self, almanac_now(runtime().clock))

    def is_everyday(self, line: str, facts: dict[str, Any], from_obj: Any) -> bool:
        """Whether a line is nothing to remember."""
        known = days.is_everyday(self, line, facts, from_obj)
        return known or super().is_everyday(line, facts, from_obj)
