"""Asks the agents of one finished simulation again, each time without a part of their prompts.

Each condition is a copy of the simulation, so the agents have the same life behind them and stand
where they stood. Only the interview is asked anew.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

from game.simulation.config import apply_settings
from game.simulation.plan import Lab
from keepsake.books.entries import EntryOrigin
from keepsake.books.people import PeopleBook
from keepsake.books.person_page import PersonPage
from keepsake.cli.simulate import folder_of
from keepsake.errors import KeepsakeError, refusing
from keepsake.files import replace_file
from keepsake.lab.simulations.plan import REFLECTION, WITHOUT, SimulationPlan
from keepsake.lab.simulations.record import INTERVIEW
from keepsake.paths import Places

_NOT_COPIED = (f"{Path(INTERVIEW).stem}*", "measures", "*.lock", "*.log", "*.part")
"""What a copy makes anew: the answers, the page, and what a running process leaves."""
_ENTRY = re.compile(r"^(?=## )", re.M)
"""Where an entry of a journal's file begins."""


def conditions(places: Places, name: str) -> list[Lab]:
    """Return a finished simulation, and a copy of it without each part; copies are made once.

    Raises:
        KeepsakeError: It is not finished or has no interview, or a copy cannot be made.
    """
    lab = Lab(folder_of(places, name))
    plan = lab.plan()
    if not plan.is_measured:
        cure = "Run one with --measure"
        raise KeepsakeError(f"The simulation {name!r} has no interview to repeat", cure)
    if plan.without or plan.asked_without:
        raise KeepsakeError(
            f"{name!r} is without {', '.join(plan.without)} already", "Name another"
        )
    if lab.seconds_done() < plan.seconds:
        raise KeepsakeError(
            f"The simulation {name!r} is not finished", f"Continue it: {lab.resume}"
        )
    return [lab, *(_copy(lab, plan, part) for part in WITHOUT)]


def _copy(lab: Lab, plan: SimulationPlan, part: str) -> Lab:
    """Return the copy of a simulation whose agents are asked without a part; make it if needed."""
    name = f"{lab.folder.name}-asked-without-{part}"
    target = lab.folder.parent / name
    wanted = plan.model_copy(update={"name": name, "asked_without": (part,)})
    if target.exists():
        if Lab(target).plan().is_same(wanted):
            return Lab(target)
        raise KeepsakeError(f"{target} is another simulation", "Remove it, or rename it")
    made = target.with_suffix(".part")  # a copy that was interrupted is not taken for a whole one
    cure = "Free some disk space or fix the permissions"
    with refusing(f"The copy {name} could not be made", cure):
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(lab.folder, made, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        copy = Lab(made)
        apply_settings(copy.places.config, WITHOUT[part])
        if part == REFLECTION:
            for folder in copy.places.agents.glob("[!.]*"):
                remove_conclusions(folder)
        copy.write_plan(wanted)
        made.rename(target)
    return Lab(target)


def remove_conclusions(agent: Path) -> None:
    """Remove what reflection has written: insights, and what the agent thinks of people.

    What the agent saw and did, and what it wrote of its days, stays.

    Args:
        agent: The agent's folder.

    Raises:
        OSError, NoteRefused: A file cannot be written.
    """
    people = PeopleBook(agent)
    for page in people.all():
        people.conclude(page.key, _without_portrait)
    inferred = f"- **source**: {EntryOrigin.INFERRED}\n"
    for path in agent.glob("journal/*.md"):
        parts = _ENTRY.split(path.read_text("utf-8"))
        kept = [each for each in parts if inferred not in each]
        if len(kept) < len(parts):
            replace_file(path, "".join(kept))


def _without_portrait(page: PersonPage) -> PersonPage:
    return replace(page, portrait="")
