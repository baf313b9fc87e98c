"""Folders and settings of another Evennia game, when ``keepsake`` runs in its directory."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import quote, urlencode

from keepsake.errors import KeepsakeError
from keepsake.paths import DATABASE_URL, LANGUAGE, REPOSITORY

APP = "keepsake.contrib.evennia"
LIFECYCLE = "keepsake.contrib.evennia.lifecycle"
SETTINGS = "server.conf.settings"
PAGE = "see docs/your-own-game.md"


def adopt(environ: dict[str, str] | os._Environ[str] = os.environ) -> Path | None:
    """Take folders and ports from the game in the current directory, as its Server does.

    Returns:
        The game's directory. None if there is no game, if it is the village, or if the environment
        sets ``KEEPSAKE_HOME``.

    Raises:
        KeepsakeError: The game's settings cannot be loaded, or do not name Keepsake.
    """
    here = Path.cwd()
    found = (each for each in (here, *here.parents) if (each / "server/conf/settings.py").is_file())
    game = next(found, None)
    if game is None or game.is_relative_to(REPOSITORY / "game") or environ.get("KEEPSAKE_HOME"):
        return None
    os.chdir(game)  # Evennia's settings look for the game in the current directory
    sys.path.insert(0, str(game))
    environ["DJANGO_SETTINGS_MODULE"] = SETTINGS
    from keepsake.contrib.evennia.apps import places  # noqa: PLC0415 - needs the settings

    try:
        from django.conf import settings  # noqa: PLC0415 - only for a game

        apps = settings.INSTALLED_APPS
        folders = places()
    except Exception as error:  # a game's settings file may raise anything
        raise KeepsakeError(
            f"{game}/server/conf/settings.py cannot be loaded ({error})", "Fix the error"
        ) from error
    finally:
        os.chdir(here)
    if APP not in apps:
        raise KeepsakeError(f"INSTALLED_APPS of {game} does not name {APP}", f"Add it; {PAGE}")
    environ["KEEPSAKE_HOME"] = str(folders.home)
    environ["KEEPSAKE_VAULT"] = str(folders.vault)
    environ["KEEPSAKE_PORT_BASE"] = str(folders.ports.base)
    environ[LANGUAGE] = folders.language
    database = settings.DATABASES["default"]
    if "postgresql" in database["ENGINE"]:
        names = {"user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
        given = {name: str(database[key]) for name, key in names.items() if database.get(key)}
        environ[DATABASE_URL] = f"postgresql:///{quote(database['NAME'])}?{urlencode(given)}"
    return game


def missing_setting() -> str:
    """Return what is missing in the game's settings; empty if nothing is."""
    from django.conf import settings  # noqa: PLC0415 - only for a game

    named = settings.AT_SERVER_STARTSTOP_MODULE
    there = LIFECYCLE in ([named] if isinstance(named, str) else named)
    return "" if there else f"AT_SERVER_STARTSTOP_MODULE does not name {LIFECYCLE}"
