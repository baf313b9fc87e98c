"""The form of what vault and database hold: an older one is brought up to date, a newer refused.

Both carry a number, see :mod:`.form_marks`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing

from game.cli.world import backup
from game.cli.world.form_marks import FIRST, mark_of, of_database, of_vault
from game.mind.errors import KeepsakeError
from game.paths import Places

type Upgrade = Callable[[Places], None]
"""Brings vault and database from one form to the next; done twice it does no harm."""

UPGRADES: tuple[Upgrade, ...] = ()
"""The first brings form 1 to 2, the second 2 to 3 …; none is needed yet."""


def current(upgrades: Sequence[Upgrade] = UPGRADES) -> int:
    """The form that this code writes."""
    return FIRST + len(upgrades)


def bring_up_to_date(
    here: Places, say: Callable[[str], None], upgrades: Sequence[Upgrade] = UPGRADES
) -> None:
    """Upgrade vault and database where they are older, after a backup of both.

    Raises:
        KeepsakeError: One of them is newer than this code, or the backup failed; nothing was
            changed.
    """
    found = {here.vault: of_vault(here), here.database: of_database(here.database)}
    for path, number in found.items():
        refuse_newer(number, str(path), upgrades)
    oldest = min(found.values())
    if oldest < current(upgrades):
        say("Keeping a backup of the world as it is")
        kept = here.home / "backups" / f"before-format-{current(upgrades)}.tar.gz"
        if not kept.exists():  # killed on the way, it holds what there was before
            backup.of_stopped(here, kept)
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
    try:
        if of_vault(here) != number or not path.exists():
            path.write_text(f"{number}\n", encoding="ascii")
        if here.database.exists() and of_database(here.database) != number:
            with closing(sqlite3.connect(here.database, timeout=30)) as database:
                database.execute(f"PRAGMA user_version = {number:d}")
    except (OSError, sqlite3.Error) as error:
        raise KeepsakeError(
            f"The form of vault and database could not be written down ({error})",
            "Free some disk space or mend the permissions",
        ) from error
