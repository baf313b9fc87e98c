"""Starts and stops the agents together with Evennia's Server.

Name this module in ``AT_SERVER_STARTSTOP_MODULE``, or call :func:`start` and :func:`stop`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack, suppress

from evennia.server.signals import SIGNAL_OBJECT_POST_PUPPET, SIGNAL_OBJECT_POST_UNPUPPET
from evennia.utils import logger
from twisted.internet import reactor

from keepsake import vault_lock
from keepsake.agent import runtime
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import COMPACTING_AT_ONCE, Runtime
from keepsake.agent.scheduler import ReactorScheduler
from keepsake.agent.starting import start_runtime
from keepsake.agent.surroundings.game_objects import RoomObject
from keepsake.agent.surroundings.people import players_near
from keepsake.contrib.evennia.apps import at_agents_start, at_model_ready, places
from keepsake.contrib.evennia.forgetting import continue_requests
from keepsake.contrib.evennia.minds import close_all, open_all, open_minds
from keepsake.contrib.evennia.reacting import notice_login
from keepsake.contrib.otel import with_tracing
from keepsake.errors import KeepsakeError
from keepsake.events.log import Subscribers
from keepsake.logs import Subsystem, get_logger, logged
from keepsake.paths import prepare
from keepsake.ports import Cancellable

log = get_logger(Subsystem.HOUSEKEEPING)

HOUSEKEEPING_SECONDS = 2.0
"""Seconds between two runs of :func:`_do_housekeeping`; no player waits for it."""
_housekeeping: Cancellable | None = None
"""The repeated call; None while the agents are stopped."""
_at_stop = ExitStack()
"""Releases the lock of the vault at a stop."""


def at_server_start() -> None:
    """Start the agents. If they cannot start, the game runs without them."""
    try:
        start()
    except KeepsakeError as problem:
        logger.log_err(f"Keepsake: The agents could not start. {problem}")


def at_server_reload_stop() -> None:
    """Stop the agents before the Server restarts with new code."""
    stop(reload=True)


def at_server_cold_stop() -> None:
    """Stop the agents before the Server shuts down or resets."""
    stop(reload=False)


def start() -> None:
    """Start the runtime, and open every agent's memory.

    Raises:
        KeepsakeError: A folder cannot be written to, or another game has the vault.
    """
    here = places()
    prepare(here)
    _at_stop.enter_context(vault_lock.take(here))
    shared = start_runtime(here, ReactorScheduler(reactor), _listeners())
    for moment in (SIGNAL_OBJECT_POST_PUPPET, SIGNAL_OBJECT_POST_UNPUPPET):
        moment.connect(notice_login)
    open_agents(shared)


def _listeners() -> Subscribers:
    """Return those who listen to events from the start on: traces, and what apps have added."""
    subscribers = Subscribers()
    for add_listeners in at_agents_start:
        with logged(log, "Listeners to events could not be added"):  # the game runs without them
            add_listeners(subscribers)
    return with_tracing(subscribers)


def open_agents(shared: Runtime) -> None:
    """Open every agent's memory, continue interrupted requests, and start the housekeeping."""
    global _housekeeping  # noqa: PLW0603 - one per process, like the runtime
    shared.post(open_all)
    shared.post(continue_requests)
    shared.gateway.on_ready = _model_is_back
    _housekeeping = shared.scheduler.every(HOUSEKEEPING_SECONDS, _do_housekeeping)


def _model_is_back() -> None:
    """Let agents answer what they could not answer before, now that a model server works again."""
    for mind in open_minds():
        mind.thinker.answer_waiting()
        if (agent := mind.thinker.body()) is not None:
            agent.read_ahead(for_newcomers=True)
    for tell in at_model_ready:
        with logged(log, "It could not be told that a model answers"):
            tell()


def stop(*, reload: bool) -> None:
    """Close every memory and stop the runtime; a reload leaves the model server running."""
    if _housekeeping is not None:
        _housekeeping.cancel()
    close_all()
    runtime.stop(reload=reload)
    _at_stop.close()


def _do_housekeeping() -> None:
    """Do what no event starts: write again after a full disk, compact, try a new model."""
    minds = open_minds()
    with suppress(KeepsakeError):  # the next model call reports a profile that cannot be used
        runtime.runtime().update_limits()
        runtime.runtime().secret_trial.begin_at_pause()
    running = Counter(company_of(mind) for mind in minds if mind.compactions.compacting)
    # A mind that compacts does all this itself, and would block this thread until it ends.
    free = [x for x in minds if not (x.closed or x.opening or x.compactions.compacting)]
    talking = _rooms_with_talk(free)
    for mind in free:
        with logged(log, "Housekeeping failed", agent=mind.memory.name):
            if not mind.memory.save_backlog() or running.total() >= COMPACTING_AT_ONCE:
                continue
            company = company_of(mind)
            if company is not None and running[company]:
                continue  # the others of the room come one after the other
            in_talk = company in talking
            mind.compactions.compact_if_due(asleep=mind.sleeper.may_compact, in_talk=in_talk)
            running[company] += mind.compactions.compacting


def _rooms_with_talk(minds: Iterable[Mind]) -> set[RoomObject]:
    """Return the rooms in which an agent and a player talk."""
    found = set[RoomObject]()
    for mind in minds:
        with logged(log, "Housekeeping failed", agent=mind.memory.name):
            company = company_of(mind) if mind.presence.in_talk else None
            if company is not None:
                found.add(company)
    return found


def company_of(mind: Mind) -> RoomObject | None:
    """Return the room where an agent is with a player; None if it is with none.

    What is said there fills the memories of all its agents at the same pace, so their compactions
    fall due together. They wait for a pause of the whole room.
    """
    agent = mind.thinker.body()
    return agent.location if agent is not None and players_near(agent) else None
