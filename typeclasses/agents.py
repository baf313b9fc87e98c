"""The village's agents."""

from __future__ import annotations

from keepsake.contrib.evennia.agents import AgentMixin
from typeclasses.characters import Character


class Agent(AgentMixin, Character):
    """A character of the village that a language model plays."""

    agent_cmdset = "commands.agent_cmdset.AgentCmdSet"
