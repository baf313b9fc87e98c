"""What a simulation is: its plan, and its folder, in which a process of its own plays it.

The plan is ``simulation.json`` in the simulation's folder. ``progress.json`` beside it says how far
the world has come; it is written when the world is built and at the end of a run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import BaseModel

from game.simulation.config import write_config
from keepsake.archive.log import Archive
from keepsake.books.files import replace_file
from keepsake.child import LOOPBACK, in_use
from keepsake.cli.simulate import FOLDER, folder_of, places_in
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.files import Filter, last, time_of
from keepsake.models.profiles import SCRIPTED
from keepsake.paths import DATABASE_URL, REPOSITORY, Places, Ports, prepare

HOUR = 3600.0
BEGINS = datetime(2026, 5, 4, 8, tzinfo=UTC)
"""The first moment of every simulation."""
LOG, WORKER = "worker.log", "game.simulation.worker"
_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
_PORT_BASES = range(26_000, 65_000, 10)
PLAN, PROGRESS = "simulation.json", "progress.json"


class SimulationPlan(BaseModel, frozen=True):
    """A simulation as it was asked for."""

    name: str = ""  # its name, and that of its folder
    agents: int = 5
    hours: float = 24.0
    seed: int = 7
    model: str = SCRIPTED  # who answers: see :func:`write_config`
    visitors: int = 1  # how many players come and go
    # what its configuration says otherwise than the vault's: ``thinking.idle_interval``
    settings: Mapping[str, str] = {}

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.hours * HOUR


def moment(seconds: float) -> datetime:
    """The moment that many seconds after the first one."""
    return BEGINS + timedelta(seconds=seconds)


class Lab:
    """The folder of one simulation, with a home and a vault of its own.

    Attributes:
        folder: ``<home>/lab/<name>``.
        places: The paths of its world: logs, archives, events.
        resume: The command that continues it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.places = places_in(folder)
        self.resume = f"keepsake simulate --resume {folder.name}"

    def plan(self) -> SimulationPlan:
        """The plan as it was written.

        Raises:
            KeepsakeError: Its file is damaged.
        """
        path = self.folder / PLAN
        with refusing(f"{path} cannot be used", "Make another simulation", ValueError):
            return SimulationPlan.model_validate_json(path.read_text(encoding="utf-8"))

    def lived(self) -> float:
        """How many seconds of the plan are simulated; 0 before it begins. Blocks.

        After a kill the archives and the event log are ahead of ``progress.json``. Time must not
        run backwards in them.

        Raises:
            KeepsakeError: A file cannot be read.
        """
        newest = last(self.places.events, 1, Filter())
        times = [time for record in newest if (time := time_of(record.get("t")))]
        for folder in self.places.agents.glob("*/archive"):
            with closing(Archive(folder, read_only=True)) as archive:
                number = archive.last_number
                times += [memory.time for memory in archive.read(number, number)]
        seconds = ((time - BEGINS).total_seconds() for time in times)
        told = json.loads((self.folder / PROGRESS).read_text()) if self.made else {}
        return max([float(told.get("seconds", 0.0)), *seconds])

    @property
    def made(self) -> bool:
        """Whether its world is built."""
        return (self.folder / PROGRESS).exists()

    def write_plan(self, plan: SimulationPlan) -> None:
        """Write the plan."""
        replace_file(self.folder / PLAN, f"{plan.model_dump_json(indent=2)}\n")

    def write_lived(self, seconds: float) -> None:
        """Write how far its world has come."""
        replace_file(self.folder / PROGRESS, f'{{"seconds": {seconds}}}\n')

    def environ(self) -> dict[str, str]:
        """The environment of the process that plays it."""
        free = (base for base in _PORT_BASES if not in_use(Ports(base).model))
        return {
            **os.environ,
            "KEEPSAKE_HOME": str(self.places.home),
            "KEEPSAKE_VAULT": str(self.places.vault),
            "KEEPSAKE_LISTEN": LOOPBACK,
            DATABASE_URL: "",  # a database of its own, in its home
            # For models in processes of their own, beside those of a world that may be running.
            "KEEPSAKE_PORT_BASE": str(next(free, _PORT_BASES[0])),
            "DJANGO_SETTINGS_MODULE": "game.server.conf.settings",
            "PYTHONPATH": str(REPOSITORY),
            "PYTHONHASHSEED": "0",
            "TZ": "UTC",
        }


def create(places: Places, plan: SimulationPlan) -> Lab:
    """Make the folder of a new simulation; its world is made when it is first run.

    Without a name it is called after its seed: ``seed-7``.

    Raises:
        KeepsakeError: There is one of that name, or a value cannot be used.
    """
    name = plan.name or f"seed-{plan.seed}"
    if not re.fullmatch(_NAME, name):
        cure = "Use letters, digits, dots, dashes and underscores; it becomes a folder's name"
        raise KeepsakeError(f"{name!r} is no name for a simulation", cure)
    lab = Lab(places.home / FOLDER / name)
    if lab.folder.exists():
        told = f"There is a simulation {name!r} already"
        raise KeepsakeError(told, f"Continue it ({lab.resume}), or choose another name")
    cure = "Free some disk space or fix the permissions"
    with refusing(f"The simulation could not be made in {lab.folder}", cure), ExitStack() as failed:
        failed.callback(shutil.rmtree, lab.folder, ignore_errors=True)
        prepare(lab.places)
        write_config(places, lab.places.config, plan.model, plan.seed, plan.settings)
        lab.write_plan(plan.model_copy(update={"name": name}))
        failed.pop_all()
    return lab


def resumed(places: Places, name: str, hours: float | None = None) -> Lab:
    """The simulation of that name, ready to go on; ``hours`` is its new length, from its start.

    Raises:
        KeepsakeError: There is none, or it is over already.
    """
    lab = Lab(folder_of(places, name))
    plan = lab.plan()
    plan = plan.model_copy(update={"hours": hours or plan.hours})
    if lab.lived() >= plan.seconds:
        raise KeepsakeError(
            f"The simulation {name!r} has lived its {plan.hours:g} hours",
            f"Give it more: {lab.resume} --hours {plan.hours + 24:g}",
        )
    lab.write_plan(plan)
    return lab
