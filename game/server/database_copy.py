"""Copies of Evennia's database: SQLite's backup API, or ``pg_dump`` and ``pg_restore``."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Protocol

from game.server import databases
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import Places

DUMP = "database.dump"
"""What a backup of a world on PostgreSQL has in place of SQLite's file."""
_FULL = "Look at the disk space of the home"


class DatabaseReader(Protocol):
    """Sees the database as it was when this was made, however long it is read."""

    def copy_into(self, folder: Path) -> None:
        """Write the copy and close; blocks.

        Raises:
            KeepsakeError: It cannot be written.
        """


def reader(here: Places) -> DatabaseReader:
    """A reader of the database as it is now.

    Raises:
        KeepsakeError: It cannot be read.
    """
    return _PostgresReader(here) if here.database_url else _SqliteReader(here)


class _SqliteReader:
    def __init__(self, here: Places) -> None:
        self._name = here.database.name
        uri = f"{here.database.as_uri()}?mode=ro"
        with refusing(f"{here.database} could not be read", "", sqlite3.Error):
            self._reader = sqlite3.connect(
                uri, uri=True, check_same_thread=False, isolation_level=None, timeout=30
            )
            self._reader.execute("BEGIN")
            self._reader.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def copy_into(self, folder: Path) -> None:
        with (
            closing(self._reader),
            refusing("The database could not be copied", _FULL, sqlite3.Error),
            closing(sqlite3.connect(folder / self._name)) as copy,
        ):
            self._reader.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it


class _PostgresReader:
    def __init__(self, here: Places) -> None:
        from psycopg import IsolationLevel  # noqa: PLC0415 - an extra

        self._here, self._reader = here, databases.connect(here)
        self._reader.autocommit, self._reader.read_only = False, True
        self._reader.isolation_level = IsolationLevel.REPEATABLE_READ
        row = self._reader.execute("SELECT pg_export_snapshot()").fetchone()
        self._snapshot = str(row and row[0])

    def copy_into(self, folder: Path) -> None:
        with closing(self._reader):
            options = ("--format=custom", "--no-owner", f"--snapshot={self._snapshot}")
            _run(self._here, "pg_dump", *options, f"--file={folder / DUMP}")


def has_world(here: Places) -> bool:
    """Whether the database holds a world.

    Raises:
        KeepsakeError: PostgreSQL cannot be reached.
    """
    if not here.database_url:
        return here.database.exists()
    with databases.connected(here) as connection:
        made = connection.execute("SELECT to_regclass('objects_objectdb') IS NOT NULL").fetchone()
        return bool(made and made[0])


def load_dump(here: Places, dump: Path) -> None:
    """Replace PostgreSQL's tables by those of a dump, all or none; blocks.

    Raises:
        KeepsakeError: They cannot be replaced.
    """
    options = ("--clean", "--if-exists", "--no-owner", "--single-transaction")
    _run(here, "pg_restore", *options, str(dump))


def _run(here: Places, name: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs; what is secret in the address goes by the environment."""
    from psycopg.pq import Conninfo  # noqa: PLC0415 - an extra, which is there by now

    if (program := shutil.which(name)) is None:
        cure = "Install PostgreSQL's client programs (apt-get install postgresql-client)"
        raise KeepsakeError(f"{name} is not installed", cure)
    given = databases.parameters(here)
    known = {
        each.keyword.decode(): each.envvar.decode()
        for each in Conninfo.get_defaults()
        if each.envvar
    }
    secret = {known[key]: str(value) for key, value in given.items() if key in known}
    done = subprocess.run(
        [program, f"--dbname={given['dbname']}", *arguments],
        env={**os.environ, **secret},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise KeepsakeError(
            f"{name} of {databases.shown(here)} failed: {' '.join(done.stderr.split())[-600:]}",
            "Its version must not be older than the server's; look at the disk space too",
        )
