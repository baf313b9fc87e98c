"""The process of a simulated world: ``python -m game.simulation.worker <folder>``.

It builds the world if there is none, plays it to the end of the plan, and reports on standard
output, one JSON object a line. SIGTERM ends it at the next moment. When nobody reads its reports
any more, it ends too.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import shutil
import signal
import sqlite3
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
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
        _tell({"op": REFUSED, "what": error.what, "cure": error.cure})
        sys.exit(1)


def _play(lab: Lab, stop: threading.Event) -> None:
    plan = lab.plan()
    if not lab.made:  # what there is was broken off while it was made
        shutil.rmtree(lab.home, ignore_errors=True)
        shutil.rmtree(lab.vault / "agents", ignore_errors=True)
        (lab.home / "logs").mkdir(parents=True)
    _report("setting up")
    set_up()
    from game.simulation import living  # noqa: PLC0415 - needs Evennia to be set up

    if not lab.made:
        _report("making")
        _make_tables(lab)
        living.build(plan)
        lab.write_lived(0.0, {})
    life = living.SimulatedLife(lab, plan, partial(_report, "at"), stop)
    life.play()
    _report(OVER, lab.lived(), life.counts())


def set_up() -> None:
    """Load Django and Evennia with the settings that the environment names; once a process."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "game.server.conf.settings")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Evennia's own modules warn while they are imported
        import django  # noqa: PLC0415 - only after the environment is set

        django.setup()
        import evennia  # noqa: PLC0415

        evennia._init()
    gc.freeze()


def _make_tables(lab: Lab) -> None:
    """Evennia's tables; those of an earlier simulation serve, as they are all alike when empty."""
    import evennia  # noqa: PLC0415 - slow to import
    from django.core.management import call_command  # noqa: PLC0415 - needs the settings
    from django.db import connections  # noqa: PLC0415 - the same

    connections.close_all()
    database = lab.places().database
    empty = lab.folder.parent / f".empty-{evennia.__version__}.db3"
    if empty.exists():
        for left in database.parent.glob(f"{database.name}*"):  # as Evennia was loaded
            left.unlink()
        shutil.copyfile(empty, database)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Evennia's old migrations
        call_command("migrate", verbosity=0, interactive=False)
    connections.close_all()
    part = empty.with_suffix(f".{os.getpid()}.part")
    with closing(sqlite3.connect(database)) as here, closing(sqlite3.connect(part)) as there:
        here.backup(there)
    part.rename(empty)


def _report(op: str, seconds: float = 0.0, counts: Mapping[str, int] | None = None) -> None:
    _tell({"op": op, "seconds": seconds, "counts": dict(counts or {})})


def _tell(what: Mapping[str, object]) -> None:
    try:
        print(json.dumps(what), flush=True)
    except BrokenPipeError:
        os._exit(1)


@contextmanager
def _alone(lab: Lab) -> Iterator[None]:
    """Hold the simulation; refuse where another run, or the game, is at work in its world."""
    name = lab.folder.name
    with refusing(f"{lab.folder / _LOCK} could not be opened", "Mend the permissions"):
        own = (lab.folder / _LOCK).open("w")
    with own:
        _claim(own.fileno(), f"The simulation {name!r} is running already", "Wait for it")
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
