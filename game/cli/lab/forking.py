"""``keepsake fork``: a world, copied at a point of its log, and how to go on from there."""

from __future__ import annotations

import shlex
from pathlib import Path

from game.cli.output import out
from game.cli.progress import ProgressDisplay
from game.cli.world import ports
from game.lab.forks.fork import ANEW, AS_NOW, Forked, fork
from game.lab.forks.lab_fork import LabForked, fork_lab, fork_lab_world
from game.lab.forks.points import point_at
from game.lab.simulations.plan import CONFIG, SimulationPlan
from keepsake.errors import KeepsakeError
from keepsake.paths import DATABASE_URL, Places

_APART = 20
"""How far the ports of two copies are apart at least."""


def fork_world(here: Places, target: str, at: str, lab: str) -> None:
    """Copy a world, or the simulation ``lab``, and say what the copy is, and how to start it.

    Raises:
        KeepsakeError: There is no such world or point, the target is there, or there is no room.
    """
    with ProgressDisplay(out) as progress:
        if not lab:
            forked = fork(here, _folder(target), point_at(here, at), progress.step)
        elif _is_name(target):
            simulation = fork_lab(here, lab, target, at, progress.step)
        else:
            forked = fork_lab_world(here, lab, _folder(target), at, progress.step)
    if lab and _is_name(target):
        _tell_lab(lab, simulation)
    else:
        _tell(forked)
        _tell_start(here, forked.places)


def _tell_lab(original: str, forked: LabForked) -> None:
    lab, plan = forked.lab, forked.lab.plan()
    out.print(f"{plan.name} is the simulation {original} {forked.point.told}.", markup=False)
    out.print(f"It has come to its checkpoint of {_clock(plan, forked.begins)}.", markup=False)
    if forked.shared > forked.begins:
        until = _clock(plan, forked.shared)
        out.print(f"From there to {until} it lives once more what {original} lived.", markup=False)
    out.print(f"Behind that it lives by its own settings, in {lab.vault / CONFIG}", markup=False)
    out.print("\nGo on from there:", f"  {lab.resume}", sep="\n", markup=False)


def _clock(plan: SimulationPlan, seconds: float) -> str:
    return f"{plan.moment(seconds):%A %d %B %H:%M:%S}"


def _folder(target: str) -> Path:
    if not target.strip():
        raise KeepsakeError("The copy needs a folder", "Name one that is not there yet")
    return Path(target).expanduser()


def _is_name(target: str) -> bool:
    return bool(target) and Path(target).name == target


def _tell(forked: Forked) -> None:
    point, folder = forked.point, forked.places.home.parent
    out.print(f"{folder} is the world {point.told}.", markup=False)
    for name, cut in forked.agents.items():
        beyond = f", {cut.left_out:,} later ones left out" if cut.left_out else ""
        out.print(f"  {name}: {cut.memories:,} memories{beyond}", markup=False)
    out.print(f"  event log: {forked.events:,} events")
    if forked.placed is None:
        out.print("  There is no database: the world is built anew when it starts")
    if point.time is None:
        return
    if placed := forked.placed:
        for name, place in placed.moved:
            out.print(f"  {name} is back in {place}", markup=False)
        for name in placed.lost:
            told = "stands where it is now: its place of then is not there"
            out.print(f"  {name} {told}", markup=False)
        for name in placed.woken:
            out.print(f"  {name} is awake, as it was then", markup=False)
    now, anew = (f"  - {line}" for line in AS_NOW), (f"  - {line}" for line in ANEW)
    out.print("As it is now, not as it was then:", *now, sep="\n", markup=False)
    out.print("Not exactly as it was:", *anew, sep="\n", markup=False)


def _tell_start(here: Places, there: Places) -> None:
    base = ports.free_base(here.ports.base + _APART)
    settings = {
        "KEEPSAKE_HOME": str(there.home),
        "KEEPSAKE_VAULT": str(there.vault),
        "KEEPSAKE_PORT_BASE": str(base),
        **({DATABASE_URL: ""} if here.database_url else {}),  # the copy is on SQLite
    }
    out.print("\nStart it beside the original; the admin gets a password of its own:")
    assigned = " ".join(f"{key}={shlex.quote(value)}" for key, value in settings.items())
    out.print(f"  {assigned} keepsake start", markup=False)
