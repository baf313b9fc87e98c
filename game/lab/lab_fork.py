"""A simulation, copied at a point of its log under another name, to be lived on otherwise."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from game.lab.fork import Forked, Say, fork
from game.lab.plan import Lab, Plan, lab_of
from game.lab.points import Point, point_at
from game.paths import Places, Ports

_CHECKPOINT = re.compile(r"\d+")


def settled(lab: Lab) -> Lab:
    """The simulation as it may be copied: at its last checkpoint, if an hour is half lived."""
    if not lab.unsettled.exists() or not lab.checkpoints.is_dir():
        return lab
    there = [path for path in lab.checkpoints.iterdir() if _CHECKPOINT.fullmatch(path.name)]
    return Lab(max(there)) if there else lab


def fork_lab(here: Places, name: str, target: str, at: str, say: Say) -> Forked:
    """Copy a simulation under another name; blocks.

    Args:
        here: The copy of Keepsake whose lab it is in.
        name: The simulation; it may be running.
        target: The name of the new one.
        at: See :func:`game.lab.points.point_at`.
        say: Shows what is being done.

    Raises:
        KeepsakeError: There is no such simulation or point, there is one of the new name, or
            there is no room for it.
    """
    lab, new = lab_of(here, name), lab_of(here, target)
    plan, source = lab.plan(), settled(lab)
    point = point_at(source.places(), at)
    seconds = _lived(plan, source, point)

    def finish(part: Path) -> None:
        Lab(part).write_plan(replace(plan, name=target))
        Lab(part).write_lived(seconds)

    places = Places(source.home, source.vault, Ports())
    return fork(places, new.folder, point, say, config=lab.vault / "config", finish=finish)


def fork_lab_world(here: Places, name: str, target: Path, at: str, say: Say) -> Forked:
    """Copy the world of a simulation to a folder of its own, to start the game in it; blocks.

    Args:
        here: The copy of Keepsake whose lab it is in.
        name: The simulation; it may be running.
        target: The folder of the copy.
        at: See :func:`game.lab.points.point_at`.
        say: Shows what is being done.

    Raises:
        KeepsakeError: There is no such simulation or point, there is something at ``target``, or
            there is no room for it.
    """
    lab = lab_of(here, name)
    lab.plan()
    source = settled(lab)
    point = point_at(source.places(), at)
    places = Places(source.home, source.vault, Ports())
    return fork(places, target, point, say, config=lab.vault / "config")


def _lived(plan: Plan, source: Lab, point: Point) -> float:
    """How many seconds the copy has lived through."""
    lived = source.lived()
    if point.time is None:
        return lived
    return min(max((point.time - plan.begins).total_seconds(), 0.0), lived)
