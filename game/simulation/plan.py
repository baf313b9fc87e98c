"""The folder of a simulation, in which a separate process runs it.

``progress.json`` is written when the world is built and at the end of a run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import ExitStack, closing
from datetime import datetime, timedelta
from pathlib import Path

from game.simulation.config import write_config
from keepsake.archive.log import Archive
from keepsake.child import LOOPBACK, in_use
from keepsake.cli.simulate import FOLDER, folder_of, places_in
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.files import Filter, last, time_of
from keepsake.files import replace_file
from keepsake.lab.simulations.interview import questions_left
from keepsake.lab.simulations.plan import BEGINS, PLAN, PROGRESS, SimulationPlan
from keepsake.lab.simulations.record import INTERVIEW, lines_of, read_cast
from keepsake.paths import DATABASE_URL, REPOSITORY, Places, Ports, places, prepare
from world.atlas import read_atlas

LOG = "worker.log"
WORKER = "game.simulation.worker"
_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
_PORT_BASES = range(26_000, 65_000, 10)


def moment(seconds: float) -> datetime:
    """Return the moment at that second of a simulation."""
    return BEGINS + timedelta(seconds=seconds)


class Lab:
    """The folder of one simulation, with its own home and vault.

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
        """Return the stored plan.

        Raises:
            KeepsakeError: The file is damaged.
        """
        path = self.folder / PLAN
        with refusing(f"{path} cannot be used", "Make another simulation", ValueError):
            return SimulationPlan.model_validate_json(path.read_text(encoding="utf-8"))

    def seconds_done(self) -> float:
        """Return the seconds of the plan that are simulated; 0 before it begins. Blocks.

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
        progress = json.loads((self.folder / PROGRESS).read_text()) if self.is_built else {}
        return max([float(progress.get("seconds", 0.0)), *seconds])

    @property
    def is_built(self) -> bool:
        """Whether the world is built."""
        return (self.folder / PROGRESS).exists()

    @property
    def is_complete(self) -> bool:
        """Whether all hours are simulated and all questions answered. Blocks."""
        return self.seconds_done() >= self.plan().seconds and not self.has_questions_left

    @property
    def has_questions_left(self) -> bool:
        """Whether agents have not been asked all that the plan wants to know.

        Raises:
            KeepsakeError: A file is damaged.
        """
        plan = self.plan()
        with refusing(f"{self.folder} cannot be used", "Make another simulation", ValueError):
            cast = [member.name for member in read_cast(self.folder)]
            answers = list(lines_of(self.folder / INTERVIEW))
        return bool(questions_left(cast, plan.interview, plan.items, answers))

    def set_interview_aside(self, hours: float) -> None:
        """Keep the answers of an earlier end under another name: at the new end all are asked anew.

        Raises:
            KeepsakeError: The disk refuses.
        """
        answers = self.folder / INTERVIEW
        with refusing(f"{answers} could not be renamed", "Fix its permissions"):
            if answers.exists():
                answers.rename(answers.with_stem(f"{answers.stem}-{hours:g}h"))

    def write_plan(self, plan: SimulationPlan) -> None:
        """Store the plan."""
        replace_file(self.folder / PLAN, f"{plan.model_dump_json(indent=2)}\n")

    def write_progress(self, seconds: float) -> None:
        """Store the number of simulated seconds."""
        replace_file(self.folder / PROGRESS, f'{{"seconds": {seconds}}}\n')

    def environ(self) -> dict[str, str]:
        """Return the environment variables of the process that runs it."""
        free = (base for base in _PORT_BASES if not in_use(Ports(base).model))
        own_world = places().own_world  # the simulation's own vault has none beside it
        return {
            **os.environ,
            "KEEPSAKE_HOME": str(self.places.home),
            "KEEPSAKE_VAULT": str(self.places.vault),
            "KEEPSAKE_WORLD": str(own_world) if own_world.is_dir() else "",
            "KEEPSAKE_LISTEN": LOOPBACK,
            DATABASE_URL: "",  # use its own database, in its home
            # Ports for its own model servers, beside those of a world that may be running.
            "KEEPSAKE_PORT_BASE": str(next(free, _PORT_BASES[0])),
            "DJANGO_SETTINGS_MODULE": "game.server.conf.settings",
            "PYTHONPATH": str(REPOSITORY),
            "PYTHONHASHSEED": "0",
            "TZ": "UTC",
        }


def name_of(plan: SimulationPlan) -> str:
    """Return the name of a new simulation: that of its plan, or of its seed."""
    return plan.name or f"seed-{plan.seed}"


def create(places: Places, plan: SimulationPlan) -> Lab:
    """Make the folder of a new simulation. The first run builds its world.

    Without a name it is named after its seed: ``seed-7``.

    Raises:
        KeepsakeError: The name is taken, or a value cannot be used.
    """
    name = name_of(plan)
    if not re.fullmatch(_NAME, name):
        cure = "Use letters, digits, dots, dashes and underscores; it becomes a folder's name"
        raise KeepsakeError(f"{name!r} is not a valid name of a simulation", cure)
    lab = Lab(places.home / FOLDER / name)
    if lab.folder.exists():
        taken = f"There is a simulation {name!r} already"
        raise KeepsakeError(taken, f"Continue it ({lab.resume}), or choose another name")
    cure = "Free some disk space or fix the permissions"
    with refusing(f"The simulation could not be made in {lab.folder}", cure), ExitStack() as failed:
        failed.callback(shutil.rmtree, lab.folder, ignore_errors=True)
        prepare(lab.places)
        write_config(places, lab.places.config, plan)
        lab.write_plan(plan.model_copy(update={"name": name}))
        failed.pop_all()
    return lab


def reopen(places: Places, name: str, hours: float | None = None) -> Lab:
    """Open a simulation to continue it; ``hours`` is its new total length.

    One that has run for all its hours is continued only if questions of its interview are left.

    Raises:
        KeepsakeError: There is no such simulation, or it is already complete.
    """
    lab = Lab(folder_of(places, name))
    before = lab.plan()
    plan = before.model_copy(update={"hours": hours or before.hours})
    if lab.seconds_done() >= plan.seconds and not lab.has_questions_left:
        raise KeepsakeError(
            f"The simulation {name!r} has already run for its {plan.hours:g} hours",
            f"Extend it: {lab.resume} --hours {plan.hours + 24:g}",
        )
    if plan.hours > before.hours:
        lab.set_interview_aside(before.hours)
    lab.write_plan(plan)
    return lab


def check_items(plan: SimulationPlan) -> None:
    """Raise a KeepsakeError if an item names an agent or a place that the simulation has not."""
    atlas = read_atlas()
    people = [each.name for each in list(atlas.people.values())[: plan.agents]]
    for item in plan.items:
        if item.to.casefold() not in map(str.casefold, people):
            cure = f"Name one of them in `to` ({', '.join(people)}), or raise --agents"
            what = f"The item {item.id!r} is for {item.to!r}, who is not in this simulation"
            raise KeepsakeError(what, cure)
        if item.is_invitation and item.where not in atlas.places:
            cure = f"Use one of: {', '.join(sorted(atlas.places))}"
            raise KeepsakeError(f"The item {item.id!r} is in {item.where!r}, no place", cure)
