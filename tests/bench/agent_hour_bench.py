"""What an agent-hour costs in a simulation, in one village and in as many as there are fives.

Processor time of three hours after the first, less that of the same hours of one agent who is
alone: so loading and building do not count.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

from keepsake.lab.simulations.plan import SimulationPlan
from keepsake.lab.simulations.simulate import create, resumed, run
from keepsake.paths import REPOSITORY, Places, Ports
from tests.bench.figures import Figure

AGENTS, EACH, FIRST, LAST = (5, 25, 100), 5, 1.0, 4.0


def measure() -> Iterator[Figure]:
    """Seconds an agent-hour, and how many times that of the smallest world."""
    for spread in (True, False):
        least = 0.0
        for agents in AGENTS:
            villages = agents // EACH if spread else 1
            seconds, memories = _agent_hour(agents, villages)
            least = least or seconds
            where = f"{villages} villages" if spread else "one village"
            yield Figure(
                f"agent-hour: {where}",
                agents,
                seconds,
                "s",
                f"{seconds / least:.2f} of the first; {memories:.0f} memories each an hour",
            )


def _agent_hour(agents: int, villages: int) -> tuple[float, float]:
    """Processor seconds and memories, each of one agent in one hour."""
    with tempfile.TemporaryDirectory(prefix="keepsake-agent-hour-") as scratch:
        places = Places(Path(scratch), REPOSITORY / "vault", Ports(21000))
        plan = SimulationPlan("hour", agents, FIRST, seed=5, villages=villages)
        lab = create(places, plan)
        run(lab)
        first = lab.counts()["memories"]
        began = _processor_seconds()
        run(resumed(places, "hour", LAST))
        used = _processor_seconds() - began
        empty = _of_nobody(places)
        memories = lab.counts()["memories"] - first
    hours = (LAST - FIRST) * agents
    return (used - empty) / hours, memories / hours


def _of_nobody(places: Places) -> float:
    """What it takes to load the world and to live the same hours with one agent, who is alone."""
    lab = create(places, SimulationPlan("alone", 1, FIRST, seed=5, visitors=0))
    run(lab)
    began = _processor_seconds()
    run(resumed(places, "alone", LAST))
    return _processor_seconds() - began


def _processor_seconds() -> float:
    """Of all processes that have been started here, and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
