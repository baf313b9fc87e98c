"""The plan of a simulation: its parameters, and what is taken away from its agents.

It is ``simulation.json`` in the simulation's folder. ``progress.json`` beside it holds how many
seconds are simulated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from pydantic import BaseModel

from keepsake.errors import KeepsakeError
from keepsake.lab.simulations.items import Item
from keepsake.models.profiles import SCRIPTED

PLAN = "simulation.json"
PROGRESS = "progress.json"
HOUR = 3600.0
BEGINS = datetime(2026, 5, 4, 8, tzinfo=UTC)
"""The first moment of every simulation."""
PLANS = "plans"
REFLECTION = "reflection"
MEMORY = "memory"
WITHOUT: Mapping[str, Mapping[str, str]] = {
    PLANS: {"thinking.plans": "no"},
    REFLECTION: {"sleep.reflect": "no"},
    MEMORY: {"thinking.memory": "no"},
}
"""What a simulation can take away from its agents, with the settings that do it."""
EVERYTHING = "all"
"""The name of the condition in which nothing is taken away."""


class SimulationPlan(BaseModel, frozen=True):
    """The parameters of a simulation."""

    name: str = ""  # also the name of its folder
    agents: int = 5
    hours: float = 24.0
    seed: int = 7
    model: str = SCRIPTED  # see :func:`game.simulation.config.write_config`
    writer: str = ""  # the model that writes summaries and works at night; empty for the vault's
    visitors: int = 1  # the number of players who come and go
    # settings that differ from the vault's, by full name: ``thinking.idle_interval``
    settings: Mapping[str, str] = {}
    without: tuple[str, ...] = ()  # the parts that are taken away from the agents
    # the parts that only the interview is without: a copy of a simulation that was run with them
    asked_without: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()  # what an agent gets at the start, so that its spread is measured
    interview: int = 0  # how many questions each agent is asked at the end
    command: str = ""  # the command line that made it

    @property
    def seconds(self) -> float:
        """The length in seconds."""
        return self.hours * HOUR

    @property
    def is_measured(self) -> bool:
        """Whether it gives items or interviews its agents."""
        return bool(self.items or self.interview)

    def is_same(self, other: SimulationPlan) -> bool:
        """Whether it makes the same simulation, whatever the command line was."""
        written = {"command": other.command}
        return self.model_copy(update=written) == other

    @property
    def condition(self) -> str:
        """``all``, or what was taken away: ``without plans``, ``asked without plans``."""
        if self.asked_without:
            return f"asked without {', '.join(self.asked_without)}"
        return f"without {', '.join(self.without)}" if self.without else EVERYTHING

    @property
    def all_settings(self) -> Mapping[str, str]:
        """The settings that differ from the vault's, with those that take parts away."""
        taken = (WITHOUT[part] for part in self.without)
        return {**self.settings, **{key: value for each in taken for key, value in each.items()}}


def check_parts(parts: Collection[str]) -> tuple[str, ...]:
    """Return the parts to take away, each once and in their order.

    Raises:
        KeepsakeError: There is no such part.
    """
    if unknown := sorted(set(parts) - WITHOUT.keys()):
        cure = f"Use one of: {', '.join(WITHOUT)}"
        raise KeepsakeError(f"--without {unknown[0]!r} is no part of an agent", cure)
    return tuple(part for part in WITHOUT if part in parts)
