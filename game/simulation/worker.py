"""The process of a simulated world: ``python -m game.simulation.worker <folder>``.

It builds the world if there is none, plays it to the end of the plan, and prints how far it is.
Ctrl-C or SIGTERM ends it at the next moment, the second one at once. Its exit code is 0 if the plan
is lived to its end, and somebody was answered.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

from game.simulation.plan import HOUR, LOG, Lab, moment
from keepsake import vault_lock
from keepsake.errors import KeepsakeError
from keepsake.events.files import last

LINE_SECONDS = 10.0
"""Real seconds between two lines."""
_ROWS = {
    "thoughts": "thoughts",
    "tokens": "tokens",
    "memories": "memories",
    "compactions": "compactions",
    "unanswered": "thoughts without an answer",
    "faults": "warnings and errors",
}


def main() -> None:
    """Run the simulation in the folder that the command line names."""
    lab, stop, terminal, errors = Lab(Path(sys.argv[1])), threading.Event(), os.dup(1), os.dup(2)
    log = os.open(lab.folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for written in (1, 2):  # what libraries print
        os.dup2(log, written)

    def say(text: str, to: int = terminal) -> None:
        try:
            os.write(to, f"{text}\n".encode())
        except BrokenPipeError:  # nobody reads it any more
            os._exit(1)

    def end(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop.set()
        say("It ends as soon as nobody is at work. Ctrl-C again ends it at once.")

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    try:
        lab.places.agents.mkdir(exist_ok=True)
        with vault_lock.take(lab.places, patience=0):  # or another run, or the game, is at work
            sys.exit(0 if _SimulationRun(lab, stop, say).well() else 1)
    except KeepsakeError as error:
        say(str(error), errors)
    except Exception as error:  # whatever broke: the log has all of it
        traceback.print_exc()
        say(f"The simulation broke off: {error!r}. See {lab.folder / LOG}; {lab.resume}", errors)
    sys.exit(1)


class _SimulationRun:
    """One run, as the terminal shows it."""

    def __init__(self, lab: Lab, stop: threading.Event, say: Callable[[str], None]) -> None:
        self._lab, self._stop, self._say = lab, stop, say
        self._began, self._said = time.monotonic(), 0.0

    def well(self) -> bool:
        """Play; whether the plan is lived to its end, and somebody was answered."""
        counts, lab, plan = self._play(), self._lab, self._lab.plan()
        lived = lab.lived()
        name, rows = lab.folder.name, {each: f"{counts[key]:,}" for key, each in _ROWS.items()}
        for what, told in (
            ("lived", f"{lived / HOUR:.4g} of {plan.hours:g} hours"),
            ("until", _clock(lived)),
            *rows.items(),
            ("took", f"{time.monotonic() - self._began:.0f} s"),
            ("log", str(lab.places.events)),
            ("look", f"keepsake logs --lab {name} --no-follow"),
            ("tables", f"keepsake export --lab {name} tables-{name}"),
            *([("go on", lab.resume)] if lived < plan.seconds else []),
        ):
            self._say(f"{what:<28}{told}")
        answered = bool(counts["thoughts"]) or not counts["unanswered"]
        if not answered:
            found = last(lab.places.events, 1, lambda each: each.get("outcome") == "no answer")
            why = next((each.get("problem") for each in found), "") or "the log does not say"
            self._say(f"No thought was answered: {why}")
        return lived >= plan.seconds and answered

    def _told(self, seconds: float, counts: Mapping[str, int]) -> None:
        if time.monotonic() - self._said >= LINE_SECONDS:
            self._said = time.monotonic()
            done = f"{seconds / self._lab.plan().seconds:.0%}  {_clock(seconds)}"
            told = f"{counts['thoughts']:,} thoughts  {counts['tokens']:,} tokens"
            self._say(f"{self._lab.folder.name}: {done}  {told}")

    def _play(self) -> Counter[str]:
        """Build the world if there is none, and play it; what has happened."""
        lab = self._lab
        # Evennia's empty tables take long to make, and are alike in all simulations.
        database, empty = lab.places.database, lab.folder.parent / ".empty.db3"
        if not lab.made:  # what there is was broken off while it was made
            shutil.rmtree(lab.places.home, ignore_errors=True)
            for left in lab.places.agents.glob("[!.]*"):
                shutil.rmtree(left)
            lab.places.logs.mkdir(parents=True)
            if empty.exists():
                shutil.copyfile(empty, database)
        self._say(f"{lab.folder.name}: loading the world")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Evennia's own modules warn while they are imported
            import django  # noqa: PLC0415 - only after the environment is set

            django.setup()
            import evennia  # noqa: PLC0415 - the same

            evennia._init()
            gc.freeze()
            from game.simulation import living  # noqa: PLC0415 - needs Evennia to be set up

            if not lab.made:
                self._say(f"{lab.folder.name}: building the world")
                from django.core.management import call_command  # noqa: PLC0415 - needs settings
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
        life = living.SimulatedLife(lab, self._told, self._stop)
        life.play()
        return life.counts


def _clock(seconds: float) -> str:
    return f"{moment(seconds) + timedelta(milliseconds=1):%A %d %B %H:%M}"


if __name__ == "__main__":
    main()
