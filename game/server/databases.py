"""Evennia's database: SQLite in the home, or PostgreSQL where ``KEEPSAKE_DATABASE_URL`` names one.

One world a database: whoever runs it, or copies it while it does not run, holds PostgreSQL's
advisory lock on it, which goes with the connection that holds it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from keepsake.errors import KeepsakeError
from keepsake.paths import DATABASE_URL, Places, public_part

if TYPE_CHECKING:
    from psycopg import Connection

LEAST_POSTGRES = 14
"""The oldest that Django 6 speaks to."""
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
_HOLDER = """
SELECT application_name, coalesce(host(client_addr), 'its own machine')
FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND objid = %s
  AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def database_settings(here: Places) -> dict[str, Any]:
    """Django's settings for the database of that copy.

    Raises:
        KeepsakeError: It is PostgreSQL's, and what speaks with it is not installed, or cannot
            read its address.
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
    if not here.database_url:
        return str(here.database)
    return public_part(here.database_url)


def note_elsewhere(here: Places) -> None:
    """Write into the home where its database is, if that is PostgreSQL's."""
    if here.database_url:
        with contextlib.suppress(OSError):  # a full disk does not matter
            here.elsewhere.write_text(f"{shown(here)}\n", encoding="utf-8")


def refuse_another(here: Places) -> None:
    """Raise where the home's world has another database than the one that is named.

    A copy of a world, in a shell that names the original's, would live on in that; and a world on
    PostgreSQL would begin anew on SQLite in a shell that names none.

    Raises:
        KeepsakeError: It has.
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


@contextmanager
def connected(here: Places) -> Iterator[Connection[tuple[Any, ...]]]:
    """A connection to PostgreSQL, each statement a transaction of its own.

    Raises:
        KeepsakeError: It cannot be reached, or a statement fails.
    """
    import psycopg  # noqa: PLC0415 - an extra

    connection = connect(here)
    try:
        with contextlib.closing(connection):
            yield connection
    except psycopg.Error as error:
        raise KeepsakeError(
            f"The database {shown(here)} cannot be used ({_told(error)})",
            "Look at PostgreSQL's log; `keepsake doctor` says what it is",
        ) from error


def connect(here: Places) -> Connection[tuple[Any, ...]]:
    """The same for who closes it himself.

    Raises:
        KeepsakeError: PostgreSQL cannot be reached, or is too old.
    """
    given = parameters(here)
    import psycopg  # noqa: PLC0415 - an extra, which is there by now

    name = f"keepsake {os.getpid()} on {socket.gethostname()}"[:63]
    try:
        found: Connection[tuple[Any, ...]] = psycopg.connect(
            **{**_PATIENCE, **given}, application_name=name, autocommit=True
        )
    except psycopg.Error as error:
        raise KeepsakeError(
            f"The database {shown(here)} cannot be reached ({_told(error)})",
            f"See that PostgreSQL runs there, and that {DATABASE_URL} names a database and a user "
            "who owns it: `createuser NAME`, `createdb --owner NAME NAME`",
        ) from error
    if found.info.server_version < LEAST_POSTGRES * 10_000:
        version = found.info.server_version // 10_000
        found.close()
        raise KeepsakeError(
            f"The database {shown(here)} is PostgreSQL {version}",
            f"Keepsake needs {LEAST_POSTGRES} or newer",
        )
    return found


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


def hold(here: Places, patience: float = 0.0) -> Connection[tuple[Any, ...]]:
    """Hold PostgreSQL's database for one world, until the connection is closed.

    Waits ``patience`` seconds at most, or the few that PostgreSQL may need to see that the
    holder before has gone.

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
            holder = connection.execute(_HOLDER, (_LOCK,)).fetchone()
            connection.close()
            who = "{} ({})".format(*holder) if holder else "another copy of Keepsake"
            raise KeepsakeError(
                f"The database {shown(here)} is in use by {who}",
                f"Stop that copy, or set {DATABASE_URL} to a database of this one's own",
            )
        time.sleep(_POLL_SECONDS)
