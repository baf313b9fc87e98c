"""Whether somebody has played in the world of a simulation since its last checkpoint.

It is a world like any other, and may be started as one. But then it has lived at the hours of
this machine: lived on as a simulation, its time would run backwards.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from game.lab.simulations import checkpoints
from game.lab.simulations.plan import HOUR, Lab
from game.mind.errors import KeepsakeError
from game.mind.events.reader import newest_first, newest_number
from game.mind.json_lines import Record

_LOCK = ".lock"
"""In the folder of the event log: held by the one process that writes it."""
_LEEWAY = timedelta(seconds=1)
"""What belongs to the last moment of an hour may be logged just behind it."""


@dataclass(frozen=True, slots=True)
class Played:
    """What was played."""

    seq: int  # number of the last event of the simulation itself
    newest: str  # when the last event was


def refuse_if_played(lab: Lab) -> None:
    """See that the world is as the simulation left it; blocks.

    Raises:
        KeepsakeError: It is not, or its event log cannot be read.
    """
    if (played := played_since(lab)) is None:
        return
    name = lab.folder.name
    back = (
        f", or throw away what was played: keepsake simulate --resume {name} --back"
        if checkpoints.there(lab)
        else ""
    )
    raise KeepsakeError(
        f"Somebody has played in the world of {name!r} since it was simulated, last at "
        f"{played.newest}: its time would run backwards",
        f"Go on in a copy from before that: keepsake fork --lab {name} {name}-2 --at {played.seq}, "
        f"then keepsake simulate --resume {name}-2{back}",
    )


def refuse_if_running(lab: Lab) -> None:
    """See that the game does not run in the world of a simulation that nobody lives.

    Raises:
        KeepsakeError: It does.
    """
    try:
        descriptor = os.open(lab.places().events / _LOCK, os.O_RDWR)
    except OSError:
        return  # no log yet, or one that cannot be written: whoever writes it says so
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise KeepsakeError(
            f"The game runs in the world of the simulation {lab.folder.name!r}",
            f"Stop it first: KEEPSAKE_HOME={lab.home} KEEPSAKE_VAULT={lab.vault} keepsake stop",
        ) from error
    finally:
        os.close(descriptor)


def played_since(lab: Lab) -> Played | None:
    """What was played since the last checkpoint; None for nothing.

    Raises:
        KeepsakeError: The event log cannot be read.
    """
    try:
        kept = checkpoints.newest(lab)
        seq = 0 if kept is None else newest_number(kept.places().events)
        # Of an hour that was broken off, and of a fork, only the times tell who has lived it.
        if kept is None or lab.unsettled.exists():
            return _strange(lab, kept or lab, seq)
        newest = next(_since(lab, seq), None)
        return Played(seq, _short(newest)) if newest else None
    except OSError as error:
        raise KeepsakeError(
            f"The event log {lab.places().events} cannot be read ({error.strerror or error})",
            "Look at who may read it",
        ) from error


def _strange(lab: Lab, kept: Lab, seq: int) -> Played | None:
    """What was logged at a time that is none of the hour in which the simulation stopped."""
    plan, lived = lab.plan(), kept.lived()
    first = plan.begins if kept is lab else plan.moment(lived)
    # A fork has lived up to its point, and nothing of what follows.
    last = plan.moment((lived // HOUR + 1) * HOUR if lab.unsettled.exists() else lived)
    newest, own = "", seq
    for record in _since(lab, seq):
        if first - _LEEWAY <= _moment(record) <= last + _LEEWAY:
            own = int(record["seq"])
            break
        newest = newest or _short(record)
    return Played(own, newest) if newest else None


def _since(lab: Lab, seq: int) -> Iterator[Record]:
    """The events behind that number, the newest first."""
    return takewhile(lambda record: record["seq"] > seq, newest_first(lab.places().events))


def _moment(record: Record) -> datetime:
    return datetime.fromisoformat(str(record["t"]))


def _short(record: Record) -> str:
    return _moment(record).isoformat(timespec="seconds")
