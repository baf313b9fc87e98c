"""The process of a simulated world: ``python -m game.simulation.worker <folder>``.

It builds the world if there is none, plays it to the end of the plan, and reports on standard
output, one JSON object a line. SIGTERM ends it at the next moment. When nobody reads its reports
any more, it ends too.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import signal
import sqlite3
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.simulations.plan import Lab
from keepsake.lab.simulations.simulate import OVER, REFUSED

_LOCK = ".lock"
"""In the simulation's folder, and in that of the event log: held by the process that writes."""


def main() -> None:
    """Run the simulation in the folder that the command line names."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it decides what Ctrl-C means
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    lab = Lab(Path(sys.argv[1]))
    try:
        with _alone(lab):
            _play(lab, stop)
    except KeepsakeError as error:
        _refuse(error)
    except Exception as error:
        if not _is_full(error):
            raise
        with suppress(OSError):  # the disk may be too full for that as well
            traceback.print_exc()
        cure = f"Free some disk space, then go on: {lab.resume}"
        _refuse(KeepsakeError(f"The simulation broke off ({error})", cure))


def _play(lab: Lab, stop: threading.Event) -> None:
    plan = lab.plan()
    if not lab.made:  # what there is was broken off while it was made
        shutil.rmtree(lab.home, ignore_errors=True)
        shutil.rmtree(lab.vault / "agents", ignore_errors=True)
        (lab.home / "logs").mkdir(parents=True)
    _report("setting up")
    from game.simulation import tables  # noqa: PLC0415 - here nothing is loaded for a refusal

    tables.set_up()
    from game.simulation import living  # noqa: PLC0415 - needs Evennia to be set up

    if not lab.made:
        _report("making")
        tables.make_tables(lab)
        living.build(plan)
        lab.write_lived(0.0, {})
    life = living.SimulatedLife(lab, plan, partial(_report, "at"), stop)
    life.play()
    _report(OVER, lab.lived(), life.counts())


def _report(op: str, seconds: float = 0.0, counts: Mapping[str, int] | None = None) -> None:
    _tell({"op": op, "seconds": seconds, "counts": dict(counts or {})})


def _refuse(error: KeepsakeError) -> None:
    _tell({"op": REFUSED, "what": error.what, "cure": error.cure})
    sys.exit(1)


def _tell(what: Mapping[str, object]) -> None:
    try:
        print(json.dumps(what), flush=True)
    except BrokenPipeError:
        os._exit(1)


def _is_full(error: BaseException) -> bool:
    """Whether there was no room on the disk: the system says so, or SQLite through Django."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    reason = error.__cause__ or error
    return isinstance(reason, sqlite3.Error) and "disk is full" in str(reason)


@contextmanager
def _alone(lab: Lab) -> Iterator[None]:
    """Hold the simulation; refuse where another run, or the game, is at work in its world."""
    name = lab.folder.name
    with refusing(f"{lab.folder / _LOCK} could not be opened", "Mend the permissions"):
        own = os.open(lab.folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(own):
        _claim(own, f"The simulation {name!r} is running already", "Wait for it, or end it")
        environ = f"KEEPSAKE_HOME={lab.home} KEEPSAKE_VAULT={lab.vault}"
        with suppress(OSError), (lab.places().events / _LOCK).open("r+") as of_log:
            _claim(
                of_log.fileno(),
                f"The game runs in the world of the simulation {name!r}",
                f"Stop it first: {environ} keepsake stop",
            )
        yield


def _claim(descriptor: int, what: str, cure: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise KeepsakeError(what, cure) from error


if __name__ == "__main__":
    main()
