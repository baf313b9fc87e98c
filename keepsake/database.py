"""Evennia's database: SQLite, or PostgreSQL where ``KEEPSAKE_DATABASE_URL`` names one."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import DATABASE_URL, Places, public_part

if TYPE_CHECKING:
    from psycopg import Connection

DUMP = "database.dump"  # file name in a backup of a world on PostgreSQL, in place of SQLite's file
_SCRUB_SECONDS = 20.0
"""Seconds that :func:`scrub` waits for others who use the database."""
_LOCK = 0x4B656570
"""The number of the advisory lock that a world holds in its database: ``Keep`` in ASCII."""
_PATIENCE = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,  # milliseconds; the reactor blocks on database calls
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}


def database_settings(here: Places) -> dict[str, Any]:
    """Return Django's settings for the database of this copy of Keepsake.

    Raises:
        KeepsakeError: It is PostgreSQL, and psycopg is not installed or cannot parse its address.
    """
    if not here.database_url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(here.database),
            "OPTIONS": {
                # Evennia applies SQLITE3_PRAGMAS only to its first connection, which it closes
                # during its start. This setting applies to every connection of every thread.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                "PRAGMA cache_size=-40000; PRAGMA temp_store=MEMORY;"
                # Deleted rows are overwritten with zeros, so that `forget me` leaves nothing.
                "PRAGMA secure_delete=ON;",
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
            },
        }
    given = _parameters(here)
    # A commit does not wait for the disk. As with SQLite, a power cut may lose the last moment.
    options = f"-c synchronous_commit=off {given.pop('options', '')}".strip()
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host"}
    return {
        "ENGINE": "django.db.backends.postgresql",
        **{name: given.pop(key, "") for name, key in (names | {"PORT": "port"}).items()},
        "CONN_MAX_AGE": None,  # persistent; at_server_startstop closes a broken connection
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**_PATIENCE, **given, "options": options},
    }


def address(here: Places) -> str:
    """Return where the database is, without its password."""
    return public_part(here.database_url) if here.database_url else str(here.database)


def check_world(here: Places) -> None:
    """Refuse a database that does not belong to this home's world.

    In a shell without the variable, a world on PostgreSQL would start again, empty, on SQLite. In a
    shell that names a PostgreSQL database, a copy of a world on SQLite would continue in that one.

    Raises:
        KeepsakeError: The database belongs to another world.
    """
    if here.database_url and here.database.exists():
        raise KeepsakeError(
            f"{here.database} is the database of a world, but {DATABASE_URL} names another",
            f"Unset {DATABASE_URL}, or set KEEPSAKE_HOME to a folder without a world",
        )
    if here.elsewhere.exists() and not (here.database_url or here.database.exists()):
        where = here.elsewhere.read_text(encoding="utf-8").strip()
        raise KeepsakeError(
            f"The world of {here.home} is in {where}, and {DATABASE_URL} is not set",
            f"Set it; or remove {here.elsewhere} for a new world on SQLite",
        )


def check_intact(here: Places) -> None:
    """Refuse a SQLite database that is damaged, or that is empty although there was a world.

    A start would end in a traceback, or would build a new world in silence.

    Raises:
        KeepsakeError: It cannot be used; with the cure.
    """
    if here.database_url:
        return
    empty = not here.database.exists() or here.database.stat().st_size == 0
    if empty and here.admin_password.exists():  # it is made with the first world of a home
        what = "is empty" if here.database.exists() else "is missing"
        raise KeepsakeError(
            f"The database {here.database} {what}, although this home has had a world",
            "Restore a backup: `keepsake restore FILE --replace`; for a new world remove "
            f"{here.admin_password}",
        )
    if not empty and (problem := damage(here.database)):
        raise KeepsakeError(
            f"The database {here.database} is damaged ({problem})",
            "Restore a backup: `keepsake restore FILE --replace`",
        )


def damage(path: Path) -> str:
    """Return the damage that SQLite finds in a database; empty for none."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            found = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else found


def scrub(path: Path) -> None:
    """Remove the remains of deleted rows from SQLite's file and its log; blocks.

    SQLite keeps old versions of pages in the ``-wal`` file, and in unused parts of the database.

    Raises:
        OSError: Another process kept the database busy, or the disk is full. Try again later.
    """
    try:
        with closing(sqlite3.connect(path, timeout=_SCRUB_SECONDS, isolation_level=None)) as file:
            file.execute("VACUUM")
            busy, *_ = file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        raise OSError(f"{path.name} could not be vacuumed ({error})") from error
    if busy:
        raise OSError(f"{path.name}-wal could not be emptied, because the database is in use")


# -- PostgreSQL


def query(here: Places, question: str) -> Any:
    """Query one value from PostgreSQL; raise KeepsakeError if it cannot be reached."""
    with _connect(here) as connection:
        row = connection.execute(question.encode()).fetchone()
    return row and row[0]


def lock(here: Places) -> Connection[tuple[Any, ...]] | None:
    """Lock the PostgreSQL database for one world, until the returned connection is closed.

    Returns:
        The connection; None if another copy holds the lock.

    Raises:
        KeepsakeError: The database cannot be reached.
    """
    connection = _connect(here)
    found = connection.execute("SELECT pg_try_advisory_lock(%s)", (_LOCK,)).fetchone()
    if found and found[0]:
        return connection
    connection.close()
    return None


def _connect(here: Places) -> Connection[tuple[Any, ...]]:
    """Connect to PostgreSQL in autocommit mode: each statement is its own transaction."""
    given = _parameters(here)
    import psycopg  # noqa: PLC0415 - an extra, which is there by now

    name = f"keepsake {os.getpid()} on {socket.gethostname()}"[:63]
    cure = (
        f"Check that PostgreSQL runs there, and that {DATABASE_URL} names a database and a user "
        "who owns it: `createuser NAME`, `createdb --owner NAME NAME`"
    )
    with refusing(f"The database {address(here)} cannot be reached", cure, psycopg.Error):
        return psycopg.connect(**{**_PATIENCE, **given}, application_name=name, autocommit=True)


def _parameters(here: Places) -> dict[str, Any]:
    """Parse the address of the PostgreSQL database into libpq's keywords."""
    try:
        from psycopg import ProgrammingError  # noqa: PLC0415 - an extra
        from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - as above
    except ImportError as error:
        raise KeepsakeError(
            f"{DATABASE_URL} is set, but psycopg is not installed ({error})",
            "Install it: pip install 'keepsake[postgres]'; or unset the variable for SQLite",
        ) from error
    cure = "Set it to postgresql://user@host/database, or unset it for SQLite"
    with refusing(f"{DATABASE_URL} cannot be used", cure, ProgrammingError):
        return dict(conninfo_to_dict(here.database_url))


# -- copies


def copy_into(here: Places, folder: Path) -> None:
    """Copy a snapshot of the database into a folder, also while the world runs; blocks.

    Raises:
        KeepsakeError: The database cannot be read, or the copy cannot be written.
    """
    if here.database_url:
        _run(here, "pg_dump", "--format=custom", "--no-owner", f"--file={folder / DUMP}")
        return
    uri = f"{here.database.as_uri()}?mode=ro"
    copy = folder / here.database.name
    cure = "Check the disk space of the home"
    with (
        refusing(f"{here.database} could not be copied", cure, sqlite3.Error),
        closing(sqlite3.connect(uri, uri=True, timeout=30)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")  # one file, without a separate log


def load_dump(here: Places, dump: Path) -> None:
    """Replace PostgreSQL's tables by those of a dump in one transaction; blocks, or raises."""
    options = ("--clean", "--if-exists", "--no-owner", "--single-transaction")
    _run(here, "pg_restore", *options, str(dump))


def _run(here: Places, name: str, *arguments: str) -> None:
    """Run a PostgreSQL client program; the password is passed in the environment."""
    given = _parameters(here)
    from psycopg.conninfo import make_conninfo  # noqa: PLC0415 - an extra, which is there by now

    if (program := shutil.which(name)) is None:
        cure = "Install PostgreSQL's client programs (apt-get install postgresql-client)"
        raise KeepsakeError(f"{name} is not installed", cure)
    secret = {"PGPASSWORD": given.pop("password")} if "password" in given else {}
    done = subprocess.run(
        [program, f"--dbname={make_conninfo(**given)}", *arguments],
        env={**os.environ, **secret},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise KeepsakeError(
            f"{name} of {address(here)} failed: {' '.join(done.stderr.split())[-600:]}",
            "Its version must not be older than the server's. Check the disk space, too",
        )
