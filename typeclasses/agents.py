"""The village's agents."""

from __future__ import annotations

from typing import Any

from keepsake.contrib.evennia.agents import AgentMixin
from typeclasses.characters import Character
from typeclasses.deeds.happening import happened


class Agent(AgentMixin, Character):
    """A character with a memory, a thinker and an actor, who has the village's verbs."""

    agent_cmdset = "commands.agent_cmdset.AgentCmdSet"

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """Arrive; a deed of somebody here may go on by that."""
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        if self.is_on_its_way:
            happened(self)
