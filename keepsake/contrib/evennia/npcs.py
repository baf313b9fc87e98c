"""A ready-made agent: a character of the game with a memory."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from evennia.utils.utils import class_from_module

from keepsake.contrib.evennia.agents import AgentMixin

# A game's rooms and commands call methods of its own Character on all characters that they meet.
# An agent without them would make their code fail, such as that of somebody who enters its room.
_Character: Any = class_from_module(settings.BASE_CHARACTER_TYPECLASS)


class AgentNPC(AgentMixin, _Character):
    """A ready-made agent, for games without their own agent class: the game's own Character."""
