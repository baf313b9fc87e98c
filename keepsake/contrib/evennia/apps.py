"""The Django app and its settings: ``KEEPSAKE = {...}`` in the game's settings file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

from keepsake import paths
from keepsake.errors import KeepsakeError, require
from keepsake.events.log import Subscribers

DEFAULTS = {
    # the folder of the agents' memories and configuration; by default the game's `vault`
    "vault": "",
    # the folder of indexes, logs and pid files; by default the game's `server`
    "home": "",
    "port_base": "",  # the model server's port is 7 above it, Chroma's 8; 4000 if not set
    # the class of agents that `@agent/create` makes
    "agent_typeclass": "keepsake.contrib.evennia.npcs.AgentNPC",
}

at_agents_start: list[Callable[[Subscribers], None]] = []
"""Called before the agents start, to add listeners to their events. An app of the game adds to it
in ``AppConfig.ready``, as the dashboard does for its metrics."""

at_model_ready: list[Callable[[], None]] = []
"""Called on the game's thread when the agents' model server has begun to answer."""

require("evennia")  # the library may be installed without the modules of this extra


class KeepsakeConfig(AppConfig):
    """Keepsake in an Evennia game. The dashboard is an app of its own, ``keepsake.web``."""

    name = "keepsake.contrib.evennia"
    label = "keepsake"
    verbose_name = "Keepsake: NPCs that remember"


def setting(key: str) -> str:
    """Return a key of ``KEEPSAKE`` in the game's settings; its default if it is not set."""
    return str(getattr(settings, "KEEPSAKE", {}).get(key) or DEFAULTS[key])


def places() -> paths.Places:
    """Return the folders and ports, from the game's settings, else from the environment.

    A folder that neither names is in the game's directory. The language is ``LANGUAGE_CODE``,
    unless the environment names another.
    Raises KeepsakeError for a value that cannot be used, and for an unknown key.
    """
    game = Path(settings.GAME_DIR)
    own = {
        "KEEPSAKE_VAULT": f"{game}/vault",
        "KEEPSAKE_HOME": f"{game}/server",
        paths.LANGUAGE: str(settings.LANGUAGE_CODE),
    }
    given = {
        "KEEPSAKE_VAULT": setting("vault"),
        "KEEPSAKE_HOME": setting("home"),
        "KEEPSAKE_PORT_BASE": setting("port_base"),
    }
    if unknown := ", ".join(getattr(settings, "KEEPSAKE", {}).keys() - DEFAULTS.keys()):
        what = f"KEEPSAKE in the game's settings has no key {unknown}"
        raise KeepsakeError(what, f"Its keys are {', '.join(DEFAULTS)}")
    said = {name: value for name, value in given.items() if value}
    for name in ("KEEPSAKE_VAULT", "KEEPSAKE_HOME"):
        if name in said:  # a relative path starts at the game's directory, not at the current one
            said[name] = str(game / said[name])
    return paths.places(own | {name: each for name, each in os.environ.items() if each} | said)
