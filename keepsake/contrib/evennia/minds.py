"""Which mind belongs to which agent.

The components live here, by the agent's database number, and not on the Evennia object:
Evennia may drop an object from its cache at any time, and an archive must have one owner.

After a start they are opened one after the other while players play: a worker thread reads, the
reactor thread hears of it and goes on to the next. Whoever asks for a mind that is not open yet
has it opened right then, so nothing that is said to an agent is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultCharacter, DefaultRoom
from twisted.internet.task import LoopingCall

from keepsake.agent.agent_log import logged
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import Runtime, running, runtime
from keepsake.agent.sleep.sleeper import TICK_SECONDS
from keepsake.agent.surroundings import Life
from keepsake.contrib.evennia.creation import MEMORY_ID, settle_memory

_minds: dict[int, Mind] = {}
_unopened: dict[int, Any] = {}
"""The agents whose turn to be opened has not come yet."""
_ticking: LoopingCall | None = None


def mind_of(agent: Any) -> Mind | None:
    """The mind of that agent, opened when it is first asked for.

    None while no runtime runs, and for an agent that is being deleted: what it still sees
    of its own end must not open its archive again.
    """
    if (mind := _minds.get(agent.id)) is not None and mind.begun:
        if mind.memory_id == agent.attributes.get(MEMORY_ID):
            return mind
        close_mind(agent.id)  # somebody gave it another memory
    if not running() or agent.id is None or agent.ndb.being_deleted:
        return None
    mind = _made(agent)
    if not mind.begun:
        mind.begin()
        if _unopened.pop(agent.id, None) is not None:
            mind.thinker.schedule()
        _tick_from_now_on()
    return mind


def mind_by_number(agent_id: int) -> Mind | None:
    """The mind of the agent with that database number, if it is open now."""
    mind = _minds.get(agent_id)
    return mind if mind is not None and mind.begun else None


def open_minds() -> Iterator[Mind]:
    """Every mind that is open now."""
    yield from [mind for mind in _minds.values() if mind.begun]


def unopened() -> int:
    """How many agents wait for their turn to be opened."""
    return len(_unopened)


def open_in_turn(agents: Iterable[Any]) -> None:
    """Open the minds of these agents one after the other, and let them think."""
    shared = runtime()
    for agent in agents:
        _unopened[agent.id] = agent
        # or the first would take others for players
        shared.subscribers.agent_ids[agent.key] = agent.id
    shared.post(lambda: _open_next(shared))


def _open_next(shared: Runtime) -> None:
    if not running() or runtime() is not shared or not _unopened:
        return
    number, agent = next(iter(_unopened.items()))

    def prepared() -> None:
        if running() and runtime() is shared:
            with logged(f"{agent.key}: The mind could not be opened"):
                mind_of(agent)
            _unopened.pop(number, None)
            _open_next(shared)

    with logged(f"{agent.key}: The mind could not be made"):
        if agent.id is not None and not agent.ndb.being_deleted:
            # Its turn ends when that is read: reading two at once would only take longer for both.
            reading = shared.workers.submit(_made(agent).memory.open)
            reading.add_done_callback(lambda _: shared.post(prepared))
            return
    shared.post(prepared)


def close_mind(agent_id: int) -> None:
    """The agent is gone; its archive stays."""
    _unopened.pop(agent_id, None)
    if mind := _minds.pop(agent_id, None):
        mind.close()
        mind.keeper.recaller.forget()


def close_all() -> None:
    """Stop all thinking and bring every memory to the disk."""
    global _ticking  # noqa: PLW0603 - one for all minds, like the table they stand in
    if _ticking is not None:
        _ticking.stop()
    _ticking = None
    for mind in list(_minds.values()):
        mind.close()
    _minds.clear()
    _unopened.clear()


def _tick_from_now_on() -> None:
    """Have all minds told of each minute; one call, however many there are."""
    global _ticking  # noqa: PLW0603 - as above
    if _ticking is None:
        _ticking = LoopingCall(_tick)
        _ticking.clock = runtime().timer
        _ticking.start(TICK_SECONDS, now=False)


def _tick() -> None:
    minds = list(open_minds())
    for mind in minds:
        with logged(f"{mind.memory.name}: Its day could not go on"):
            mind.sleeper.tick()
            if (agent := mind.thinker.body()) is not None and not mind.closed:
                agent.at_minute()
    if running():
        runtime().workers.submit(lambda: list(map(Mind.look, minds)))


def known_names() -> frozenset[str]:
    """The names of all people and places. Recall treats a mention of one as more than a word."""
    families = (kind.objects.all_family() for kind in (DefaultCharacter, DefaultRoom))
    return frozenset(n for each in families for n in each.values_list("db_key", flat=True))


def _made(agent: Any) -> Mind:
    """Its mind, which may have to begin yet."""
    number, shared = agent.id, runtime()
    if number in _minds:
        return _minds[number]
    while shared.at_first_agent:
        shared.at_first_agent.pop(0)()
    shared.subscribers.agent_ids[agent.key] = number
    settle_memory(agent)
    if number in _minds:  # a copy, which has begun meanwhile
        return _minds[number]
    # Evennia keeps what it has loaded: the database is asked only the first time.
    find = partial(ObjectDB.objects.get_id, number)
    folder = shared.places.agents / agent.memory_folder
    life = Life(number, agent.key, folder, find, known_names)
    _minds[number] = mind = Mind(life, shared)
    mind.memory_id = agent.attributes.get(MEMORY_ID)
    return mind
