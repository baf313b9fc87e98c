"""A simulated world as a cell of a sweep: what its agents' thoughts cost, a row an agent."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from keepsake.errors import KeepsakeError
from keepsake.events.reader import events
from keepsake.json_lines import Record
from keepsake.lab.simulations.plan import FOLDER, Lab, SimulationPlan
from keepsake.lab.simulations.settings import settings_from
from keepsake.lab.simulations.simulate import create, run
from keepsake.lab.trials.cell import TrialCell
from keepsake.lab.trials.journal import Row
from keepsake.memory.protocol import KEEPSAKE
from keepsake.paths import Places

WORLD_KIND = "world"


def lived_world(here: Places, cell: TrialCell) -> list[Row]:
    """Simulate a world with the cell's seed and settings, and count; blocks.

    Its folder is taken away afterwards; one that a crash left is made anew.

    Raises:
        KeepsakeError: It cannot be simulated as asked, or did not come to its end.
    """
    if cell.memory != KEEPSAKE:
        told = f"Simulated worlds live with {KEEPSAKE!r}, not with {cell.memory!r}"
        raise KeepsakeError(told, "Give worlds a plan of their own")
    plan = _plan(cell)
    folder = here.home / FOLDER / plan.name
    shutil.rmtree(folder, ignore_errors=True)
    try:
        run(lab := create(here, plan))
        return _rows(lab, cell)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _plan(cell: TrialCell) -> SimulationPlan:
    settings = settings_from(f"{key}={value}" for key, value in cell.settings)
    options = dict(cell.source.options)
    try:
        return SimulationPlan(f"sweep-{cell.key()}", seed=cell.seed, settings=settings, **options)
    except TypeError as error:
        told = f"A world cannot be made with {options} ({error})"
        cure = "Its options are agents, villages, hours, visitors, model, start and zone"
        raise KeepsakeError(told, cure) from error


def _rows(lab: Lab, cell: TrialCell) -> list[Row]:
    """What the event log says of each agent."""
    found = list(events(lab.places().events))
    names = sorted({str(each["agent"]) for each in found if each["kind"] == "memory"})
    return [
        _row(cell, name, [each for each in found if each.get("agent") == name]) for name in names
    ]


def _row(cell: TrialCell, agent: str, found: Sequence[Record]) -> Row:
    prompts = [each for each in found if each["kind"] == "thought" and each["sections"]]
    used = [sum(each["sections"].values()) for each in prompts]
    return {
        "trial": f"{cell.source.name}, seed {cell.seed}",
        "question": agent,
        "kind": WORLD_KIND,
        "evidence": 0,
        "ranks": [],
        "recalled": 0,
        "delay_hours": None,
        "load": None,
        "memories": sum(e["kind"] == "memory" and e["op"] == "append" for e in found),
        "thoughts": len(prompts),
        "thought_tokens": sum(used) / max(len(prompts), 1),
        "compactions": sum(e["kind"] == "compaction" and bool(e["number"]) for e in found),
        "window": sum(e["total"] - e["recent"] for e in prompts) / max(len(prompts), 1),
        "over_budget": sum(n > e["budget"] for n, e in zip(used, prompts, strict=True)),
    }
