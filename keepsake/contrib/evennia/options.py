"""The game's settings for Keepsake: ``KEEPSAKE = {...}`` in ``server/conf/settings.py``."""

from __future__ import annotations

from typing import Any

from django.conf import settings

DEFAULTS: dict[str, Any] = {
    # the class of agents that are made by command
    "agent_typeclass": "keepsake.contrib.evennia.agents.AgentNPC",
}


def setting(name: str) -> Any:
    """The value of ``KEEPSAKE[name]``, or its default."""
    return getattr(settings, "KEEPSAKE", {}).get(name, DEFAULTS[name])
