"""Starts and stops the agents together with Evennia's Server.

Name this module in ``AT_SERVER_STARTSTOP_MODULE``, or call :func:`start` and :func:`stop`.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress

from evennia.server.signals import SIGNAL_OBJECT_POST_PUPPET, SIGNAL_OBJECT_POST_UNPUPPET
from evennia.utils import logger
from twisted.internet import reactor

from keepsake import vault_lock
from keepsake.agent import runtime
from keepsake.agent.runtime import COMPACTING_AT_ONCE, Runtime
from keepsake.agent.scheduler import ReactorScheduler
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
    shared = runtime.start(here, ReactorScheduler(reactor), _listeners())
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
            agent.read_ahead()
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
    """Do what no event starts: write again after a full disk, retry and start compactions."""
    minds = open_minds()
    with suppress(KeepsakeError):  # the next model call reports a profile that cannot be used
        runtime.runtime().update_limits()
    busy = sum(mind.compactions.compacting for mind in minds)
    for mind in minds:
        # A mind that compacts does all this itself, and would block this thread until it ends.
        if mind.closed or mind.opening or mind.compactions.compacting:
            continue
        with logged(log, "Housekeeping failed", agent=mind.memory.name):
            if mind.memory.save_backlog() and busy < COMPACTING_AT_ONCE:
                mind.compactions.compact_if_due(
                    asleep=mind.sleeper.may_compact, in_talk=mind.thinker.in_talk
                )
                busy += mind.compactions.compacting
