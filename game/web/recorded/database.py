"""Who and what is in a world's database, read from a copy of it: the world may be written now."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from game.web.api.lives import Grounds, WayOut
from keepsake.errors import KeepsakeError

_AGENT, _ROOM = "typeclasses.agents.Agent", "typeclasses.rooms.Room"
_TRIES = 3
_PAUSE = 0.2
"""Seconds between two tries: a copy may be taken amid a checkpoint of SQLite's."""


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of a world that the pages speak of."""

    agents: tuple[tuple[int, str, str], ...]  # database number, name, room
    grounds: Grounds


def read_objects(database: Path, scratch: Path) -> Objects:
    """The agents, rooms and exits; nothing is written beside the database itself.

    Raises:
        KeepsakeError: There is no such world, or its database cannot be read.
    """
    for left in reversed(range(_TRIES)):
        try:
            return _read(_copied(database, scratch))
        except (OSError, sqlite3.Error) as error:
            if not left or isinstance(error, FileNotFoundError):
                cure = "Name a simulation that has begun, or the folder of a world"
                raise KeepsakeError(f"{database} cannot be read ({error})", cure) from error
            time.sleep(_PAUSE)
    raise AssertionError


def _copied(database: Path, scratch: Path) -> Path:
    """A copy, with what stands beside it and is not folded into it yet."""
    copy = scratch / database.name
    for suffix in ("", "-wal"):
        source, target = (each.with_name(each.name + suffix) for each in (database, copy))
        target.unlink(missing_ok=True)
        if not suffix or source.exists():
            shutil.copyfile(source, target)
    copy.with_name(f"{copy.name}-shm").unlink(missing_ok=True)
    return copy


def _read(copy: Path) -> Objects:
    with closing(sqlite3.connect(copy)) as connection:
        rooms = dict(_rows(connection, "id, db_key", "db_typeclass_path = ?", _ROOM))
        agents = _rows(connection, "id, db_key, db_location_id", "db_typeclass_path = ?", _AGENT)
        what = "db_key, db_location_id, db_destination_id"
        where = "db_destination_id IS NOT NULL AND db_location_id IS NOT NULL"
        ways = _rows(connection, what, where)
    return Objects(
        tuple((number, name, rooms.get(room, "")) for number, name, room in agents),
        Grounds(tuple(rooms.items()), tuple(WayOut(*each) for each in ways)),
    )


def _rows(
    connection: sqlite3.Connection, what: str, where: str, *given: str
) -> Sequence[tuple[Any, ...]]:
    return connection.execute(
        f"SELECT {what} FROM objects_objectdb WHERE {where}", given
    ).fetchall()
