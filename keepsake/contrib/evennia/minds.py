"""The minds of the agents, by the agents' database numbers.

They are here and not on the Evennia objects, because Evennia may drop an object from its cache at
any time, and an archive must have one owner.

They are opened at the start, or at their first use. A worker thread reads their files. While
another thread changes the files of a mind, the mind is suspended: see :class:`Suspension`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache, partial

from django.db.models.signals import post_delete, post_save
from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultCharacter, DefaultRoom

from keepsake.agent.attention.presence import AgentState
from keepsake.agent.body import AgentRef, Body
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import running, runtime
from keepsake.agent.sleep.sleeper import TICK_SECONDS
from keepsake.contrib.evennia.creation import (
    all_agents,
    memory_id,
    memory_is_missing,
    settle_memory,
)
from keepsake.errors import KeepsakeError
from keepsake.events.types import MemoryChange
from keepsake.events.values import Author, MemoryOp
from keepsake.logs import Subsystem, get_logger, logged
from keepsake.ports import Cancellable

log = get_logger(Subsystem.AGENTS)

STATES = tuple(each for each in AgentState if each is not AgentState.OPENING)
"""The states that an agent may be in."""
_minds: dict[int, Mind] = {}
_missing: dict[int, str] = {}
"""The names of the agents whose memory is missing in the vault, by database number."""
_ticking: Cancellable | None = None


def mind_of(agent: Body) -> Mind | None:
    """Return the mind of an agent; the first call opens it.

    None while the runtime is not running, and for an agent that is being deleted: messages that
    it still gets must not open its archive again. None also for an agent whose memory is missing
    in the vault (:func:`missing_minds`), and for one that is suspended. :func:`why_closed` tells
    which.
    """
    number = agent.id
    if (mind := _minds.get(number)) is not None:
        if mind.memory_id == memory_id(agent):
            return mind
        close_mind(number)  # its memory_id was changed
    if not running() or agent.pk is None or agent.ndb.being_deleted or number in _suspended:
        return None
    shared = runtime()
    if memory_is_missing(agent, shared.places.agents):
        _report_missing(agent)
        return None
    _missing.pop(number, None)
    while shared.at_first_agent:
        shared.at_first_agent.pop(0)()
    shared.subscribers.agent_ids[agent.key] = number
    settle_memory(agent)
    agent.ensure_commands()  # Evennia's ``type`` calls no hook
    if number not in _minds:  # it may be: settle_memory opens the mind of a copy
        _open_mind(agent)
    return _minds[number]


def _open_mind(agent: Body) -> Mind:
    """Open the mind of an agent whose folder is known to be its own."""
    shared = runtime()
    number = agent.id
    # Evennia caches loaded objects: this asks the database only the first time.
    find = partial(ObjectDB.objects.get_id, number)
    folder = shared.places.agents / agent.memory_folder
    mind = Mind(AgentRef(number, agent.key, folder, find, known_names), shared)
    _minds[number] = mind
    mind.memory_id = memory_id(agent)
    mind.begin()
    _start_ticking()
    return mind


def reopen_mind(agent: Body) -> Mind | None:
    """Open the mind of an agent again, because its name has changed; None if that cannot be.

    A mind that is open has its folder, so nothing is searched for in the vault or the database.
    """
    if mind_of(agent) is None:
        return None
    close_mind(agent.id)
    runtime().subscribers.agent_ids[agent.key] = agent.id
    return _open_mind(agent)


def _report_missing(agent: Body) -> None:
    """Log once that the agent's memory is missing."""
    if agent.id not in _missing:
        _missing[agent.id] = agent.key
        log.error("The memory is missing: %s", missing_memory(agent), agent=agent.key)


def missing_memory(agent: Body) -> KeepsakeError:
    """Return the error of an agent whose folder is missing in the vault."""
    folder = runtime().places.agents / agent.memory_folder
    return KeepsakeError(
        f"Its memory is missing: there is no folder {folder}",
        "Put the folder back (is its disk mounted?), or give it a new memory by "
        "`keepsake start --new-vault`",
    )


def why_closed(agent: Body) -> KeepsakeError:
    """Return why :func:`mind_of` gives no mind for an agent."""
    if not running():
        return KeepsakeError("The agents are not running", "`keepsake doctor` looks for the cause")
    if agent.id in _suspended:
        return KeepsakeError(
            f"A player's words are being deleted from {agent.key}'s memory",
            "Try again in a moment",
        )
    if agent.pk is None or agent.ndb.being_deleted:
        return KeepsakeError(f"{agent.key} is being deleted")
    return missing_memory(agent)


def missing_minds() -> list[str]:
    """Return the names of the agents that were not opened because their memory is missing."""
    return sorted(_missing.values())


def mind_by_number(agent_id: int) -> Mind | None:
    """Return the mind of the agent with that database number; None if it is not open."""
    return _minds.get(agent_id)


def state_of(mind: Mind) -> AgentState:
    """Return the mind's state, one of :data:`STATES`."""
    return AgentState.GOING_HOME if mind.walker.is_going_to_bed else mind.presence.state


def last_number(agent: Body) -> int:
    """Return the number of the agent's newest memory; 0 if its archive cannot be opened."""
    if (mind := mind_of(agent)) is None:
        return 0
    try:
        return int(mind.memory.memory.archive.last_number)
    except KeepsakeError:  # the component reports it itself
        return 0


def report(agent: Body, op: MemoryOp, *, about: str = "", last: int | None = None) -> None:
    """Emit an event about the agent's whole memory, such as ``begins``.

    Does nothing without a running runtime. If the agent is suspended, the event is emitted later.

    ``last``: The number of its newest memory; None to open the memory and look.
    """
    if (suspension := suspension_of(agent)) is not None:
        suspension.then(lambda _: report(agent, op, about=about))
        return
    if not running() or mind_of(agent) is None:
        return
    if last is None:
        last = last_number(agent)
    change = MemoryChange(
        agent=agent.key, op=op, n=last, of="agent", by=Author.BUILDER, about=about
    )
    runtime().events.emit(change)


def open_minds() -> list[Mind]:
    """Return every open mind."""
    return list(_minds.values())


def open_all() -> None:
    """Open the minds of all agents, and let them think."""
    agents = all_agents() if running() else []
    for agent in agents:  # before the first mind opens, which would take the others for players
        runtime().subscribers.agent_ids[agent.key] = agent.id
    for agent in agents:
        with logged(log, "The mind could not be opened", agent=agent.key):
            if mind := mind_of(agent):
                mind.when_open(mind.thinker.schedule)


def close_mind(agent_id: int) -> None:
    """Close an agent's mind, if it is open; its archive stays."""
    if mind := _minds.pop(agent_id, None):
        mind.close()
        mind.tools.recaller.forget()


class Suspension:
    """A time in which an agent's mind is closed, because another thread changes its files.

    The agent perceives meanwhile. What it perceives waits in the spill, as on a full disk. It
    thinks about that, and answers, after :meth:`end`. Its mind begins anew then: the old one may
    still hold what the files held before.
    """

    def __init__(self, agent: Body) -> None:
        self._agent = agent
        self._number = agent.id
        self._calls: list[Callable[[Mind], object]] = []
        # Before the mind is closed: a line that the agent gets meanwhile must not open it again.
        _suspended[self._number] = self
        close_mind(self._number)

    def then(self, call: Callable[[Mind], object]) -> None:
        """Call a function with the new mind, once it is open."""
        self._calls.append(call)

    def end(self) -> None:
        """Open the mind again, unless the agent has been deleted or the runtime has stopped."""
        if _suspended.get(self._number) is not self:
            return
        del _suspended[self._number]
        if (mind := mind_of(self._agent)) is not None:
            mind.when_open(partial(self._catch_up, mind))

    def _catch_up(self, mind: Mind) -> None:
        mind.memory.save_backlog()
        for call in self._calls:
            with logged(log, "What it perceived could not be taken in", agent=mind.memory.name):
                call(mind)


_suspended: dict[int, Suspension] = {}
"""The suspensions by the database number of their agent."""


def suspension_of(agent: Body) -> Suspension | None:
    """Return the agent's suspension; None if it is not suspended."""
    return _suspended.get(agent.id)


def close_all() -> None:
    """Stop all thinking and write every memory to the disk."""
    global _ticking  # noqa: PLW0603 - one for all minds, like the table of minds
    if _ticking is not None:
        _ticking.cancel()
    _ticking = None
    for mind in open_minds():
        mind.close()
    _minds.clear()
    _missing.clear()
    _suspended.clear()


def _start_ticking() -> None:
    """Start the call that ticks all minds each minute, if it is not running."""
    global _ticking  # noqa: PLW0603 - one for all minds
    if _ticking is None:
        _ticking = runtime().scheduler.every(TICK_SECONDS, _tick)


def _tick() -> None:
    minds = open_minds()
    for mind in minds:
        with logged(
            log, "The tick failed", agent=mind.memory.name, subsystem=Subsystem.HOUSEKEEPING
        ):
            mind.sleeper.tick()
            if (agent := mind.thinker.body()) is not None and not mind.closed:
                agent.at_minute()
    if running():
        runtime().workers.submit(lambda: list(map(Mind.read_edits, minds)))


@cache
def known_names() -> frozenset[str]:
    """Return the names of all people and places. Recall weighs them higher than other words."""
    families = (kind.objects.all_family() for kind in (DefaultCharacter, DefaultRoom))
    return frozenset(n for each in families for n in each.values_list("db_key", flat=True))


def _names_changed(
    sender: type, *, created: bool = True, update_fields: Collection[str] | None = None, **_: object
) -> None:
    """Clear the cached names if a saved or deleted object may have changed them."""
    if issubclass(sender, ObjectDB) and (created or "db_key" in (update_fields or ("db_key",))):
        known_names.cache_clear()


for _change in (post_save, post_delete):
    _change.connect(_names_changed)
