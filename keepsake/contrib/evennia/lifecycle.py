"""Starts the agents with Evennia's Server, and stops them with it.

Name this module in ``AT_SERVER_STARTSTOP_MODULE``, or call :func:`start` and :func:`stop`.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress

from evennia.server.signals import SIGNAL_OBJECT_POST_PUPPET, SIGNAL_OBJECT_POST_UNPUPPET
from evennia.utils import logger
from twisted.internet import reactor
from twisted.internet.task import LoopingCall

from keepsake import vault_lock
from keepsake.agent import runtime
from keepsake.agent.agent_log import logged
from keepsake.agent.runtime import COMPACTING_AT_ONCE, Runtime
from keepsake.contrib.evennia.agents import notice_login
from keepsake.contrib.evennia.apps import places
from keepsake.contrib.evennia.minds import close_all, open_all, open_minds
from keepsake.contrib.otel import traced
from keepsake.errors import KeepsakeError
from keepsake.paths import prepare
from keepsake.web.watching import watching

HOUSEKEEPING_SECONDS = 2.0
_housekeeping: LoopingCall | None = None
_held = ExitStack()
"""What is let go of at a stop: the vault."""


def at_server_start() -> None:
    """The Server is up; a game goes on without its agents where these cannot start."""
    try:
        start()
    except KeepsakeError as problem:
        logger.log_err(f"Keepsake: The agents could not start. {problem}")


def at_server_reload_stop() -> None:
    """The Server goes down and comes back with fresh code."""
    stop(reload=True)


def at_server_cold_stop() -> None:
    """The Server goes down for good, or for a reset."""
    stop(reload=False)


def start() -> None:
    """Start what all agents run on, and have every agent's memory opened.

    Raises:
        KeepsakeError: A folder cannot be written to, or another game has the vault.
    """
    here = places()
    prepare(here)
    _held.enter_context(vault_lock.take(here))
    shared = runtime.start(here, reactor, subscribers=traced(watching().subscribers))
    for moment in (SIGNAL_OBJECT_POST_PUPPET, SIGNAL_OBJECT_POST_UNPUPPET):
        moment.connect(notice_login)
    live(shared)


def live(shared: Runtime) -> None:
    """Have every agent's memory opened, and let all think."""
    global _housekeeping  # noqa: PLW0603 - one a process, like what it looks after
    shared.post(open_all)
    shared.gateway.on_ready = _model_is_back
    _housekeeping = LoopingCall(_keep_house)
    _housekeeping.clock = shared.timer
    _housekeeping.start(HOUSEKEEPING_SECONDS, now=False)


def _model_is_back() -> None:
    """Have those answered whom no model answered, now that a server is well again."""
    for mind in open_minds():
        mind.thinker.model_is_back()


def stop(*, reload: bool) -> None:
    """Close every memory and end what they run on; a reload leaves the model server running."""
    if _housekeeping is not None and _housekeeping.running:
        _housekeeping.stop()
    close_all()
    runtime.stop(reload=reload)
    _held.close()


def _keep_house() -> None:
    """What no event of the world would set off: a full disk that is empty again, retries."""
    minds = open_minds()
    with suppress(KeepsakeError):  # a profile that cannot be used is reported by the next call
        runtime.runtime().chat_profile()  # else a start compacts what a larger prompt has room for
    busy = sum(mind.compactions.compacting for mind in minds)
    for mind in minds:
        # One that compacts would have to be waited for, and does all this itself.
        if mind.closed or mind.compactions.compacting:
            continue
        with logged(f"{mind.memory.name}: Housekeeping failed"):
            if mind.memory.save_backlog() and busy < COMPACTING_AT_ONCE:
                mind.compactions.compact_if_due(asleep=mind.sleeper.may_compact)
                busy += mind.compactions.compacting
