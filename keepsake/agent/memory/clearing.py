"""An agent has its own memory compacted: the tool call behind its verb ``compact``."""

from __future__ import annotations

from collections.abc import Sequence

from twisted.internet.defer import Deferred

from keepsake.agent.memory.memory import Compacted, MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import CompactionError, KeepsakeError
from keepsake.language.perception import shorten
from keepsake.memory.plan import open_exchange
from keepsake.memory.types import CompactReason, Outcome
from keepsake.prompt.tool_results import COMPACTED
from keepsake.recall.related import LONGEST_RESULT

PATIENCE = 10.0
"""Seconds that a thought waits for what comes of it; then it goes on, and hears of it later."""
WORTH_IT = 4
"""Where less than this part of ``recent_window`` could be summed up nothing is, unless the
prompt is full: a small model that says the word all the time would wear its memory down."""


def compact_for(memory: MemoryComponent, services: Runtime, place: str) -> Deferred[None]:
    """Compact, because the agent itself asked; its result becomes a memory.

    Returns:
        Comes on the reactor thread once the result is in the memory, or after a while.
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
        refusal = _why_not(memory, services)
        if refusal:
            tell(f"{COMPACTED}{refusal}")
        else:
            memory.compact(CompactReason.AGENT, lambda outcome: tell(_told(outcome)))
    except KeepsakeError as error:
        tell(f"You tried to compact: {error}")
    return finished


def _why_not(component: MemoryComponent, services: Runtime) -> str:
    """Why nothing is to be compacted now, in words for the agent; empty if it may."""
    config = services.ladder
    if not config.on_agent:
        return "that is not for you to do here"
    memory, window = component.memory, component.memory.context().window
    opened = open_exchange(window, component.name, component.promised())
    could_leave = _could_leave(window, config.immediate_window, opened)
    if could_leave < max(config.recent_window // WORTH_IT, 1) and memory.load().share < config.low:
        return "there is nothing to sum up yet"
    return ""


def _could_leave(window: Sequence[Memory], stays: int, opened: int | None) -> int:
    """How many memories are neither among the newest nor part of what is going on."""
    older = window[: max(len(window) - stays, 0)]
    return sum(opened is None or memory.number < opened for memory in older)


def _told(outcome: Compacted) -> str:
    if isinstance(outcome, CompactionError):
        return f"You tried to compact: {outcome}"
    if outcome.outcome is Outcome.NOTHING or outcome.covered is None:
        return f"{COMPACTED}there is nothing to sum up yet"
    first, last = outcome.covered
    kept = f"the last {outcome.kept} stay as they are"
    return f"{COMPACTED}memories {first}-{last} are summed up, {kept}"
