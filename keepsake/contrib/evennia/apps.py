"""The Django app, and what a game may set: ``KEEPSAKE = {...}`` in its settings."""

from __future__ import annotations

import os
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

from keepsake import paths
from keepsake.errors import KeepsakeError, require

DEFAULTS = {
    # the folder of the agents' memories and configuration; in a game of its own: `vault`
    "vault": "",
    # the folder of indexes, logs and pid files; in a game of its own `server`, as Evennia has it
    "home": "",
    "port_base": "",  # the model listens 7 above it, Chroma 8; 4000 if not set
    # the class of agents that are made by command
    "agent_typeclass": "keepsake.contrib.evennia.agents.AgentNPC",
}

require("evennia")  # a game has Evennia, and may have the library without the rest


class KeepsakeConfig(AppConfig):
    """Keepsake in an Evennia game, with the dashboard's templates and static files."""

    name = "keepsake.contrib.evennia"
    label = "keepsake"
    verbose_name = "Keepsake: NPCs that remember"
    path = str(Path(paths.__file__).parent / "web")  # where Django looks for both


def setting(key: str) -> str:
    """A key of ``KEEPSAKE`` in the game's settings; its default if the game does not set it."""
    return str(getattr(settings, "KEEPSAKE", {}).get(key) or DEFAULTS[key])


def places() -> paths.Places:
    """The folders and ports: by the game's settings, else by the environment.

    Where neither names a folder, it lies in the game's own directory.
    Raises KeepsakeError for one that cannot be used, and for a key that is none.
    """
    game = Path(settings.GAME_DIR)
    own = {"KEEPSAKE_VAULT": f"{game}/vault", "KEEPSAKE_HOME": f"{game}/server"}
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
        if name in said:  # a relative one is the game's, wherever it is started
            said[name] = str(game / said[name])
    return paths.places(own | {name: each for name, each in os.environ.items() if each} | said)
