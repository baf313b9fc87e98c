"""Which mind belongs to which agent.

The components live here, by the agent's database number, and not on the Evennia object:
Evennia may drop an object from its cache at any time, and an archive must have one owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evennia.objects.models import ObjectDB

from game.agent.agent_log import logged
from game.agent.body import Life
from game.agent.mind import Mind
from game.agent.naming import keep_former
from game.agent.services import Services, running, services
from game.agent.sleep.sleeper import TICK_SECONDS
from typeclasses.everywhere import known_names

LOOK_EACH = 5
"""Ticks after which somebody looks what people have changed in the agents' files."""

_minds: dict[int, Mind] = {}
_next_tick: Any = None
_ticks = 0


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


def rename_mind(agent: Any, former: str) -> None:
    """The agent has another name: its mind begins anew under it, and goes on with its counts."""
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
        with logged(f"{mind.memory.name}: Sleep could not be looked after"):
            mind.sleeper.tick()
    _ticks += 1
    if _ticks % LOOK_EACH == 0 and running():
        services().searchers.submit(_look, list(open_minds()))
    _tick_soon()


def _look(minds: Sequence[Mind]) -> None:
    for mind in minds:
        mind.look()


def _open(agent: Any, shared: Services) -> Mind:
    number = agent.id
    shared.taps.agent_ids[agent.key] = number

    def find() -> Any:
        try:
            # Evennia keeps what it has loaded: this asks the database only the first time.
            return ObjectDB.objects.get(id=number)
        except ObjectDB.DoesNotExist:
            return None

    folder = shared.places.agents / agent.memory_folder
    return Mind(Life(number, agent.key, folder, find, lambda: known_names(shared)), shared)
