"""``keepsake simulate``, which needs the village, and the folders of simulations."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from keepsake.errors import KeepsakeError, require
from keepsake.paths import REPOSITORY, Places, Ports, places

FOLDER = "lab"
"""The folder of all simulations, inside the home."""
OPTIONS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def simulate(context: typer.Context) -> None:
    """Simulate days of the village as fast as the models answer. Needs a clone, not the wheel."""
    if not (REPOSITORY / "game").is_dir():
        cure = "Clone the project, call `make install` there, and simulate in its folder"
        raise KeepsakeError("Simulations need the village, a game that only a clone has", cure)
    require("evennia")
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "game.simulation", *context.args]
    os.execve(sys.executable, command, environ)


def folder_of(here: Places, name: str) -> Path:
    """Return the folder of a simulation.

    Raises:
        KeepsakeError: There is none of that name. The message lists those that exist.
    """
    labs = here.home / FOLDER
    there = sorted(path.parent.name for path in labs.glob("*/simulation.json"))
    if name not in there:
        known = f"There are: {', '.join(there) or 'none'}"
        raise KeepsakeError(f"There is no simulation {name!r}", known)
    return labs / name


def places_in(folder: Path) -> Places:
    """Return the places of the world in a simulation's folder."""
    return Places(folder / "home", folder / "vault", Ports())


def places_of(lab: str) -> Places:
    """Return the places of the named simulation; those of the world if ``lab`` is empty.

    Raises:
        KeepsakeError: There is no such simulation.
    """
    return places_in(folder_of(places(), lab)) if lab else places()
