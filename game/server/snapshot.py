"""One moment of the running world, for a backup.

On the reactor thread nothing else happens: in one turn of it the database is given a reader,
who goes on seeing it as it is now, and the length of each archive is noted. What is copied
afterwards, up to those lengths, is the world of that turn. PostgreSQL's rows go into a file of
SQLite's as well.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twisted.internet.threads import deferToThread

from game.server import database_rows, databases
from keepsake.agent.services import running, services
from keepsake.archive.log import segment_sizes
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import Places, places

if TYPE_CHECKING:
    from psycopg import Connection

    type Reader = sqlite3.Connection | Connection[tuple[Any, ...]]


def snapshot(request: dict[str, Any]) -> Any:
    """Answer the control operation ``snapshot``: ``{"folder": where its files are to go}``.

    The database is copied into that folder, and so is what waits for archives.

    Returns:
        A Deferred of ``{"archives": {agent: {segment: bytes}}}``.

    Raises:
        KeepsakeError: The database cannot be read.
    """
    here, folder = places(), Path(str(request["folder"]))
    with refusing("The world could not be read", "", sqlite3.Error):
        reader = _reader(here)
        if running() and services().spill.waiting():
            shutil.copyfile(here.spill, folder / here.spill.name)
        archives = {
            archive.parent.name: segment_sizes(archive) for archive in here.agents.glob("*/archive")
        }
    copied = deferToThread(_copy, reader, folder / here.database.name)
    copied.addCallback(lambda _: {"archives": archives})
    return copied


def _reader(here: Places) -> Reader:
    """A connection that sees the database as it is now, however long it is read."""
    if here.database_url:
        connection = databases.connect(here)
        database_rows.begin(connection)
        return connection
    reader = sqlite3.connect(
        f"{here.database.as_uri()}?mode=ro",
        uri=True,
        check_same_thread=False,
        isolation_level=None,
    )
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return reader


def _copy(reader: Reader, target: Path) -> None:
    try:
        if isinstance(reader, sqlite3.Connection):
            with closing(sqlite3.connect(target)) as copy:
                reader.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
        else:
            database_rows.to_sqlite(reader, target)
        with target.open("rb") as file:
            os.fsync(file.fileno())
    except (OSError, sqlite3.Error) as error:
        raise KeepsakeError(
            f"The database could not be copied ({error})", "Look at the disk space of the home"
        ) from error
    finally:
        reader.close()
