"""Which mind belongs to which agent.

The components live here, by the agent's database number, and not on the Evennia object:
Evennia may drop an object from its cache at any time, and an archive must have one owner.

After a start they are opened one after the other while players play: a worker thread reads, the
reactor thread hears of it and goes on to the next. Whoever asks for a mind that is not open yet
has it opened right then, so nothing that is said to an agent is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import evennia
from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultCharacter, DefaultRoom

from keepsake.agent.agent_log import logged
from keepsake.agent.body import Life
from keepsake.agent.memory.plugged import PROFILE_FILE, memory_named
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import Runtime, running, runtime
from keepsake.agent.sleep.sleeper import TICK_SECONDS

LOOK_EACH = 5
"""Ticks after which somebody looks what people have changed in the agents' files."""

_minds: dict[int, Mind] = {}
_unopened: dict[int, Any] = {}
"""The agents whose turn to be opened has not come yet."""
_next_tick: Any = None
_ticks = 0


def mind_of(agent: Any) -> Mind | None:
    """The mind of that agent, opened when it is first asked for.

    None while no runtime runs, and for an agent that is being deleted: what it still sees
    of its own end must not open its archive again.
    """
    if not running() or agent.id is None or agent.ndb.being_deleted:
        return None
    mind = _made(agent)
    if not mind.begun:
        mind.begin()
        if _unopened.pop(agent.id, None) is not None:
            mind.thinker.start()
        _tick_soon()
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
    """Open the minds of these agents one after the other, and let them think.

    Those near players come first.
    """
    shared = runtime()
    for agent in agents:
        _unopened[agent.id] = agent
        shared.taps.agent_ids[agent.key] = agent.id  # or the first would take others for players
    shared.post(lambda: _open_next(shared))


def _open_next(shared: Runtime) -> None:
    if not running() or runtime() is not shared:
        return
    agent = _next_to_open()
    if agent is None:
        return
    number = agent.id

    def prepared() -> None:
        if running() and runtime() is shared:
            with logged(f"{agent.key}: The mind could not be opened"):
                mind_of(agent)
            _unopened.pop(number, None)
            _open_next(shared)

    with logged(f"{agent.key}: The mind could not be made"):
        # Its turn ends when that is read: reading two at once would only take longer for both.
        reading = shared.workers.submit(_made(agent).memory.prepare)
        reading.add_done_callback(lambda _: shared.post(prepared))
        return
    shared.post(prepared)


def _next_to_open() -> Any:
    """The agent whose turn has come, one near a player if there is one; None if none waits."""
    for session in evennia.SESSION_HANDLER.get_sessions():
        player = session.get_puppet()
        if player is not None and player.location is not None:
            for each in player.location.contents_get(content_type="character"):
                if each.id in _unopened:
                    return each
    for number, agent in list(_unopened.items()):
        if agent.id is not None and not agent.ndb.being_deleted:
            return agent
        del _unopened[number]
    return None


def close_mind(agent_id: int) -> None:
    """The agent is gone; its archive stays."""
    _unopened.pop(agent_id, None)
    if mind := _minds.pop(agent_id, None):
        mind.close()
        mind.keeper.recaller.forget()


def rename_mind(agent: Any, former: str) -> None:
    """The agent has another name: its mind begins anew under it, and goes on with its counts."""
    if agent.id in _minds:
        close_mind(agent.id)
        mind_of(agent)


def close_all() -> None:
    """Stop all thinking and bring every memory to the disk."""
    global _next_tick, _ticks  # one for all minds, like the table they stand in
    if _next_tick is not None and _next_tick.active():
        _next_tick.cancel()
    _next_tick, _ticks = None, 0
    for mind in list(_minds.values()):
        mind.close()
    _minds.clear()
    _unopened.clear()


def _tick_soon() -> None:
    """Have all minds told that a minute has passed; one call, however many there are."""
    global _next_tick  # noqa: PLW0603 - as above
    if _next_tick is None and running():
        _next_tick = runtime().timer.callLater(TICK_SECONDS, _tick)


def _tick() -> None:
    global _next_tick, _ticks  # noqa: PLW0603 - as above
    _next_tick = None
    for mind in list(open_minds()):
        with logged(f"{mind.memory.name}: Its day could not go on"):
            mind.sleeper.tick()
            if (agent := mind.thinker.agent) is not None and not mind.closed:
                agent.at_minute()
    _ticks += 1
    if _ticks % LOOK_EACH == 0 and running():
        runtime().workers.submit(_look, list(open_minds()))
    _tick_soon()


def _look(minds: Sequence[Mind]) -> None:
    for mind in minds:
        mind.look()


def known_names() -> frozenset[str]:
    """The names of all people and places. Recall treats a mention of one as more than a word."""
    families = (kind.objects.all_family() for kind in (DefaultCharacter, DefaultRoom))
    return frozenset(n for each in families for n in each.values_list("db_key", flat=True))


def _made(agent: Any) -> Mind:
    """Its mind, which may have to begin yet."""
    number, shared = agent.id, runtime()
    if number in _minds:
        return _minds[number]
    shared.taps.agent_ids[agent.key] = number

    def find() -> Any:
        # Evennia keeps what it has loaded: the database is asked only the first time.
        if (loaded := ObjectDB.get_cached_instance(number)) is not None:
            return loaded
        try:
            return ObjectDB.objects.get(id=number)
        except ObjectDB.DoesNotExist:
            return None

    folder = shared.places.agents / agent.memory_folder
    memory = memory_named(folder / PROFILE_FILE)
    life = Life(number, agent.key, folder, find, known_names, memory)
    _minds[number] = mind = Mind(life, shared)
    return mind
