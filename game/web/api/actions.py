"""What the buttons do: the same as the builders' commands in the game."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue

from django.http import HttpRequest

from game.agent import tending
from game.agent.agent_log import log
from game.agent.memory.memory import Compacted
from game.agent.mind import Mind
from game.mind.errors import CompactionError
from game.mind.memory import CompactReason, Outcome
from game.web.api.answers import NotAllowed
from game.web.api.on_reactor import on_reactor
from game.web.api.shapes import Done
from game.web.api.snapshots import agent_with, mind_with, state_of
from game.web.site.access import may_act
from typeclasses.agents import Agent

HASTE = 1.0
"""Seconds in which a compaction may end before it is only told that it has begun."""

type Deed = Callable[[Agent, Mind, str], tending.Tended]
"""What is done on the reactor thread for whoever bears that name."""


def agent_pause(request: HttpRequest, number: int) -> Done:
    """Let an agent perceive and remember, but not think."""
    return _done(request, number, "pause", lambda agent, mind, _: tending.pause(agent, mind))


def agent_resume(request: HttpRequest, number: int) -> Done:
    """Let it think again."""
    return _done(request, number, "resume", lambda agent, mind, _: tending.resume(agent, mind))


def agent_sleep(request: HttpRequest, number: int, here: bool) -> Done:
    """Send it to bed, or have it lie down where it is."""
    return _done(request, number, "sleep", partial(tending.put_to_bed, here=here))


def agent_wake(request: HttpRequest, number: int) -> Done:
    """Wake it, or keep it from going to bed."""
    return _done(request, number, "wake", tending.wake)


def agent_compact(request: HttpRequest, number: int) -> Done:
    """Compact its memory now; what comes of it is told if it comes soon."""
    outcomes: SimpleQueue[Compacted] = SimpleQueue()

    def deed(agent: Agent, mind: Mind, _: str) -> tuple[bool, str]:
        mind.memory.compact(CompactReason.MANUAL, outcomes.put)
        return True, f"{agent.key}'s memory is being compacted; its compactions tell the outcome"

    begun = _done(request, number, "compact", deed)
    try:
        done, said = _compacted(outcomes.get(timeout=HASTE))
    except Empty:
        return begun
    return Done(done=done, said=said, state=begun.state)


def _compacted(outcome: Compacted) -> tuple[bool, str]:
    if isinstance(outcome, CompactionError):
        return False, f"Nothing was compacted: {outcome}"
    if outcome.outcome is Outcome.NOTHING:
        return False, f"Nothing to compact: {outcome.detail}"
    before, after = outcome.tokens_before, outcome.tokens_after
    return True, f"Compacted: {outcome.detail}; {before:,} tokens before, {after:,} now"


def _done(request: HttpRequest, number: int, what: str, deed: Deed) -> Done:
    """Do it on the reactor thread, and have the agents' log say who did it."""
    if not may_act(request.user):
        raise NotAllowed("That is for builders", "Ask one, or to be made one: @perm")
    who = str(request.user.get_username())

    def work() -> Done:
        agent, mind = agent_with(number), mind_with(number)
        done, said = deed(agent, mind, who)
        log(f"[Dashboard] {who}: {what} {agent.key}" + ("" if done else f" ({said})"))
        return Done(done=done, said=said, state=state_of(mind))

    return on_reactor(work)
