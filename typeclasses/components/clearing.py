"""An agent has its own memory compacted: the tool call behind its verb ``compact``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twisted.internet.defer import Deferred

from game.mind.errors import CompactionError, KeepsakeError
from game.mind.memory import AgentMemory, CompactReason, Outcome
from game.mind.perception import shorten
from game.mind.recall.related import COMPACTED, LONGEST_RESULT
from game.mind.records import MemoryKind
from typeclasses.services import Services

if TYPE_CHECKING:
    from typeclasses.components.memory import Compacted, MemoryComponent

PATIENCE = 10.0
"""Seconds that a thought waits for what comes of it; then it goes on, and hears of it later."""
FRESH_SHARE = 4
"""A window that grew by less than this part of ``recent_window`` since the last compaction is
left alone: a small model that says the word all the time would wear its memory down."""


def compact_for(memory: MemoryComponent, services: Services, place: str) -> Deferred[None]:
    """Compact, because the agent itself asked; its result becomes a memory.

    Args:
        memory: The agent's memory.
        services: Threads, clock and configuration.
        place: Where the agent is.

    Returns:
        Fires on the reactor thread once the result is in the memory, or after a while.
    """
    finished: Deferred[None] = Deferred()
    alarm = services.timer.callLater(PATIENCE, finished.callback, None)

    def tell(line: str) -> None:
        text = shorten(" ".join(line.split()), LONGEST_RESULT)
        memory.remember(text, MemoryKind.RESULT, place=place)
        if alarm.active():
            alarm.cancel()
            finished.callback(None)

    try:
        refusal = _why_not(memory.memory, services)
        if refusal:
            tell(f"{COMPACTED}{refusal}")
        else:
            memory.compact(CompactReason.AGENT, lambda outcome: tell(_told(outcome)))
    except KeepsakeError as error:
        tell(f"You tried to compact: {error}")
    return finished


def _why_not(memory: AgentMemory, services: Services) -> str:
    """Why nothing is to be compacted now, in words for the agent; empty if it may."""
    config = services.compaction.current
    if not config.on_agent:
        return "that is not for you to do here"
    status, load = memory.status(), memory.load()
    grown = status.window - config.immediate_window
    fresh = status.compactions and grown < max(config.recent_window // FRESH_SHARE, 1)
    if fresh and load.share < config.low:
        return "there is nothing to sum up yet, you have done that a moment ago"
    return ""


def _told(outcome: Compacted) -> str:
    if isinstance(outcome, CompactionError):
        return f"You tried to compact: {outcome}"
    if outcome.outcome is Outcome.NOTHING or outcome.covered is None:
        return f"{COMPACTED}there is nothing to sum up yet"
    first, last = outcome.covered
    kept = f"the last {outcome.kept} stay as they are"
    return f"{COMPACTED}memories {first}-{last} are summed up, {kept}"
