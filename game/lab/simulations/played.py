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

from game.lab.simulations import checkpoints
from game.lab.simulations.plan import Lab
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.reader import newest_first, newest_number
from keepsake.json_lines import Record

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
        newest = _played_since(lab)
    if not newest:
        return
    name = lab.folder.name
    can_go_back = checkpoints.newest(lab) is not None
    back = f", or throw away what was played: {lab.resume} --back" if can_go_back else ""
    raise KeepsakeError(
        f"Somebody has played in the world of {name!r} since it was simulated, last at "
        f"{newest}: its time would run backwards",
        f"Go on in a copy from before that: keepsake fork --lab {name} {name}-2, "
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


def _played_since(lab: Lab) -> str:
    """When the last event was that the simulation itself did not make; empty if there is none."""
    kept = checkpoints.newest(lab)
    seq = 0 if kept is None else newest_number(kept.places().events)
    if kept is not None and not lab.unsettled.exists():
        return next(map(_short, _since(lab, seq)), "")
    # Of an hour that was broken off only the times tell who has lived it.
    plan, lived = lab.plan(), (kept or lab).lived()
    first, last = plan.moment(lived), plan.moment(plan.next_end(lived))
    newest = ""
    for record in _since(lab, seq):
        if first - _LEEWAY <= _moment(record) <= last + _LEEWAY:
            break
        newest = newest or _short(record)
    return newest


def _since(lab: Lab, seq: int) -> Iterator[Record]:
    """The events behind that number, the newest first."""
    return takewhile(lambda record: record["seq"] > seq, newest_first(lab.places().events))


def _moment(record: Record) -> datetime:
    return datetime.fromisoformat(str(record["t"]))


def _short(record: Record) -> str:
    return _moment(record).isoformat(timespec="seconds")
