"""The Django app, and what a game may set: ``KEEPSAKE = {...}`` in its settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

from keepsake import paths

DEFAULTS = {
    "vault": "",  # the folder of the agents' memories and configuration
    "home": "",  # the folder of indexes, logs and other run-time files
    # the class of agents that are made by command
    "agent_typeclass": "keepsake.contrib.evennia.agents.AgentNPC",
}


class KeepsakeConfig(AppConfig):
    """Keepsake in an Evennia game."""

    name = "keepsake.contrib.evennia"
    label = "keepsake"
    verbose_name = "Keepsake: NPCs that remember"


def setting(key: str) -> str:
    """A key of ``KEEPSAKE`` in the game's settings; its default if the game does not set it."""
    return str(getattr(settings, "KEEPSAKE", {}).get(key) or DEFAULTS[key])


def places() -> paths.Places:
    """The folders and ports: by the game's settings, else by the environment."""
    found = paths.places()
    if vault := setting("vault"):
        found = replace(found, vault=Path(vault).resolve())
    if home := setting("home"):
        found = replace(found, home=Path(home).resolve())
    return found
