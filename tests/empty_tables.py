"""Evennia's tables with nothing in them, made once a run: to migrate takes long.

Most tests of a running world are about what comes afterwards, and begin with a copy. From an
entirely empty home, as a stranger does, begins `tests/slow/cli/test_world.py`.
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
    """The database; made by the first test process of this run that asks for it."""
    own = factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    made = shared / "empty-tables.db3"
    with (shared / "empty-tables.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            _migrate(factory.mktemp("tables")).replace(made)
    return made


def lay_tables(tables: Path, here: Places) -> None:
    """Give a copy of Keepsake that was never started the tables."""
    here.home.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(tables, here.database)


def lay_tables_for_labs(tables: Path, home: Path) -> None:
    """Have worlds that are simulated in a home made from the tables."""
    (home / "lab").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(tables, home / "lab" / ".empty.db3")


def _migrate(folder: Path) -> Path:
    """Make the tables as a first start does; returns their file."""
    here = Places(folder / "home", folder / "vault", Ports())
    migrate({"KEEPSAKE_HOME": str(here.home), "KEEPSAKE_VAULT": str(here.vault)})
    return here.database


def migrate(environ: Mapping[str, str]) -> None:
    """Make the tables of a copy with that environment."""
    settings = {"DJANGO_SETTINGS_MODULE": "game.server.conf.settings"}
    places(environ).logs.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _MIGRATE],
        cwd=REPOSITORY,
        env={**os.environ, **environ, **settings},
        check=True,
    )
