"""Evennia's empty tables, made once per test run because migrations are slow.

Most tests of a running world start with a copy of them. `tests/slow/cli/test_world.py` starts
with an empty home, as a new user does.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from keepsake.paths import REPOSITORY, Places, Ports, places

_MIGRATE = """
import django, gc
django.setup()
gc.freeze()  # as in game/server/launch.py
from django.core.management import call_command
call_command("migrate", interactive=False, verbosity=0)
from django.db import connections
connections.close_all()
"""


def empty_tables(factory: pytest.TempPathFactory) -> Path:
    """Return the database file. The first test process that needs it makes it."""
    own = factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    made = shared / "empty-tables.db3"
    with (shared / "empty-tables.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            _migrate(factory.mktemp("tables")).replace(made)
    return made


def copy_tables(tables: Path, here: Places) -> None:
    """Copy the tables into a copy of Keepsake that was never started."""
    here.home.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(tables, here.database)


def copy_tables_for_lab(tables: Path, home: Path) -> None:
    """Copy the tables into a home, for the simulated worlds of its lab."""
    (home / "lab").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(tables, home / "lab" / ".empty.db3")


def new_tables(folder: Path) -> Path:
    """Make the tables in a new folder, for a program that is no test."""
    folder.mkdir()
    return _migrate(folder)


def _migrate(folder: Path) -> Path:
    """Make the tables as a first start does, and return their file."""
    here = Places(folder / "home", folder / "vault", Ports())
    migrate({"KEEPSAKE_HOME": str(here.home), "KEEPSAKE_VAULT": str(here.vault)})
    return here.database


def migrate(environ: Mapping[str, str]) -> None:
    """Make the tables of the copy that these environment variables describe."""
    settings = {"DJANGO_SETTINGS_MODULE": "game.server.conf.settings"}
    places(environ).logs.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _MIGRATE],
        cwd=REPOSITORY,
        env={**os.environ, **environ, **settings},
        check=True,
    )
