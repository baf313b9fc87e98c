"""A simulation, copied at a point of its log under another name, to be lived on otherwise.

A simulation follows from its seed and its settings, so its past needs no cutting: the copy is the
last checkpoint before the point, with the configuration of then, and what it lives first is what
the original lived from there to the point (:mod:`game.lab.simulations.past`).
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from game.lab.forks.fork import Forked, Say, fork, write_about
from game.lab.forks.points import LogPoint, point_at
from game.lab.simulations import checkpoints
from game.lab.simulations.answers import ANSWERS
from game.lab.simulations.past import JUST_BEHIND, PastStretch, keep_past, stages_of
from game.lab.simulations.plan import CONFIG, Lab, lab_of
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.reader import newest_number
from keepsake.paths import Places, Ports

_SECRET = frozenset({Path("home/secret-key"), Path("home/admin-password")})
"""What every world makes for itself."""


@dataclass(frozen=True, slots=True)
class LabForked:
    """A copied simulation that is there."""

    lab: Lab  # where it is
    point: LogPoint  # where its own settings begin to hold
    begins: float  # second of the simulation that it has come to
    shared: float  # second up to which it will live as the original has


def fork_lab(here: Places, name: str, target: str, at: str, say: Say) -> LabForked:
    """Copy a simulation under another name; blocks.

    Raises:
        KeepsakeError: There is no such simulation or point, there is one of the new name, its
            checkpoint before that point is gone, or there is no room for it.
    """
    lab, new = lab_of(here, name), lab_of(here, target)
    lab.plan()
    if new.folder.exists():
        raise KeepsakeError(f"There is a simulation {target!r} already", "Choose another name")
    part = Lab(new.folder.with_name(f".{target}.part"))
    with (
        refusing(f"The simulation could not be copied to {new.folder}", "Free some disk space"),
        checkpoints.held(lab, by_reader=True),
    ):
        kept = _kept(lab)
        point = point_at(kept[-1].places(), at)
        say("Copying the checkpoint")
        try:
            shutil.rmtree(part.folder, ignore_errors=True)
            begins, shared = _copied(lab, kept, part, point)
            part.write_plan(replace(lab.plan(), name=target))
            write_about(part.folder, lab.folder.name, point)
            part.folder.rename(new.folder)
        finally:
            shutil.rmtree(part.folder, ignore_errors=True)  # not there any more if all went well
    return LabForked(new, point, begins, shared)


def _kept(lab: Lab) -> list[Lab]:
    if not (kept := checkpoints.all_of(lab)):
        raise KeepsakeError(
            f"The world of the simulation {lab.folder.name!r} is not made yet",
            f"Let it begin: {lab.resume}",
        )
    return kept


def _copied(lab: Lab, kept: Sequence[Lab], part: Lab, point: LogPoint) -> tuple[float, float]:
    """Copy what there is at the point; where the copy begins, and how far it goes as before."""
    until = _second(lab, kept[-1], point)
    place = _last_before(lab, kept, point, until)
    begins = kept[place].lived()
    (part.home / "logs").mkdir(parents=True)
    checkpoints.link(kept[place], part, _SECRET)
    checkpoints.go_back(part)
    own = lab.vault / CONFIG if place == len(kept) - 1 else kept[place].begun_with
    stages = _up_to([*stages_of(lab, begins), PastStretch(math.inf, own)], until + JUST_BEHIND)
    shutil.copytree(stages[-1].config, part.vault / CONFIG)
    if until == begins and not _is_behind(kept[place], point):
        return begins, begins
    keep_past(part, stages, kept[place + 1].home / ANSWERS)
    return begins, until


def _second(lab: Lab, newest: Lab, point: LogPoint) -> float:
    """The second of the simulation that a point lies at."""
    if point.time is None:
        return newest.lived()
    seconds = (point.time - lab.plan().moment(0.0)).total_seconds()
    return min(max(seconds, 0.0), newest.lived())


def _last_before(lab: Lab, kept: Sequence[Lab], point: LogPoint, until: float) -> int:
    """Which checkpoint is the last one before the point."""
    before = [place for place, each in enumerate(kept) if each.lived() <= until]
    # An event of the first moment of an hour is behind the checkpoint of that moment, and one of
    # the last moment before it.
    if point.numbers and point.seq is not None:
        before = [place for place in before if _newest_event(kept[place]) <= point.seq]
    if not before:
        first = lab.plan().moment(kept[0].lived())
        raise KeepsakeError(
            f"{lab.folder.name!r} has no checkpoint from before its point {point.told}",
            f"Its first one is of {first.isoformat()}: take a later point, or fork what it was"
            " made of",
        )
    return before[-1]


def _is_behind(kept: Lab, point: LogPoint) -> bool:
    """Whether a point of the very moment of a checkpoint is an event of the hour behind it."""
    return bool(point.numbers) and (point.seq or 0) > _newest_event(kept)


def _newest_event(kept: Lab) -> int:
    return newest_number(kept.places().events)


def _up_to(stages: Sequence[PastStretch], until: float) -> list[PastStretch]:
    """The stretches before a second; the last one ends there."""
    earlier = [each for each in stages if each.until < until]
    return [*earlier, PastStretch(until, stages[len(earlier)].config)]


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
    with checkpoints.held(lab, by_reader=True):
        kept = _kept(lab)
        point = point_at(kept[-1].places(), at)
        until = _second(lab, kept[-1], point)
        # The first one behind the point: what is copied as it is now is nearest to it there.
        source = next(each for each in kept if each.lived() >= until)
        return fork(
            Places(source.home, source.vault, Ports()),
            target,
            point,
            say,
            config=lab.vault / CONFIG,
        )
