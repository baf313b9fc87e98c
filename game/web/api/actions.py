"""What the buttons do: the same as the builders' commands in the game."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from game.agent.agent_log import log
from game.agent.memory.memory import Compacted
from game.agent.mind import Mind
from game.mind.errors import CompactionError
from game.mind.memory import CompactReason, Outcome
from game.web.api.on_reactor import on_reactor
from game.web.api.shapes import Done
from game.web.api.snapshots import agent_with, mind_with, state_of
from typeclasses.agents import Agent

HASTE = 1.0
"""Seconds in which a compaction may end before it is only told that it has begun."""

type Deed = Callable[[Agent, Mind], tuple[bool, str]]
"""What is done on the reactor thread: whether it was, and the same in words."""


def pause(number: int, who: str) -> Done:
    """Let an agent perceive and remember, but not think."""

    def deed(agent: Agent, mind: Mind) -> tuple[bool, str]:
        if agent.db.paused:
            return False, f"{agent.key} is paused already"
        agent.db.paused = True
        if mind.sleeper.asleep:
            return True, f"{agent.key} is paused: it sleeps on, and will not think once it wakes"
        rest = ", and goes home to sleep all the same" if mind.sleeper.going_home else ""
        return True, f"{agent.key} is paused: it perceives and remembers, but does not think{rest}"

    return _done(number, who, "pause", deed)


def resume(number: int, who: str) -> Done:
    """Let it think again."""

    def deed(agent: Agent, mind: Mind) -> tuple[bool, str]:
        if not agent.db.paused:
            return False, f"{agent.key} is not paused"
        agent.attributes.remove("paused")
        mind.thinker.start()
        if mind.sleeper.asleep:
            return True, f"{agent.key} is not paused any more; to think again it wakes first"
        if mind.sleeper.going_home:
            return True, f"{agent.key} thinks again, of those who turn to it on its way to bed"
        return True, f"{agent.key} thinks again"

    return _done(number, who, "resume", deed)


def sleep(number: int, who: str, *, here: bool) -> Done:
    """Send it to bed, or have it lie down where it is."""

    def deed(agent: Agent, mind: Mind) -> tuple[bool, str]:
        if mind.sleeper.asleep:
            return False, f"{agent.key} is asleep already"
        if mind.sleeper.going_home and not here:
            return False, f"{agent.key} is on its way home to sleep already"
        why = f"{who} said so"
        mind.sleeper.fall_asleep(why) if here else mind.sleeper.go_to_bed(why)
        if mind.sleeper.asleep:
            return True, f"{agent.key} sleeps"
        return True, f"{agent.key} goes home to sleep, to {agent.home.key}"

    return _done(number, who, "sleep", deed)


def wake(number: int, who: str) -> Done:
    """Wake it, or keep it from going to bed."""

    def deed(agent: Agent, mind: Mind) -> tuple[bool, str]:
        still = "; it is still paused, and does not think" if agent.db.paused else ""
        if mind.sleeper.wake(who, rested=True):
            return True, f"{agent.key} wakes up{still}"
        if mind.sleeper.going_home:
            mind.sleeper.stay_up()
            return True, f"{agent.key} stays up{still}"
        return False, f"{agent.key} is awake{still}"

    return _done(number, who, "wake", deed)


def compact(number: int, who: str) -> Done:
    """Compact its memory now; what comes of it is told if it comes soon."""
    ended, outcomes = Event(), list[Compacted]()

    def take(outcome: Compacted) -> None:
        outcomes.append(outcome)
        ended.set()

    def deed(agent: Agent, mind: Mind) -> tuple[bool, str]:
        mind.memory.compact(CompactReason.MANUAL, take)
        return (
            True,
            f"{agent.key}'s memory is being compacted; its compactions tell the outcome",
        )

    begun = _done(number, who, "compact", deed)
    ended.wait(HASTE)
    if not outcomes:
        return begun
    done, said = _compacted(outcomes[0])
    return Done(done=done, said=said, state=begun.state)


def _compacted(outcome: Compacted) -> tuple[bool, str]:
    if isinstance(outcome, CompactionError):
        return False, f"Nothing was compacted: {outcome}"
    if outcome.outcome is Outcome.NOTHING:
        return False, f"Nothing to compact: {outcome.detail}"
    before, after = outcome.tokens_before, outcome.tokens_after
    return True, f"Compacted: {outcome.detail}; {before:,} tokens before, {after:,} now"


def _done(number: int, who: str, what: str, deed: Deed) -> Done:
    """Do it on the reactor thread, and have the agents' log say who did it."""

    def work() -> Done:
        agent, mind = agent_with(number), mind_with(number)
        done, said = deed(agent, mind)
        log(f"[Dashboard] {who}: {what} {agent.key}" + ("" if done else f" ({said})"))
        return Done(done=done, said=said, state=state_of(mind))

    return on_reactor(work)
