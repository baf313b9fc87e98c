"""Which mind belongs to which agent.

The components live here, by the agent's database number, and not on the Evennia object:
Evennia may drop an object from its cache at any time, and an archive must have one owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from game.mind.archive.records import Memory
from game.mind.books.journal.importance import ImportanceContext
from game.mind.events.subscribers import Taps
from typeclasses.components.acquaintances import Acquaintances
from typeclasses.components.actor import Actor
from typeclasses.components.diary import Diary
from typeclasses.components.examining import Examiner
from typeclasses.components.fitting import Fitting
from typeclasses.components.following import Following
from typeclasses.components.keeper import MemoryTools
from typeclasses.components.memory import MemoryComponent
from typeclasses.components.naming import keep_former
from typeclasses.components.night_works import NightParts, NightWorks
from typeclasses.components.nights import Nights
from typeclasses.components.sleeper import TICK_SECONDS, Sleeper, SleepParts
from typeclasses.components.thinker import Thinker
from typeclasses.components.thinking import Parts
from typeclasses.services import Services, log, running, services

if TYPE_CHECKING:
    from typeclasses.agents import Agent

LOOK_EACH = 5
"""Ticks after which somebody looks what people have changed in the agents' files."""

_minds: dict[int, Mind] = {}
_next_tick: Any = None
_ticks = 0


@dataclass
class Mind:
    """The components of one agent."""

    memory: MemoryComponent
    keeper: MemoryTools
    actor: Actor
    fitting: Fitting
    thinker: Thinker
    examiner: Examiner
    diary: Diary
    acquaintances: Acquaintances
    sleeper: Sleeper
    following: Following

    def look(self) -> None:
        """See what a person has changed in the agent's files; blocks, never raises.

        Whatever reads them sees it too: this is for those that nobody reads for a while.
        """
        try:
            self.keeper.look()
            self.diary.look()
            self.acquaintances.look()
        except Exception as error:
            # Nobody looks at the future: without this line nobody would ever hear of it.
            log(f"[Error] {self.memory.name}: Its files could not be looked at: {error!r}")

    def close(self) -> None:
        """Stop thinking and bring the memory to the disk."""
        self.thinker.close()
        self.sleeper.close()
        self.examiner.close()
        self.acquaintances.close()
        self.memory.close()


def mind_of(agent: Any) -> Mind | None:
    """The mind of that agent, opened when it is first asked for.

    None without services, and for an agent that is being deleted: what it still sees
    of its own end must not open its archive again.
    """
    if not running() or agent.id is None or agent.ndb.being_deleted:
        return None
    if agent.id not in _minds:
        _minds[agent.id] = mind = _open(agent, services())
        mind.sleeper.start()
        _tick_soon()
    return _minds[agent.id]


def mind_by_number(agent_id: int) -> Mind | None:
    """The mind of the agent with that database number, if it is open now."""
    return _minds.get(agent_id)


def open_minds() -> Iterator[Mind]:
    """Every mind that is open now."""
    yield from list(_minds.values())


def close_mind(agent_id: int) -> None:
    """The agent is gone; its archive stays."""
    if mind := _minds.pop(agent_id, None):
        mind.close()
        mind.keeper.recaller.forget()


def rename_mind(agent: Agent, former: str) -> None:
    """The agent has another name: its mind begins anew under it, and goes on with its counts.

    Args:
        agent: Who; its key is the new name.
        former: What it was called; the same if it may not be called otherwise.
    """
    before = _minds.get(agent.id)
    close_mind(agent.id)
    if agent.key != former:  # once the old mind has told all, and before the new one does
        keep_former(agent, former)
    if before is not None and (mind := mind_of(agent)) is not None:
        mind.thinker.take_over(before.thinker)


def close_all() -> None:
    """Stop all thinking and bring every memory to the disk."""
    global _next_tick, _ticks  # one for all minds, like the table they stand in
    if _next_tick is not None and _next_tick.active():
        _next_tick.cancel()
    _next_tick, _ticks = None, 0
    for mind in open_minds():
        mind.close()
    _minds.clear()


def _tick_soon() -> None:
    """Have all minds told that a minute has passed; one call, however many there are."""
    global _next_tick  # noqa: PLW0603 - as above
    if _next_tick is None and running():
        _next_tick = services().timer.callLater(TICK_SECONDS, _tick)


def _tick() -> None:
    global _next_tick, _ticks  # noqa: PLW0603 - as above
    _next_tick = None
    for mind in open_minds():
        try:
            mind.sleeper.tick()
        except Exception as error:
            # Whatever is wrong with one agent, the others tire, sleep and wake.
            log(f"[Error] {mind.memory.name}: Sleep could not be looked after: {error!r}")
    _ticks += 1
    if _ticks % LOOK_EACH == 0 and running():
        services().searchers.submit(_look, list(open_minds()))
    _tick_soon()


def _look(minds: Sequence[Mind]) -> None:
    for mind in minds:
        mind.look()


def _open(agent: Agent, shared: Services) -> Mind:
    name, folder = agent.key, shared.places.agents / agent.memory_folder
    shared.taps.agent_ids[name] = agent.id
    memory = MemoryComponent(name, folder, shared)
    diary = Diary(name, folder, memory, shared)
    acquaintances = Acquaintances(name, folder, memory, shared)
    keeper = MemoryTools(name, folder, memory, diary, shared)
    examiner = Examiner(name, memory, keeper.recaller, shared)
    actor = Actor(memory, keeper, shared)
    fitting = Fitting(name, memory, shared)
    following = Following()
    parts = Parts(memory, keeper, actor, fitting, diary, acquaintances, following)
    thinker = Thinker(agent.id, parts, shared)
    works = NightWorks(
        name, folder, NightParts(memory, keeper.recaller, diary, acquaintances), shared
    )
    nights = Nights(name, folder, works, shared)
    sleeper = Sleeper(agent.id, SleepParts(memory, thinker, nights), shared)
    mind = Mind(
        memory,
        keeper,
        actor,
        fitting,
        thinker,
        examiner,
        diary,
        acquaintances,
        sleeper,
        following,
    )
    _connect(mind, shared.taps)
    return mind


def _connect(mind: Mind, taps: Taps) -> None:
    """Let the components know of each other what each has to."""
    memory, diary, acquaintances = mind.memory, mind.diary, mind.acquaintances
    memory.pins = lambda: mind.keeper.shown_pins
    memory.importance = diary.weight_of
    memory.sleeps = lambda: mind.sleeper.may_compact
    memory.leaving = diary.leaving
    memory.compactor.moved = mind.keeper.recaller.follow
    memory.compactor.compacted = mind.examiner.compacted
    diary.circumstances = lambda memory: _circumstances(memory, acquaintances)
    acquaintances.importance_of = diary.importance_of
    acquaintances.home = lambda: _home_of(mind.thinker.agent)
    # The diary first: whoever is new to the agent is so until its acquaintances have seen them.
    memory.watchers += [diary.saw, acquaintances.saw, partial(taps.remembered, memory.name)]
    mind.thinker.spent = mind.sleeper.spent
    mind.thinker.drowsy = lambda: mind.sleeper.going_home
    mind.examiner.resume()
    mind.keeper.recaller.follow()
    diary.open()
    mind.keeper.open()
    acquaintances.catch_up()


def _home_of(agent: Agent | None) -> str:
    return str(agent.home.key) if agent is not None and agent.home is not None else ""


def _circumstances(memory: Memory, acquaintances: Acquaintances) -> ImportanceContext:
    """Whether who caused a memory, and where it was, are new to the agent."""
    return ImportanceContext(
        met=not memory.source_id or acquaintances.met(memory.source_id),
        been_here=not memory.place or acquaintances.been(memory.place),
    )
