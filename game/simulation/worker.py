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
from functools import partial
from pathlib import Path

from keepsake import vault_lock
from keepsake.errors import KeepsakeError
from keepsake.lab.simulations.plan import Lab
from keepsake.lab.simulations.simulate import OVER, REFUSED


def main() -> None:
    """Run the simulation in the folder that the command line names."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it decides what Ctrl-C means
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    lab = Lab(Path(sys.argv[1]))
    try:
        agents = lab.places().agents
        agents.mkdir(exist_ok=True)
        with vault_lock.take(lab.places(), patience=0):  # or another run, or the game, is at work
            _play(lab, stop)
    except KeepsakeError as error:
        _tell({"op": REFUSED, "what": error.what, "cure": error.cure})
        sys.exit(1)


def _play(lab: Lab, stop: threading.Event) -> None:
    plan, database = lab.plan(), lab.places().database
    # Those of an earlier simulation serve, as all are alike when empty.
    empty = lab.folder.parent / ".empty.db3"
    if not lab.made:  # what there is was broken off while it was made
        shutil.rmtree(lab.home, ignore_errors=True)
        for left in lab.places().agents.glob("[!.]*"):
            shutil.rmtree(left)
        (lab.home / "logs").mkdir(parents=True)
        if empty.exists():
            shutil.copyfile(empty, database)
    _report("setting up")
    set_up()
    from game.simulation import living  # noqa: PLC0415 - needs Evennia to be set up

    if not lab.made:
        _report("making")
        _migrate()
        if not empty.exists():
            part = empty.with_suffix(f".{os.getpid()}.part")
            shutil.copyfile(database, part)
            part.rename(empty)
        living.build(plan)
        lab.write_lived(0.0, {})
    life = living.SimulatedLife(lab, plan, partial(_report, "at"), stop)
    life.play()
    _report(OVER, lab.lived(), life.counts)


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


def _migrate() -> None:
    """Make Evennia's tables, or bring them up to date; all is in one file afterwards."""
    from django.core.management import call_command  # noqa: PLC0415 - needs the settings
    from django.db import connections  # noqa: PLC0415 - the same

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Evennia's old migrations
        call_command("migrate", verbosity=0, interactive=False)
    connections.close_all()


def _report(op: str, seconds: float = 0.0, counts: Mapping[str, int] | None = None) -> None:
    _tell({"op": op, "seconds": seconds, "counts": dict(counts or {})})


def _tell(what: Mapping[str, object]) -> None:
    try:
        print(json.dumps(what), flush=True)
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    main()
