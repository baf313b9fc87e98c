"""Starts the agents with Evennia's Server, and stops them with it.

Name this module in ``AT_SERVER_STARTSTOP_MODULE``, or call :func:`start` and :func:`stop`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any

from evennia.server.signals import SIGNAL_OBJECT_POST_PUPPET, SIGNAL_OBJECT_POST_UNPUPPET
from twisted.internet import reactor
from twisted.internet.task import Cooperator, LoopingCall
from twisted.logger import Logger

from keepsake.agent import runtime
from keepsake.agent.runtime import COMPACTING_AT_ONCE, Runtime
from keepsake.agent.surroundings import players_near
from keepsake.agent.thinking.reports import prime
from keepsake.agent.thinking.turn import PROFILE
from keepsake.agent.warming import Warming
from keepsake.contrib.evennia.agents import notice_login
from keepsake.contrib.evennia.apps import places
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import close_all, mind_of, open_in_turn, open_minds, unopened
from keepsake.events.subscribers import Taps
from keepsake.models.profiles import ModelProfile
from keepsake.ports import GenerationRequest

HOUSEKEEPING_SECONDS = 2.0
TURN_SECONDS = 0.01
"""How long housekeeping keeps others from the reactor."""
WARM_AFTER_SECONDS = 3.0

_log = Logger()
_housekeeping: LoopingCall | None = None


def at_server_start() -> None:
    """The Server is up."""
    start()


def at_server_reload_stop() -> None:
    """The Server goes down and comes back with fresh code."""
    stop(reload=True)


def at_server_cold_stop() -> None:
    """The Server goes down for good, or for a reset."""
    stop(reload=False)


def start(taps: Taps | None = None) -> None:
    """Start what all agents run on, and have every agent's memory opened in its turn."""
    shared = runtime.start(places(), reactor, taps=taps)
    for moment in (SIGNAL_OBJECT_POST_PUPPET, SIGNAL_OBJECT_POST_UNPUPPET):
        moment.connect(notice_login)
    live(shared)
    shared.warming = Warming(shared.gateway, PROFILE, _head)
    # Who was connected before a reload is so again a moment after it.
    shared.timer.callLater(WARM_AFTER_SECONDS, _warm, shared)


def live(shared: Runtime) -> None:
    """Have every agent's memory opened in its turn, and let all think."""
    global _housekeeping  # noqa: PLW0603 - one a process, like what it looks after
    began = shared.clock.now()
    open_in_turn(all_agents(), lambda: _opened(shared, began))
    shared.gateway.on_ready = partial(_model_is_back, shared)
    turns = Cooperator(partial(_a_while, shared), partial(shared.timer.callLater, 0))
    _housekeeping = LoopingCall(lambda: turns.coiterate(_keep_house()))
    _housekeeping.clock = shared.timer
    _housekeeping.start(HOUSEKEEPING_SECONDS, now=False).addErrback(_broken)


def _opened(shared: Runtime, began: datetime) -> None:
    """All agents are open: they are told what they did before the world began."""
    minds = [(mind.thinker.agent, mind.thinker.tally) for mind in open_minds()]
    prime([(agent.id, tally) for agent, tally in minds if agent], shared, began)


def _model_is_back(shared: Runtime) -> None:
    """Have those answered whom no model answered, now that a server is well again."""
    for mind in list(open_minds()):
        mind.thinker.model_is_back()
    _warm(shared)


def _a_while(shared: Runtime) -> Callable[[], bool]:
    """Tells when work that can wait is to leave the reactor to players for a moment."""
    end = shared.seconds() + TURN_SECONDS
    return lambda: shared.seconds() >= end


def _warm(shared: Runtime) -> None:
    """Have the prompts read of those whom players will speak to first."""
    if shared.warming is not None:
        awake = [agent for agent in all_agents() if not (agent.is_asleep or agent.db.paused)]
        near = [agent for agent in awake if players_near(agent)]
        shared.warming.want([*near, *(each for each in awake if each.db.keeps)])


def _head(agent: Any, profile: ModelProfile) -> GenerationRequest | None:
    """An agent's prompt as it would be sent now; what changes stands at its end."""
    mind = mind_of(agent)
    if mind is None or profile.is_stopgap:
        return None
    return mind.thinker.preview.head(agent, profile)


def stop(*, reload: bool) -> None:
    """Close every memory and end what they run on; a reload leaves the model server running."""
    if _housekeeping is not None and _housekeeping.running:
        _housekeeping.stop()
    if runtime.running() and (warming := runtime.runtime().warming):
        warming.drop()
    close_all()
    runtime.stop(reload=reload)


def _keep_house() -> Iterator[None]:
    """What no event of the world would set off: a full disk that is empty again, retries.

    One agent a step. A thread is left to who has to compact before it can answer; and as long as
    some are not open yet, that is what there is to do.
    """
    minds = list(open_minds())
    busy = COMPACTING_AT_ONCE if unopened() else sum(mind.memory.compactor.busy for mind in minds)
    for mind in minds:
        # One that compacts would have to be waited for, and does all this itself.
        if mind.closed or mind.memory.compactor.busy:
            continue
        try:
            if mind.memory.save_backlog() and busy < COMPACTING_AT_ONCE:
                mind.memory.compact_if_due()
                busy += mind.memory.compactor.busy
        except Exception:  # whatever is wrong with one agent, the others are looked after
            _log.failure("Housekeeping failed for {name}", name=mind.memory.name)
        yield


def _broken(failure: Any) -> None:
    _log.failure("Housekeeping stopped", failure=failure)
