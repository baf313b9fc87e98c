"""Whether somebody has played in the world of a simulation since its last checkpoint.

It is a world like any other, and may be started as one. But then it has lived at the hours of
this machine: lived on as a simulation, its time would run backwards.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import takewhile

from game.lab.refusing import refusing
from game.lab.simulations import checkpoints
from game.lab.simulations.plan import HOUR, Lab
from game.mind.errors import KeepsakeError
from game.mind.events.reader import newest_first, newest_number
from game.mind.json_lines import Record

_LOCK = ".lock"
"""In the folder of the event log: held by the one process that writes it."""
_LEEWAY = timedelta(seconds=1)
"""What belongs to the last moment of an hour may be logged just behind it."""


def refuse_if_played(lab: Lab) -> None:
    """See that the world is as the simulation left it; blocks.

    Raises:
        KeepsakeError: It is not, or its event log cannot be read.
    """
    with refusing(f"The event log {lab.places().events} cannot be read", "Look at who may read it"):
        seq, newest = _played_since(lab)
    if not newest:
        return
    name = lab.folder.name
    back = f", or throw away what was played: {lab.resume} --back" if checkpoints.there(lab) else ""
    raise KeepsakeError(
        f"Somebody has played in the world of {name!r} since it was simulated, last at "
        f"{newest}: its time would run backwards",
        f"Go on in a copy from before that: keepsake fork --lab {name} {name}-2 --at {seq}, "
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


def _played_since(lab: Lab) -> tuple[int, str]:
    """The last event of the simulation itself, and when the last one was that it did not make."""
    kept = checkpoints.newest(lab)
    seq = 0 if kept is None else newest_number(kept.places().events)
    # Of an hour that was broken off, and of a fork, only the times tell who has lived it.
    if kept is not None and not lab.unsettled.exists():
        return seq, next(map(_short, _since(lab, seq)), "")
    plan, lived = lab.plan(), (kept or lab).lived()
    first = plan.moment(lived) if kept else plan.begins
    # A fork has lived up to its point, and nothing of what follows.
    last = plan.moment((lived // HOUR + 1) * HOUR if lab.unsettled.exists() else lived)
    newest = ""
    for record in _since(lab, seq):
        if first - _LEEWAY <= _moment(record) <= last + _LEEWAY:
            return int(record["seq"]), newest
        newest = newest or _short(record)
    return seq, newest


def _since(lab: Lab, seq: int) -> Iterator[Record]:
    """The events behind that number, the newest first."""
    return takewhile(lambda record: record["seq"] > seq, newest_first(lab.places().events))


def _moment(record: Record) -> datetime:
    return datetime.fromisoformat(str(record["t"]))


def _short(record: Record) -> str:
    return _moment(record).isoformat(timespec="seconds")
