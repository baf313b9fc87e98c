"""Evennia's database: SQLite in the home, or PostgreSQL where ``KEEPSAKE_DATABASE_URL`` names one.

One world a database: its process holds PostgreSQL's advisory lock, which goes with the connection.
Copies are made by SQLite's backup API, or by ``pg_dump`` and ``pg_restore``.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import DATABASE_URL, Places, public_part

if TYPE_CHECKING:
    from psycopg import Connection

DUMP = "database.dump"
"""What a backup of a world on PostgreSQL has in place of SQLite's file."""
_LOCK = 0x4B656570
_POLL_SECONDS = 0.2
_ENDING_SECONDS = 3.0
"""How long PostgreSQL may take to see that a connection was closed, and let go of its lock."""
_PATIENCE = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,  # milliseconds; the reactor waits for the database
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}


def database_settings(here: Places) -> dict[str, Any]:
    """Django's settings for the database of that copy.

    Raises:
        KeepsakeError: It is PostgreSQL's, and psycopg is not installed or cannot read its address.
    """
    if not here.database_url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(here.database),
            "OPTIONS": {
                # Evennia applies SQLITE3_PRAGMAS to its first connection alone and closes
                # that one while it starts; this reaches every connection of every thread.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                "PRAGMA cache_size=-40000; PRAGMA temp_store=MEMORY;",
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
            },
        }
    given = parameters(here)
    # A commit does not wait for the disk: as with SQLite, a power cut may take the last moment.
    options = f"-c synchronous_commit=off {given.pop('options', '')}".strip()
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host"}
    return {
        "ENGINE": "django.db.backends.postgresql",
        **{name: given.pop(key, "") for name, key in (names | {"PORT": "port"}).items()},
        "CONN_MAX_AGE": None,  # a lasting one; at_server_startstop closes it when it broke
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**_PATIENCE, **given, "options": options},
    }


def shown(here: Places) -> str:
    """Where the database is, in words that hold no password."""
    return public_part(here.database_url) if here.database_url else str(here.database)


# -- the right one, and one world in it


def note_elsewhere(here: Places) -> None:
    """Write into the home where its database is, if that is PostgreSQL's."""
    if here.database_url:
        with contextlib.suppress(OSError):  # a full disk does not matter
            here.elsewhere.write_text(f"{shown(here)}\n", encoding="utf-8")


def refuse_another(here: Places) -> None:
    """Refuse a database that is not the one of this home's world.

    In a shell without the variable a world on PostgreSQL would begin anew on SQLite; a copy of a
    world on SQLite, in a shell that names PostgreSQL's, would live on in that.

    Raises:
        KeepsakeError: It is another one.
    """
    if here.database_url and here.database.exists():
        raise KeepsakeError(
            f"{here.database} is the database of a world, and {DATABASE_URL} names another",
            f"Unset {DATABASE_URL}, or set KEEPSAKE_HOME to a folder without a world",
        )
    if here.elsewhere.exists() and not (here.database_url or here.database.exists()):
        where = here.elsewhere.read_text(encoding="utf-8").strip()
        raise KeepsakeError(
            f"The world of {here.home} is in {where}, and {DATABASE_URL} is not set",
            f"Set it; or remove {here.elsewhere} for a new world on SQLite",
        )


def hold(here: Places, patience: float = 0.0) -> Connection[tuple[Any, ...]]:
    """Hold PostgreSQL's database for one world, until the connection is closed.

    Raises:
        KeepsakeError: Another copy holds it, or it cannot be reached.
    """
    connection = connect(here)
    deadline = time.monotonic() + max(patience, _ENDING_SECONDS)
    while True:
        found = connection.execute("SELECT pg_try_advisory_lock(%s)", (_LOCK,)).fetchone()
        if found and found[0]:
            return connection
        if time.monotonic() >= deadline:
            connection.close()
            raise KeepsakeError(
                f"The database {shown(here)} is in use by another copy of Keepsake",
                f"Stop that copy, or set {DATABASE_URL} to a database of this one's own",
            )
        time.sleep(_POLL_SECONDS)


# -- connections to PostgreSQL


@contextmanager
def connected(here: Places) -> Iterator[Connection[tuple[Any, ...]]]:
    """A connection to PostgreSQL, each statement a transaction of its own.

    Raises:
        KeepsakeError: It cannot be reached, or a statement fails.
    """
    import psycopg  # noqa: PLC0415 - an extra

    what = f"The database {shown(here)} cannot be used"
    with refusing(what, "See its log", psycopg.Error), closing(connect(here)) as connection:
        yield connection


def connect(here: Places) -> Connection[tuple[Any, ...]]:
    """The same; the caller closes it.

    Raises:
        KeepsakeError: PostgreSQL cannot be reached.
    """
    given = parameters(here)
    import psycopg  # noqa: PLC0415 - an extra, which is there by now

    name = f"keepsake {os.getpid()} on {socket.gethostname()}"[:63]
    try:
        return psycopg.connect(**{**_PATIENCE, **given}, application_name=name, autocommit=True)
    except psycopg.Error as error:
        raise KeepsakeError(
            f"The database {shown(here)} cannot be reached ({_told(error)})",
            f"See that PostgreSQL runs there, and that {DATABASE_URL} names a database and a user "
            "who owns it: `createuser NAME`, `createdb --owner NAME NAME`",
        ) from error


def parameters(here: Places) -> dict[str, Any]:
    """What the address of PostgreSQL's database says, by libpq's keywords.

    Raises:
        KeepsakeError: The address cannot be read, or psycopg is not installed.
    """
    try:
        from psycopg import ProgrammingError  # noqa: PLC0415 - an extra
        from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415
    except ImportError as error:
        raise KeepsakeError(
            f"{DATABASE_URL} is set, and psycopg is not installed ({error})",
            "Install it: pip install 'keepsake[postgres]'; or unset the variable for SQLite",
        ) from error
    try:
        return dict(conninfo_to_dict(here.database_url))
    except ProgrammingError as error:
        raise KeepsakeError(
            f"{DATABASE_URL} cannot be used: {_told(error)}",
            "Set it to postgresql://user@host/database, or unset it for SQLite",
        ) from error


def _told(error: Exception) -> str:
    return " ".join(str(error).split())


# -- copies


def reader(here: Places) -> Callable[[Path], None]:
    """What copies the database, as it is now, into a folder; it blocks, however late it is called.

    Raises:
        KeepsakeError: It cannot be read.
    """
    return _postgres_reader(here) if here.database_url else _sqlite_reader(here)


def _sqlite_reader(here: Places) -> Callable[[Path], None]:
    uri = f"{here.database.as_uri()}?mode=ro"
    with refusing(f"{here.database} could not be read", "", sqlite3.Error):
        source = sqlite3.connect(
            uri, uri=True, check_same_thread=False, isolation_level=None, timeout=30
        )
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def copy_into(folder: Path) -> None:
        full = "Look at the disk space of the home"
        with (
            closing(source),
            refusing("The database could not be copied", full, sqlite3.Error),
            closing(sqlite3.connect(folder / here.database.name)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it

    return copy_into


def _postgres_reader(here: Places) -> Callable[[Path], None]:
    source = connect(here)
    source.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    row = source.execute("SELECT pg_export_snapshot()").fetchone()

    def copy_into(folder: Path) -> None:
        with closing(source):
            options = ("--format=custom", "--no-owner", f"--snapshot={row and row[0]}")
            _run(here, "pg_dump", *options, f"--file={folder / DUMP}")

    return copy_into


def has_world(here: Places) -> bool:
    """Whether the database holds a world.

    Raises:
        KeepsakeError: PostgreSQL cannot be reached.
    """
    if not here.database_url:
        return here.database.exists()
    with connected(here) as connection:
        made = connection.execute("SELECT to_regclass('objects_objectdb') IS NOT NULL").fetchone()
        return bool(made and made[0])


def load_dump(here: Places, dump: Path) -> None:
    """Replace PostgreSQL's tables by those of a dump, all or none; blocks.

    Raises:
        KeepsakeError: They cannot be replaced.
    """
    options = ("--clean", "--if-exists", "--no-owner", "--single-transaction")
    _run(here, "pg_restore", *options, str(dump))


def damage(path: Path) -> str:
    """What SQLite finds wrong with a database; empty for nothing."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            found = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else found


def _run(here: Places, name: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs; what is secret in the address goes by the environment."""
    from psycopg.pq import Conninfo  # noqa: PLC0415 - an extra, which is there by now

    if (program := shutil.which(name)) is None:
        cure = "Install PostgreSQL's client programs (apt-get install postgresql-client)"
        raise KeepsakeError(f"{name} is not installed", cure)
    given = parameters(here)
    secret = {
        each.envvar.decode(): str(given[key])
        for each in Conninfo.get_defaults()
        if each.envvar and (key := each.keyword.decode()) in given
    }
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
            f"{name} of {shown(here)} failed: {' '.join(done.stderr.split())[-600:]}",
            "Its version must not be older than the server's; look at the disk space too",
        )
