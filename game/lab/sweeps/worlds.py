"""A simulated world as a cell of a sweep: what its agents' thoughts cost, a row an agent."""

from __future__ import annotations

import shutil

from game.lab.replays.event_history import Log, read_log
from game.lab.replays.figures import a_thought, lived
from game.lab.replays.lived import find_agent, read_life
from game.lab.simulations.plan import FOLDER, Lab, SimulationPlan
from game.lab.simulations.settings import settings_from
from game.lab.simulations.simulate import create, run
from game.lab.trials.cell import TrialCell
from game.lab.trials.journal import Row
from keepsake.errors import KeepsakeError
from keepsake.memories.loading import KEEPSAKE
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
        return [_row(lab, cell, agent.name) for agent in sorted(lab.places().agents.iterdir())]
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


def _row(lab: Lab, cell: TrialCell, name: str) -> Row:
    places = lab.places()
    folder, agent = find_agent(places.agents, name)
    log: Log = read_log(places.events, agent)
    found = lived(log, read_life(folder, agent).memories)
    return {
        "trial": f"{cell.source.name}, seed {cell.seed}",
        "question": agent,
        "kind": WORLD_KIND,
        "evidence": 0,
        "ranks": [],
        "recalled": 0,
        "delay_hours": None,
        "load": None,
        "memories": found["memories"],
        "thoughts": found["thoughts"],
        "thought_tokens": a_thought(found, "tokens_sent"),
        "compactions": found["compactions"],
        "window": found["window"],
        "over_budget": found["over_budget"],
    }
