"""Brings the agents to life when Evennia's Server starts, and to rest when it stops."""

from __future__ import annotations

import itertools
from typing import Any

from twisted.internet import reactor
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from game.paths import places
from typeclasses import services
from typeclasses.agents import all_agents
from typeclasses.minds import close_all, mind_of, open_minds

HOUSEKEEPING_SECONDS = 2.0
FOLLOW_EVERY = 15
"""Housekeepings between two looks for notes that somebody edited by hand."""

_log = Logger()
_housekeeping: LoopingCall | None = None
_rounds = itertools.count(1)


def start() -> None:
    """Start the shared services, open every agent's memory and let them think."""
    global _housekeeping  # noqa: PLW0603 - one a process, like the services it looks after
    services.start(places(), reactor)
    for agent in all_agents():
        if mind := mind_of(agent):
            mind.thinker.start()
    _housekeeping = LoopingCall(_keep_house)
    _housekeeping.start(HOUSEKEEPING_SECONDS, now=False).addErrback(_broken)


def stop(*, reload: bool) -> None:
    """Close every memory and end the services; a reload leaves the model server running."""
    if _housekeeping is not None and _housekeeping.running:
        _housekeeping.stop()
    close_all()
    services.stop(reload=reload)


def _keep_house() -> None:
    """What no event of the world would set off: a full disk that is empty again, retries."""
    look = next(_rounds) % FOLLOW_EVERY == 0
    for mind in open_minds():
        if look:
            mind.keeper.recaller.follow()
        if mind.memory.save_backlog():
            mind.memory.compact_if_due()


def _broken(failure: Any) -> None:
    _log.failure("Housekeeping stopped", failure=failure)
