"""The number that vault and database carry: in which form they were written.

The vault has it in ``agents/.format``, SQLite's file as its ``user_version``. What carries none
is of form 1, the first.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from game.mind.errors import KeepsakeError
from game.paths import Places

FIRST = 1
MARK = ".format"


def mark_of(here: Places) -> Path:
    """The file with the vault's number."""
    return here.agents / MARK


def of_vault(here: Places) -> int:
    """The form of the vault.

    Raises:
        KeepsakeError: Its number cannot be read.
    """
    path = mark_of(here)
    try:
        return int(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        return FIRST
    except (OSError, ValueError) as error:
        raise KeepsakeError(
            f"{path} cannot be read ({error})",
            "It holds the number of the vault's form; without the file that is 1",
        ) from error


def of_database(path: Path) -> int:
    """The form of the database.

    Raises:
        KeepsakeError: It cannot be read.
    """
    if not path.exists():
        return FIRST
    try:
        with closing(sqlite3.connect(path, timeout=30)) as database:
            return max(int(database.execute("PRAGMA user_version").fetchone()[0]), FIRST)
    except sqlite3.Error as error:
        raise KeepsakeError(
            f"The database {path} cannot be read ({error})",
            "Bring a backup back: `keepsake restore FILE --replace`",
        ) from error


def damage(path: Path) -> str:
    """What SQLite finds wrong with a database; empty for nothing."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            found = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else found
