"""The process of a simulated world: ``python -m game.simulation.worker <folder>``.

It builds the world if there is none, runs it to the end of the plan, and prints progress. Ctrl-C or
SIGTERM ends it after the current moment, a second one at once. Its exit code is 0 if the plan was
completed and a thought was answered.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

from game.simulation.plan import LOG, Lab
from keepsake import vault_lock
from keepsake.errors import KeepsakeError


def main() -> None:
    """Run the simulation in the folder that the command line names."""
    lab = Lab(Path(sys.argv[1]))
    stop = threading.Event()
    terminal = os.dup(1)
    errors = os.dup(2)
    log = os.open(lab.folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for written in (1, 2):  # the output of libraries goes to the log
        os.dup2(log, written)

    def say(text: str, to: int = terminal) -> None:
        os.write(to, f"{text}\n".encode())

    def end(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop.set()
        say("Stopping after the current moment. Ctrl-C again ends it at once.")

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    try:
        with vault_lock.take(lab.places, patience=0):  # fails if another process uses the vault
            sys.exit(0 if _play(lab, say, stop) else 1)
    except KeepsakeError as error:
        say(str(error), errors)
    except Exception as error:  # any bug: the log gets its traceback
        traceback.print_exc()
        say(f"The simulation failed: {error!r}. See {lab.folder / LOG}; {lab.resume}", errors)
    sys.exit(1)


def _play(lab: Lab, say: Callable[[str], None], stop: threading.Event) -> bool:
    """Build the world if there is none, and run it; see :meth:`Simulation.play`."""
    # Evennia's empty tables take long to make, and are the same in all simulations.
    is_built = lab.is_built
    database = lab.places.database
    empty = lab.folder.parent / ".empty.db3"
    if not is_built:  # delete what an interrupted build has left
        shutil.rmtree(lab.places.home, ignore_errors=True)
        for left in lab.places.agents.glob("[!.]*"):
            shutil.rmtree(left)
        lab.places.logs.mkdir(parents=True)
        if empty.exists():
            shutil.copyfile(empty, database)
    say(f"{lab.folder.name}: loading the world")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Evennia's own modules warn while they are imported
        import django  # noqa: PLC0415 - only after the environment is set

        django.setup()
        import evennia  # noqa: PLC0415 - needs Django

        evennia._init()
        gc.freeze()
        from game.simulation import run  # noqa: PLC0415 - needs Evennia to be set up

    if not is_built:
        say(f"{lab.folder.name}: building the world")
        from django.core.management import call_command  # noqa: PLC0415 - needs settings
        from django.db import connections  # noqa: PLC0415 - needs settings

        call_command("migrate", verbosity=0, interactive=False)
        connections.close_all()  # so that SQLite writes all into one file
        if not empty.exists():
            part = empty.with_suffix(f".{os.getpid()}.part")
            shutil.copyfile(database, part)
            part.rename(empty)
        run.build(lab.plan())
        lab.write_progress(0.0)
    return run.Simulation(lab, say, stop).play()


if __name__ == "__main__":
    main()
