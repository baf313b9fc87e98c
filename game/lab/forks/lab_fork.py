"""A simulation, copied at a point of its log under another name, to be lived on otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from game.lab.forks.fork import Forked, Say, fork
from game.lab.forks.points import LogPoint, point_at
from game.lab.simulations import checkpoints
from game.lab.simulations.plan import Lab, SimulationPlan, lab_of
from game.mind.errors import KeepsakeError
from game.paths import Places, Ports


def settled(lab: Lab) -> Lab:
    """The simulation as it may be copied: at its last checkpoint, if an hour is half lived."""
    return (checkpoints.newest(lab) or lab) if lab.unsettled.exists() else lab


def fork_lab(here: Places, name: str, target: str, at: str, say: Say) -> Forked:
    """Copy a simulation under another name; blocks.

    Raises:
        KeepsakeError: There is no such simulation or point, there is one of the new name, or
            there is no room for it.
    """
    lab, new = lab_of(here, name), lab_of(here, target)
    plan = lab.plan()

    def finish(part: Path, source: Lab, point: LogPoint) -> None:
        Lab(part).write_plan(replace(plan, name=target))
        Lab(part).write_lived(_lived(plan, source, point))

    return _fork(lab, new.folder, at, say, finish)


def fork_lab_world(here: Places, name: str, target: Path, at: str, say: Say) -> Forked:
    """Copy the world of a simulation to a folder of its own, to start the game in it; blocks.

    Raises:
        KeepsakeError: There is no such simulation or point, there is something at ``target``, or
            there is no room for it.
    """
    lab = lab_of(here, name)
    lab.plan()
    for folder in (here.home, here.vault):
        if target.resolve().is_relative_to(folder.resolve()):
            raise KeepsakeError(
                f"{target} is in {folder}, which belongs to this copy of Keepsake",
                "Name a folder outside of it, or a bare name for another simulation",
            )
    return _fork(lab, target, at, say, lambda *_: None)


def _fork(
    lab: Lab, target: Path, at: str, say: Say, finish: Callable[[Path, Lab, LogPoint], None]
) -> Forked:
    """Copy a simulation that nobody lives on in meanwhile: one that runs waits for an hour."""
    with checkpoints.held(lab, by_reader=True):
        if not lab.made:
            raise KeepsakeError(
                f"The world of the simulation {lab.folder.name!r} is not made yet",
                f"Let it begin: {lab.resume}",
            )
        source = settled(lab)
        point = point_at(source.places(), at)
        return fork(
            Places(source.home, source.vault, Ports()),
            target,
            point,
            say,
            config=lab.vault / "config",
            finish=lambda part: finish(part, source, point),
        )


def _lived(plan: SimulationPlan, source: Lab, point: LogPoint) -> float:
    """How many seconds the copy has lived through."""
    lived = source.lived()
    if point.time is None:
        return lived
    return min(max((point.time - plan.begins).total_seconds(), 0.0), lived)
