"""Brings the agents to life when Evennia's Server starts, and to rest when it stops."""

from __future__ import annotations

from typing import Any

from twisted.internet import reactor
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from game.agent import services
from game.agent.counting import Counting
from game.agent.naming import names_of
from game.agent.priming import prime
from game.agent.services import Services
from game.agent.surroundings import players_near
from game.agent.thinking.prompting import kept_by, prompt_for
from game.agent.thinking.replying import reply_head
from game.agent.thinking.thinking import PROFILE
from game.agent.warming import Warming
from game.llm.profiles import SCRIPT, ModelProfile
from game.llm.tokens.counting import ServerTokenCounter
from game.mind.events.subscribers import Taps
from game.mind.ports import GenerationRequest
from game.paths import places
from typeclasses.agents import Agent, all_agents
from typeclasses.minds import close_all, mind_of, open_minds

HOUSEKEEPING_SECONDS = 2.0
WARM_AFTER_SECONDS = 3.0

_log = Logger()
_housekeeping: LoopingCall | None = None


def start(taps: Taps | None = None) -> None:
    """Start the shared services, open every agent's memory and let them think."""
    shared = services.start(places(), reactor, taps=taps)
    live(shared)
    shared.warming = Warming(shared.gateway, shared.timer, PROFILE, _head)
    # Who was connected before a reload is so again a moment after it.
    shared.timer.callLater(WARM_AFTER_SECONDS, _warm, shared)


def live(shared: Services) -> None:
    """Open every agent's memory over these services, and let all of them think."""
    global _housekeeping  # noqa: PLW0603 - one a process, like the services it looks after
    counter = ServerTokenCounter(shared.gateway)
    shared.counting = Counting(shared.tokens, counter, shared.counters, shared.timer)
    shared.counting.start()
    counted = []
    for agent in all_agents():
        if mind := mind_of(agent):
            mind.thinker.start()
            counted.append((names_of(agent), mind.thinker.tally))
    prime(counted, shared)
    _housekeeping = LoopingCall(_keep_house)
    _housekeeping.clock = shared.timer
    _housekeeping.start(HOUSEKEEPING_SECONDS, now=False).addErrback(_broken)


def _warm(shared: Services) -> None:
    """Have the prompts read of those whom players will speak to first."""
    if shared.warming is not None:
        awake = [agent for agent in all_agents() if not (agent.is_asleep or agent.db.paused)]
        near = [agent for agent in awake if players_near(agent)]
        shared.warming.want([*near, *(each for each in awake if each.db.keeps)])


def _head(agent: Agent, profile: ModelProfile) -> GenerationRequest | None:
    """An agent's prompt as it would be sent now; what changes stands at its end."""
    if profile.format != SCRIPT:  # whoever comes speaks first, and is answered
        return reply_head(agent, profile, services.services())
    mind = mind_of(agent)
    if mind is None:
        return None
    kept = kept_by(agent, mind)
    prompt = prompt_for(agent, mind.memory.context(), services.services(), kept)
    return profile.request(prompt.text)


def stop(*, reload: bool) -> None:
    """Close every memory and end the services; a reload leaves the model server running."""
    if _housekeeping is not None and _housekeeping.running:
        _housekeeping.stop()
    if services.running() and (warming := services.services().warming):
        warming.drop()
    close_all()
    services.stop(reload=reload)


def _keep_house() -> None:
    """What no event of the world would set off: a full disk that is empty again, retries."""
    for mind in open_minds():
        try:
            mind.keeper.recaller.follow_window()
            if mind.memory.save_backlog():
                mind.memory.compact_if_due()
        except Exception:  # whatever is wrong with one agent, the others are looked after
            _log.failure("Housekeeping failed for {name}", name=mind.memory.name)


def _broken(failure: Any) -> None:
    _log.failure("Housekeeping stopped", failure=failure)
