"""Which mind belongs to which agent.

The components live here, by the agent's database number, and not on the Evennia object:
Evennia may drop an object from its cache at any time, and an archive must have one owner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typeclasses.components.actor import Actor
from typeclasses.components.examining import Examiner
from typeclasses.components.fitting import Fitting
from typeclasses.components.keeper import Keeper
from typeclasses.components.memory import MemoryComponent
from typeclasses.components.thinker import Thinker
from typeclasses.components.thinking import Parts
from typeclasses.services import Services, running, services

if TYPE_CHECKING:
    from typeclasses.agents import Agent

_minds: dict[int, Mind] = {}


@dataclass
class Mind:
    """The components of one agent."""

    memory: MemoryComponent
    keeper: Keeper
    actor: Actor
    fitting: Fitting
    thinker: Thinker
    examiner: Examiner

    def close(self) -> None:
        """Stop thinking and bring the memory to the disk."""
        self.thinker.close()
        self.examiner.close()
        self.memory.close()


def mind_of(agent: Any) -> Mind | None:
    """The mind of that agent, opened when it is first asked for.

    None without services, and for an agent that is being deleted: what it still sees
    of its own end must not open its archive again.
    """
    if not running() or agent.id is None or agent.ndb.being_deleted:
        return None
    if agent.id not in _minds:
        _minds[agent.id] = _open(agent, services())
    return _minds[agent.id]


def open_minds() -> Iterator[Mind]:
    """Every mind that is open now."""
    yield from list(_minds.values())


def close_mind(agent_id: int) -> None:
    """The agent is gone; its archive stays."""
    if mind := _minds.pop(agent_id, None):
        mind.close()
        mind.keeper.recaller.forget()


def close_all() -> None:
    """Stop all thinking and bring every memory to the disk."""
    for mind in open_minds():
        mind.close()
    _minds.clear()


def _open(agent: Agent, shared: Services) -> Mind:
    folder = shared.places.agents / agent.memory_folder
    memory = MemoryComponent(agent.key, folder, shared)
    keeper = Keeper(agent.key, folder, memory, shared)
    examiner = Examiner(agent.key, memory, keeper.recaller, shared)
    memory.pins = lambda: keeper.shown_pins
    memory.compactor.moved = keeper.recaller.follow
    memory.compactor.compacted = examiner.compacted
    examiner.resume()
    keeper.recaller.follow()
    actor = Actor(memory, keeper, shared)
    fitting = Fitting(agent.key, memory, shared)
    thinker = Thinker(agent.id, Parts(memory, keeper, actor, fitting), shared)
    memory.sleeps = lambda: thinker.asleep
    return Mind(memory, keeper, actor, fitting, thinker, examiner)
