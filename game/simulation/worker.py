"""The process of a simulated world: ``python -m game.simulation.worker <folder>``.

It builds the world if there is none, plays it to the end of the plan, and reports on standard
output, one JSON object a line. SIGTERM ends it at the next moment. When nobody reads its reports
any more, it ends too.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path

from keepsake import vault_lock
from keepsake.errors import KeepsakeError
from keepsake.lab.simulate import OVER, REFUSED
from keepsake.lab.simulation import Lab


def main() -> None:
    """Run the simulation in the folder that the command line names."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it decides what Ctrl-C means
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    lab = Lab(Path(sys.argv[1]))
    try:
        lab.places.agents.mkdir(exist_ok=True)
        with vault_lock.take(lab.places, patience=0):  # or another run, or the game, is at work
            _play(lab, stop)
    except KeepsakeError as error:
        _report(REFUSED, what=error.what, cure=error.cure)
        sys.exit(1)


def _play(lab: Lab, stop: threading.Event) -> None:
    # Evennia's empty tables take long to make, and are alike in all simulations.
    database, empty = lab.places.database, lab.folder.parent / ".empty.db3"
    if not lab.made:  # what there is was broken off while it was made
        shutil.rmtree(lab.places.home, ignore_errors=True)
        for left in lab.places.agents.glob("[!.]*"):
            shutil.rmtree(left)
        lab.places.logs.mkdir(parents=True)
        if empty.exists():
            shutil.copyfile(empty, database)
    _report("setting up")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Evennia's own modules warn while they are imported
        import django  # noqa: PLC0415 - only after the environment is set

        django.setup()
        import evennia  # noqa: PLC0415

        evennia._init()
        gc.freeze()
        from game.simulation import living  # noqa: PLC0415 - needs Evennia to be set up

        if not lab.made:
            _report("making")
            from django.core.management import call_command  # noqa: PLC0415 - needs the settings
            from django.db import connections  # noqa: PLC0415 - the same

            call_command("migrate", verbosity=0, interactive=False)
            connections.close_all()  # so that all is in one file
            if not empty.exists():
                part = empty.with_suffix(f".{os.getpid()}.part")
                shutil.copyfile(database, part)
                part.rename(empty)
    if not lab.made:
        living.build(lab.plan())
        lab.write_lived(0.0)
    life = living.SimulatedLife(lab, lambda seconds, counts: _report("at", seconds, counts), stop)
    life.play()
    _report(OVER, lab.lived(), life.counts)


def _report(
    op: str, seconds: float = 0.0, counts: Mapping[str, int] | None = None, **more: str
) -> None:
    try:
        told = {"op": op, "seconds": seconds, "counts": dict(counts or {}), **more}
        print(json.dumps(told), flush=True)
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    main()
