"""The process in which a simulated world lives: ``python -m game.lab.simulations.worker <folder>``.

It loads Evennia once and then lives each hour in a child of its own: so a simulation that is broken
off and resumed goes through the very same states as one that is not. Between two hours it takes a
checkpoint, and ends there when it has read a line on standard input.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from game.lab.simulations import checkpoints, world
from game.lab.simulations.plan import Lab, SimulationPlan
from game.lab.simulations.played import refuse_if_running
from game.lab.simulations.process import LOG, asked_to_stop, in_child, tell, work_in
from keepsake.errors import KeepsakeError, refusing

LOCK = ".lock"


def _live(lab: Lab) -> None:
    with _alone(lab):
        _simulate(lab, lab.plan())


def _simulate(lab: Lab, plan: SimulationPlan) -> None:
    refuse_if_running(lab)
    if lab.unsettled.exists():
        tell({"op": "going back"})
        checkpoints.go_back(lab)
        checkpoints.settle(lab)
    tell({"op": "setting up"})
    world.set_up()
    if not lab.made:
        checkpoints.begin(lab)
        tell({"op": "making"})
        _in_child(lab, lambda: world.make(lab, plan))
        checkpoints.take(lab)
    elif not checkpoints.newest(lab):  # removed to have the room
        checkpoints.take(lab)
    stop = False
    while lab.lived() < plan.seconds and not stop:
        checkpoints.begin(lab)
        checkpoints.keep_config(lab)
        _in_child(lab, lambda: world.live_on(lab, plan, lambda at: tell({"op": "at", **at})))
        checkpoints.take(lab)
        tell({"op": "checkpoint", "seconds": lab.lived()})
        stop = asked_to_stop()
    checkpoints.settle(lab)
    tell({"op": "over", "seconds": lab.lived()})


def _in_child(lab: Lab, work: Callable[[], None]) -> None:
    """Do it in a child process."""

    def worked() -> None:
        try:
            work()
        except Exception as error:
            if not _is_full(error):
                raise
            with suppress(OSError):  # the disk may be too full for that as well
                traceback.print_exc()
            cure = f"Free some disk space, then go on: {lab.resume}"
            raise KeepsakeError(f"The simulation broke off ({error})", cure) from error

    def broke(by: str) -> KeepsakeError:
        cure = f"See {lab.folder / LOG}; `{lab.resume}` goes on at the last checkpoint"
        return KeepsakeError(f"The process of the world ended by {by}", cure)

    in_child(worked, broke)


def _is_full(error: BaseException) -> bool:
    """Whether there was no room on the disk, whoever says so: the system, or SQLite."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    reason = error.__cause__ or error  # Django wraps what SQLite raises
    return isinstance(reason, sqlite3.Error) and "disk is full" in str(reason)


@contextmanager
def _alone(lab: Lab) -> Iterator[None]:
    """Hold the simulation; the hour that is lived holds it too."""
    cure = "Run it as the user who made it, or mend the permissions"
    with refusing(f"{lab.folder / LOCK} could not be opened", cure):
        descriptor = os.open(lab.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise KeepsakeError(
            f"The simulation {lab.folder.name!r} is running already", "Wait for it, or end it"
        ) from error
    try:
        yield
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    work_in(_live)
