"""The form of what vault and database hold: an older one is brought up to date, a newer refused.

The vault has its number in ``agents/.format``, SQLite's file as its ``user_version``, PostgreSQL as
a comment on a table of Evennia's. What carries none is of form 1, the first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from game.server import databases
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import Places

FIRST = 1
MARK = ".format"

_MARKED = "Keepsake's form "
_READ_MARK = "SELECT obj_description(to_regclass('server_serverconfig'))"
_WRITE_MARK = """
DO $$ BEGIN
    IF to_regclass('server_serverconfig') IS NOT NULL THEN
        COMMENT ON TABLE server_serverconfig IS 'Keepsake''s form {:d}';
    END IF;
END $$
"""

type Upgrade = Callable[[Places], None]
"""Brings vault and database from one form to the next; done twice it does no harm."""

UPGRADES: tuple[Upgrade, ...] = ()
"""The first brings form 1 to 2, the second 2 to 3 …; none is needed yet."""


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


def of_database(here: Places) -> int:
    """The form of the database.

    Raises:
        KeepsakeError: It cannot be read.
    """
    if here.database_url:
        with databases.connected(here) as connection:
            said = connection.execute(_READ_MARK).fetchone()
        number = str(said and said[0]).removeprefix(_MARKED)
        return int(number) if number.isdecimal() else FIRST
    path = here.database
    if not path.exists():
        return FIRST
    cure = "Bring a backup back: `keepsake restore FILE --replace`"
    with (
        refusing(f"The database {path} cannot be read", cure, sqlite3.Error),
        closing(sqlite3.connect(path, timeout=30)) as database,
    ):
        return max(int(database.execute("PRAGMA user_version").fetchone()[0]), FIRST)


def damage(path: Path) -> str:
    """What SQLite finds wrong with a database; empty for nothing."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            found = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else found


def current(upgrades: Sequence[Upgrade] = UPGRADES) -> int:
    """The form that this code writes."""
    return FIRST + len(upgrades)


def bring_up_to_date(
    here: Places,
    say: Callable[[str], None],
    keep: Callable[[Places, Path], object],
    upgrades: Sequence[Upgrade] = UPGRADES,
) -> None:
    """Upgrade vault and database where they are older, after ``keep`` has made a backup of both.

    Raises:
        KeepsakeError: One of them is newer than this code, or the backup failed; nothing was
            changed.
    """
    found = {str(here.vault): of_vault(here), databases.shown(here): of_database(here)}
    for what, number in found.items():
        refuse_newer(number, what, upgrades)
    oldest = min(found.values())
    if oldest < current(upgrades):
        say("Keeping a backup of the world as it is")
        kept = here.home / "backups" / f"before-format-{current(upgrades)}.tar.gz"
        if not kept.exists():  # killed on the way, it holds what there was before
            keep(here, kept)
        say(f"Upgrading vault and database from form {oldest} to {current(upgrades)}")
        for upgrade in upgrades[oldest - FIRST :]:
            upgrade(here)
    mark(here, upgrades)


def refuse_newer(number: int, what: str, upgrades: Sequence[Upgrade] = UPGRADES) -> None:
    """Raise where ``what`` was written by a later version.

    Raises:
        KeepsakeError: It was.
    """
    if number > current(upgrades):
        raise KeepsakeError(
            f"{what} has form {number}, and this Keepsake knows forms up to {current(upgrades)}",
            "Start it with the version of Keepsake that wrote it, or a later one",
        )


def mark(here: Places, upgrades: Sequence[Upgrade] = UPGRADES) -> None:
    """Write down that vault and database have the current form.

    Raises:
        KeepsakeError: One of them cannot be written.
    """
    number, path = current(upgrades), mark_of(here)
    cure = "Free some disk space or mend the permissions"
    with refusing("The form of vault and database could not be written down", cure, sqlite3.Error):
        if of_vault(here) != number or not path.exists():
            path.write_text(f"{number}\n", encoding="ascii")
        if here.database_url:
            with databases.connected(here) as connection:
                connection.execute(_WRITE_MARK.format(number).encode())
        elif here.database.exists() and of_database(here) != number:
            with closing(sqlite3.connect(here.database, timeout=30)) as database:
                database.execute(f"PRAGMA user_version = {number:d}")
