"""A copy of a world's database, taken while it may be running, with its agents moved back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from game.server import databases
from keepsake.errors import KeepsakeError
from keepsake.paths import Places

_AGENT, _ROOM = "typeclasses.agents.Agent", "typeclasses.rooms.Room"
_SLEEP = ("asleep", "fell_asleep")
"""What the database has of an agent that sleeps."""
_FORGOTTEN = (
    "DELETE FROM django_session",
    "UPDATE objects_objectdb SET db_sessid = NULL",
    "UPDATE accounts_accountdb SET db_is_connected = 0",
)
"""Who is logged in, which nobody is in the copy."""


@dataclass(frozen=True, slots=True)
class AgentPlacement:
    """Where an agent is to be in the copy."""

    place: str  # the name of the room; empty to leave it where it is
    asleep: bool  # whether it slept


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of the agents in a copied database."""

    # agents that stand somewhere else than in the original, with the place
    moved: tuple[tuple[str, str], ...] = ()
    lost: tuple[str, ...] = ()  # agents whose place is not there any more, or is there twice
    woken: tuple[str, ...] = ()  # agents that sleep in the original and did not then


def copy_database(here: Places, target: Path, wanted: Mapping[str, AgentPlacement]) -> Placed:
    """Copy the database as of this moment into SQLite's, and put the agents where they were.

    Raises:
        KeepsakeError: The database cannot be read, or the copy cannot be written.
    """
    if here.database_url:
        raise KeepsakeError("A world on PostgreSQL cannot be forked", "Restore a backup elsewhere")
    try:
        with closing(sqlite3.connect(target)) as copy:
            _back_up(here.database, copy)
            with copy:
                for statement in _FORGOTTEN:
                    copy.execute(statement)
                return _placed(copy, wanted)
    except sqlite3.Error as error:
        raise KeepsakeError(
            f"The database {databases.shown(here)} could not be copied ({error})",
            "Look at the disk space; or stop the world and try again",
        ) from error


def _back_up(source: Path, copy: sqlite3.Connection) -> None:
    with _reading(source) as original:
        original.backup(copy)


@contextmanager
def _reading(source: Path) -> Iterator[sqlite3.Connection]:
    """The database, opened so that nothing is written beside it either."""
    # Where nobody has it open there is no log beside it, and a reader must not make one.
    still = not source.with_name(f"{source.name}-wal").exists()
    options = "mode=ro&immutable=1" if still else "mode=ro"
    connection = sqlite3.connect(f"{source.absolute().as_uri()}?{options}", uri=True, timeout=30)
    with closing(connection):
        yield connection
    if still and source.with_name(f"{source.name}-wal").exists():
        raise KeepsakeError(
            "The world was started while its database was copied", "Fork it once more"
        )


def _placed(copy: sqlite3.Connection, wanted: Mapping[str, AgentPlacement]) -> Placed:
    rooms = _rooms(copy)
    moved: list[tuple[str, str]] = []
    lost: list[str] = []
    woken: list[str] = []
    select = "SELECT id, db_key, db_location_id FROM objects_objectdb WHERE db_typeclass_path = ?"
    for number, name, location in copy.execute(select, (_AGENT,)).fetchall():
        there = wanted.get(name)
        if there is None:
            continue
        if not there.asleep and _wake(copy, number):
            woken.append(name)
        found = rooms.get(there.place, [])
        if there.place and len(found) != 1:
            lost.append(name)
        elif found and found[0] != location:
            move = "UPDATE objects_objectdb SET db_location_id = ? WHERE id = ?"
            copy.execute(move, (found[0], number))
            moved.append((name, there.place))
    return Placed(tuple(sorted(moved)), tuple(sorted(lost)), tuple(sorted(woken)))


def _rooms(copy: sqlite3.Connection) -> dict[str, list[int]]:
    rooms: dict[str, list[int]] = {}
    select = "SELECT id, db_key FROM objects_objectdb WHERE db_typeclass_path = ?"
    for number, name in copy.execute(select, (_ROOM,)):
        rooms.setdefault(str(name), []).append(int(number))
    return rooms


def _wake(copy: sqlite3.Connection, number: int) -> bool:
    """Take away that an agent sleeps; whether it did."""
    found = copy.execute(
        "SELECT a.id FROM typeclasses_attribute a JOIN objects_objectdb_db_attributes o"
        " ON o.attribute_id = a.id WHERE o.objectdb_id = ? AND a.db_key IN (?, ?)",
        (number, *_SLEEP),
    ).fetchall()
    for (attribute,) in found:
        copy.execute(
            "DELETE FROM objects_objectdb_db_attributes WHERE attribute_id = ?", (attribute,)
        )
        copy.execute("DELETE FROM typeclasses_attribute WHERE id = ?", (attribute,))
    return bool(found)
