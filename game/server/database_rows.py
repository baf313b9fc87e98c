"""The rows of PostgreSQL as a file of SQLite's, and back.

So a backup, a fork and a world on SQLite have one form, and a world moves from one database to the
other by a backup and a restore. The tables of both are made by the same migrations; what is copied
is the rows, and how far each table has numbered them.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from game.server import databases
from keepsake.errors import KeepsakeError
from keepsake.paths import DATABASE_URL, REPOSITORY, Places, Ports

if TYPE_CHECKING:
    from psycopg import Connection

type Columns = dict[str, list[str]]
"""The columns of each table, by its name, in order."""

_BLOCK = 1000
_TABLES_SECONDS = 600.0
_NUMBERED = """
SELECT c.relname, s.relname FROM pg_class s
JOIN pg_depend d ON d.objid = s.oid AND d.deptype IN ('a', 'i')
JOIN pg_class c ON c.oid = d.refobjid
WHERE s.relkind = 'S' AND s.relnamespace = current_schema()::regnamespace
"""


def make_tables(here: Places) -> None:
    """Make Evennia's tables in the database of that copy, or bring them up to date; blocks.

    Raises:
        KeepsakeError: They cannot be made.
    """
    here.logs.mkdir(parents=True, exist_ok=True)
    environ = os.environ | {
        "KEEPSAKE_HOME": str(here.home),
        "KEEPSAKE_VAULT": str(here.vault),
        DATABASE_URL: here.database_url,
    }
    entry = [sys.executable, "-m", "game.cli.world.evennia_entry", "tables"]
    done = subprocess.run(
        entry,
        cwd=REPOSITORY,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_TABLES_SECONDS,
        check=False,
    )
    if done.returncode:
        raise KeepsakeError(
            f"Tables could not be made in {databases.shown(here)}: {done.stderr.strip()[-600:]}",
            "Look at the disk space, and at the rights of the database's user",
        )


@contextmanager
def moment(here: Places) -> Iterator[Connection[tuple[Any, ...]]]:
    """A reader that sees PostgreSQL's database as it is now, however long it is read.

    Raises:
        KeepsakeError: It cannot be reached, or cannot be read any further.
    """
    with databases.connected(here) as reader:
        begin(reader)
        yield reader


def begin(reader: Connection[tuple[Any, ...]]) -> None:
    """Have a connection see the database as it is now, until it is closed."""
    from psycopg import IsolationLevel  # noqa: PLC0415 - an extra, which is there by now

    reader.autocommit, reader.read_only = False, True
    reader.isolation_level = IsolationLevel.REPEATABLE_READ
    reader.execute("SELECT count(*) FROM pg_class")


def there(here: Places) -> bool:
    """Whether PostgreSQL's database holds a world.

    Raises:
        KeepsakeError: It cannot be reached.
    """
    with databases.connected(here) as reader:
        made = reader.execute("SELECT to_regclass('objects_objectdb') IS NOT NULL").fetchone()
        return bool(
            made and made[0] and reader.execute("SELECT 1 FROM objects_objectdb LIMIT 1").fetchone()
        )


def to_sqlite(reader: Connection[tuple[Any, ...]], target: Path) -> None:
    """Write what a reader sees into a new file of SQLite's; blocks.

    Raises:
        KeepsakeError: The tables there are not those of this version.
        sqlite3.Error: The file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix=".tables-", dir=target.parent) as scratch:
        empty = Places(Path(scratch) / "home", Path(scratch) / "vault", Ports())
        make_tables(empty)
        with closing(sqlite3.connect(empty.database)) as copy:
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
            with copy:
                _fill_sqlite(reader, copy)
        empty.database.replace(target)


def _fill_sqlite(reader: Connection[tuple[Any, ...]], copy: sqlite3.Connection) -> None:
    tables = _columns_of_sqlite(copy)
    _compare(tables, _columns_of_postgres(reader))
    copy.execute("DELETE FROM sqlite_sequence")
    for table, columns in tables.items():
        copy.execute(f'DELETE FROM "{table}"')  # what the migrations themselves have put there
        marks = ", ".join("?" * len(columns))
        insert = f'INSERT INTO "{table}" ({_named(columns)}) VALUES ({marks})'
        with reader.cursor(name="rows") as rows:
            rows.itersize = _BLOCK
            rows.execute(f'SELECT {_named(columns)} FROM "{table}"'.encode())
            copy.executemany(insert, map(_for_sqlite, rows))
    for table, sequence in reader.execute(_NUMBERED).fetchall():
        last = reader.execute(f'SELECT last_value, is_called FROM "{sequence}"'.encode()).fetchone()
        if last is not None and last[1]:
            copy.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            copy.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, last[0]))


def _for_sqlite(row: Iterable[object]) -> list[object]:
    """A row as Django keeps it in SQLite."""
    return [
        str(each.astimezone(UTC).replace(tzinfo=None)) if isinstance(each, datetime) else each
        for each in row
    ]


def from_sqlite(source: Path, here: Places) -> None:
    """Replace all rows of PostgreSQL's database by those of a file of SQLite's, or none; blocks.

    Its tables are there and of this version; those of the file are brought up to date in a copy.

    Raises:
        KeepsakeError: The database cannot be reached, does not take them, or has other tables.
        sqlite3.Error: The file cannot be read.
    """
    with (
        tempfile.TemporaryDirectory(prefix=".tables-", dir=source.parent) as scratch,
        closing(sqlite3.connect(_up_to_date(source, Path(scratch)))) as original,
        databases.connected(here) as target,
        target.transaction(),
    ):
        target.execute("SET LOCAL TIME ZONE 'UTC'")
        tables = _columns_of_sqlite(original)
        _compare(tables, _columns_of_postgres(target))
        target.execute(f"TRUNCATE {_named(tables)}".encode())
        for table, columns in tables.items():
            into = f'COPY "{table}" ({_named(columns)}) FROM STDIN'
            with target.cursor() as cursor, cursor.copy(into.encode()) as copy:
                for row in original.execute(f'SELECT {_named(columns)} FROM "{table}"'):
                    copy.write_row(row)
        last = dict(original.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
        for table, sequence in target.execute(_NUMBERED).fetchall():
            number = last.get(table, 0)
            target.execute("SELECT setval(%s::regclass, %s, %s)", (
                f'"{sequence}"', max(number, 1), number > 0
            ))  # fmt: skip


def _up_to_date(source: Path, scratch: Path) -> Path:
    """A copy of that file with the tables of this version."""
    copy = Places(scratch / "home", scratch / "vault", Ports())
    copy.home.mkdir()
    shutil.copyfile(source, copy.database)
    make_tables(copy)
    return copy.database


def _columns_of_sqlite(database: sqlite3.Connection) -> Columns:
    found = database.execute(
        "SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c"
        " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.name"
    )
    return _by_table(found)


def _columns_of_postgres(database: Connection[tuple[Any, ...]]) -> Columns:
    found = database.execute(
        "SELECT table_name, column_name FROM information_schema.columns"
        " JOIN information_schema.tables USING (table_schema, table_name)"
        " WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
        ' ORDER BY table_name COLLATE "C", column_name COLLATE "C"'
    )
    return _by_table(found)


def _by_table(found: Iterable[tuple[Any, ...]]) -> Columns:
    tables: Columns = {}
    for table, column in found:
        tables.setdefault(table, []).append(column)
    return tables


def _compare(one: Columns, other: Columns) -> None:
    if one != other:
        names = sorted(table for table in one | other if one.get(table) != other.get(table))
        raise KeepsakeError(
            f"The tables of the two databases differ ({', '.join(names)})",
            "Start the world once, which brings its tables up to date, and use a database with "
            "nothing else in it",
        )


def _named(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
