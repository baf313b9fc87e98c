"""Runs measured simulations in processes of their own, one after the other, and then measures them.

A simulation needs a process of its own, because Django and Evennia are set up once in a process.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence

from game.simulation.plan import WORKER, Lab, create, name_of
from keepsake.cli.measure import measure
from keepsake.cli.simulate import FOLDER
from keepsake.errors import KeepsakeError
from keepsake.lab.simulations.plan import WITHOUT, SimulationPlan
from keepsake.paths import REPOSITORY, Places

STOPPED = (signal.SIGINT, signal.SIGTERM)
"""Signals that a simulation ends at, after the current moment."""


def ablation(places: Places, plan: SimulationPlan) -> list[Lab]:
    """Make four simulations of a plan: all, and one without each part; or continue those.

    Raises:
        KeepsakeError: The plan takes a part away itself, or a name is taken by another plan.
    """
    if plan.without:
        raise KeepsakeError("--ablation takes the parts away itself", "Leave out --without")
    name = name_of(plan)
    plans = [plan.model_copy(update={"name": name})]
    for part in WITHOUT:
        other = {"name": f"{name}-without-{part}", "without": (part,)}
        plans.append(plan.model_copy(update=other))
    return [_made(places, each) for each in plans]


def _made(places: Places, plan: SimulationPlan) -> Lab:
    """Return the simulation of a plan; make it unless it is there already."""
    lab = Lab(places.home / FOLDER / plan.name)
    if lab.folder.exists() and lab.plan().is_same(plan):
        return lab
    return create(places, plan)


def run_measured(places: Places, labs: Sequence[Lab]) -> int:
    """Run simulations one after the other, then write their page; return the exit code.

    What is complete already is not run again.

    Raises:
        KeepsakeError: The page cannot be written.
    """
    for lab in labs:
        if lab.is_complete:
            continue
        if code := _run(lab):
            return code
    measure(places, [lab.folder.name for lab in labs])
    return 0


def _run(lab: Lab) -> int:
    """Run one simulation; return its exit code.

    It gets each signal once, from here: a terminal would send Ctrl-C to both processes.
    """
    command = [sys.executable, "-m", WORKER, str(lab.folder)]
    child = subprocess.Popen(command, env=lab.environ(), cwd=REPOSITORY, process_group=0)
    before = {each: signal.signal(each, lambda n, _: child.send_signal(n)) for each in STOPPED}
    try:
        return child.wait()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
