"""Simulations from outside: made, run in a process of their own, resumed, looked at."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from game.lab.simulations import checkpoints
from game.lab.simulations.plan import (
    FOLDER,
    Lab,
    SimulationPlan,
    checked,
    free_name,
    lab_of,
    longer,
)
from game.lab.simulations.played import refuse_if_played
from game.lab.simulations.process import LOG, WorldProcess
from game.lab.simulations.serving import check_servers
from game.lab.simulations.settings import check_model, copy_config, write_settings
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import Places


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """How far a simulation is."""

    # ``setting up``, ``making``, ``going back``, ``at`` (in the middle of an hour), ``checkpoint``,
    # ``over``
    op: str
    seconds: float  # seconds of the simulation
    moment: str  # the time by its own clock, in ISO format; empty where it is not told
    # what has happened in the hour that is lived: ``thoughts``, ``tokens`` …
    counts: dict[str, int]


def create(places: Places, plan: SimulationPlan) -> Lab:
    """Make the folder of a new simulation; its world is made when it is first run.

    Without a name it gets one that is free.

    Raises:
        KeepsakeError: There is one of that name, a value cannot be used, or the model's server
            does not answer.
    """
    checked(plan := replace(plan, name=plan.name or free_name(places, plan.seed)))
    check_model(plan.model)
    lab = lab_of(places, plan.name)
    if lab.folder.exists():
        raise KeepsakeError(
            f"There is a simulation {plan.name!r} already",
            f"Go on with it ({lab.resume}), or choose another name",
        )
    # It appears whole or not at all.
    part = Lab(places.home / FOLDER / f".{plan.name}.part")
    cure = "Free some disk space or mend the permissions"
    with refusing(f"The simulation could not be made in {lab.folder}", cure):
        try:
            shutil.rmtree(part.folder, ignore_errors=True)
            (part.home / "logs").mkdir(parents=True)
            part.vault.mkdir()
            copy_config(places.config, part.vault / "config", plan.model, plan.seed, places.models)
            write_settings(part.vault / "config", plan.settings)
            check_servers(part)
            part.write_plan(plan)
            part.folder.rename(lab.folder)
        finally:
            shutil.rmtree(part.folder, ignore_errors=True)
    return lab


def resumed(places: Places, name: str, hours: float | None = None, *, back: bool = False) -> Lab:
    """The simulation of that name, to go on with.

    Raises:
        KeepsakeError: There is none, it is over already, somebody has played in its world, or
            its model does not answer.
    """
    lab = lab_of(places, name)
    old = lab.plan()
    plan = longer(old, lab.lived(), hours)
    if lab.made and lab.lived() >= plan.seconds:
        raise KeepsakeError(
            f"The simulation {name!r} has lived its {plan.hours:g} hours",
            f"Give it more: {lab.resume} --hours {plan.hours + 24:g}",
        )
    if back and checkpoints.newest(lab):
        checkpoints.begin(lab)  # whoever lives it goes back first
    else:
        refuse_if_played(lab)
    check_servers(lab)
    if plan != old:
        lab.write_plan(plan)
    return lab


class Run(WorldProcess):
    """One run of a simulation, in a process of its own; :meth:`reports` follows it."""

    def __init__(self, lab: Lab) -> None:
        super().__init__(lab, "game.lab.simulations.worker", lab.plan())

    def reports(self) -> Iterator[SimulationReport]:
        """How far it is, until it ends.

        Raises:
            KeepsakeError: It could not go on; says why, and what to do.
        """
        lab = self.lab
        cure = f"See {lab.folder / LOG}; `{lab.resume}` goes on at the last checkpoint"
        for told in self.lines(lambda: KeepsakeError("The simulation ended without a word", cure)):
            counts = {k: v for k, v in told.items() if isinstance(v, int) and k != "seconds"}
            yield SimulationReport(
                str(told.get("op", "")),
                float(told.get("seconds", 0.0)),
                str(told.get("moment", "")),
                counts,
            )


def run(lab: Lab, told: Callable[[SimulationReport], None] = lambda _: None) -> None:
    """Run a simulation to its end.

    Raises:
        KeepsakeError: It could not go on.
    """
    with Run(lab) as running:
        for report in running.reports():
            told(report)
