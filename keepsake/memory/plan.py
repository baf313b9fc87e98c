"""The plan of a compaction: which memories leave the window, and what that may save.

Pure: it works on a snapshot, without files, locks or models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from keepsake.archive.records import SHRUG, Memory, MemoryKind, Summary
from keepsake.language.addressing import meant_for
from keepsake.language.perception import names
from keepsake.memory.config import CompactionConfig
from keepsake.memory.types import CompactReason

EXPECTED_RECENT = 300
"""Tokens that a plan expects of a short-term summary; most are not longer."""
LEAST_SUMMARY = 60
"""Tokens below which a summary is not squeezed while there is another way."""
LEAST_VERBATIM = 4
"""The number of newest memories that stay if they fit at all, even if there is little room."""
FARTHEST = 24
"""The number of newest memories in which an open exchange is looked for."""
_ANSWERS = frozenset({"say", "whisper", "give"})
"""The agent's verbs that may answer a person who waits."""
_WAYS = frozenset({"traverse", "move"})
"""The ``event`` of a person who comes or goes."""


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """A memory at one moment, with its costs in tokens."""

    longterm: Summary | None
    recent: Summary | None
    window: tuple[Memory, ...]
    # tokens of each memory of the window as it is shown, masked; 0 if it is folded away
    weights: tuple[int, ...]
    plain: int  # tokens of the window without masking
    longterm_tokens: int
    recent_tokens: int
    overhead: int
    # number of the oldest memory of the open exchange; None if there is none
    open_from: int | None = None
    tokens: int = 0  # tokens of summaries and window as they are shown


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """Which memories are summarised, which stay, and what that saves."""

    reason: CompactReason
    config: CompactionConfig
    before: MemorySnapshot
    # the memories to summarise, oldest first; empty if only the summaries are shortened
    leaving: tuple[Memory, ...]
    staying: tuple[Memory, ...]
    leaving_tokens: int  # tokens of the leaving memories as they are shown
    staying_tokens: int
    saving: int  # tokens that each later prompt is expected to save
    least: int  # the fewest tokens that the prompt can have afterwards, with squeezed summaries

    @property
    def pays(self) -> bool:
        """Whether an automatic compaction saves enough.

        ``min_saving_tokens`` is meant for the way from the high mark to the low one. A compaction
        by count may move fewer tokens, as the window sizes say, and must save the same share.
        """
        config = self.config
        least = config.min_saving_tokens
        if self.reason is CompactReason.COUNT:
            way = max(config.of_budget(config.high) - config.of_budget(config.low), 1)
            least = min(least, least * self.leaving_tokens // way)
        return self.saving >= max(least, 1)


def make_plan(
    reason: CompactReason, config: CompactionConfig, now: MemorySnapshot
) -> CompactionPlan | None:
    """Plan a compaction; None if there is nothing to do.

    ``reason``: A compaction by count keeps the immediate window, unless that leaves the prompt
    over the high mark. A manual one keeps it unless that leaves the prompt over the low mark. All
    others go down to the low mark.
    """
    room = _Room(config, now)
    leave = _leave(reason, room)
    shrinks = now.recent is not None and (
        now.longterm_tokens > config.longterm_tokens
        or now.overhead + now.tokens > config.of_budget(config.high)
    )
    if not leave and not shrinks:
        return None
    return CompactionPlan(
        reason=reason,
        config=config,
        before=now,
        leaving=now.window[:leave],
        staying=now.window[leave:],
        leaving_tokens=sum(now.weights[:leave]),
        staying_tokens=room.staying[leave],
        saving=now.overhead + now.tokens - room.used[leave],
        least=room.tight[leave],
    )


class _Room:
    """The cost of the prompt for every number of memories that could leave."""

    def __init__(self, config: CompactionConfig, now: MemorySnapshot) -> None:
        self.config = config
        self.now = now
        self.count = len(now.window)
        limit = config.longterm_tokens
        older = now.longterm_tokens + now.recent_tokens
        usual = min(EXPECTED_RECENT, config.budget // 6)
        gone = [0, *accumulate(now.weights)]
        # In tokens: memories that stay; the expected prompt; the prompt with squeezed summaries.
        self.staying = [gone[-1] - each for each in gone]
        summaries = [min(now.longterm_tokens, limit) + now.recent_tokens]
        for leaving in gone[1:]:
            summaries.append(min(older, limit) + min(leaving // 2, usual))
        pairs = list(zip(summaries, self.staying, strict=True))
        self.used = [now.overhead + some + stay for some, stay in pairs]
        self.tight = [now.overhead + min(some, 2 * LEAST_SUMMARY) + stay for some, stay in pairs]

    def least_leave(self, costs: Sequence[int], limit: int) -> int:
        """Return how many memories must leave for a cost within ``limit``; all if none is."""
        return next((n for n, cost in enumerate(costs) if cost <= limit), self.count)


def _leave(reason: CompactReason, room: _Room) -> int:
    """Return how many memories leave."""
    config = room.config
    window = room.now.window
    open_from = room.now.open_from
    going_on = room.count
    if open_from is not None:
        going_on = next((i for i, m in enumerate(window) if m.number >= open_from), room.count)
    opened = _fitting(going_on, room)
    target = config.of_budget(config.low)
    # The newest memories always stay.
    preserved = max(room.count - config.preserve_memories, 0)
    by_load = min(room.least_leave(room.used, target), _fitting(preserved, room), opened)
    if reason is not CompactReason.COUNT and not reason.asked:
        return by_load
    due = max(room.count - config.immediate_window, 0)
    by_count = min(due, going_on)
    if reason is CompactReason.COUNT and by_count * 2 < due:
        by_count = 0  # most of it is an open exchange: wait, do not compact a little each turn
    bearable = target if reason.asked else config.of_budget(config.high)
    if by_count <= opened and room.used[by_count] <= bearable:
        return by_count
    return max(by_load, min(by_count, opened))


def _fitting(start: int, room: _Room) -> int:
    """Return ``start``, or a later index if the memories from ``start`` on exceed the budget."""
    limit = room.config.of_budget(room.config.emergency)
    if room.tight[start] <= limit:
        return start
    # Go down to the low mark. Otherwise every further memory would start the next compaction.
    fits = room.least_leave(room.used, room.config.of_budget(room.config.low))
    barely = room.least_leave(room.tight, limit)
    return max(start, min(fits, max(barely, room.count - LEAST_VERBATIM)))


# -- the open exchange, which no compaction summarises


def open_exchange(window: Sequence[Memory], own_name: str) -> int | None:
    """Return the number of the oldest memory of the open exchange; None if there is none.

    A person waits from the first thing that they said to the agent until the agent speaks or gives
    something to them, or they leave.

    Args:
        window: Memories, oldest first, not masked.
    """
    recent = window[-FARTHEST:]
    alone = len({memory.source for memory in recent if memory.source}) < 2
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for memory in recent:
        if memory.kind is MemoryKind.ACT:
            for who in _answered(memory, last):
                first.pop(who), last.pop(who)
        elif (said := memory.heard) is not None:
            # If a person is alone with the agent, an unaddressed question also opens an exchange.
            if meant_for(said, own_name, alone=alone and "?" in said.words):
                first.setdefault(said.speaker.name, memory.number)
                last[said.speaker.name] = memory.number
        elif memory.event in _WAYS:
            first.pop(memory.source, None), last.pop(memory.source, None)
    return min(first.values(), default=None)


def _answered(act: Memory, waiting: dict[str, int]) -> list[str]:
    """Return the waiting people that ``act`` addresses or names, else the last who spoke to it."""
    if not waiting or act.event == SHRUG or act.verb not in _ANSWERS:
        return []
    if act.verb in ("whisper", "give"):
        return [who for who in waiting if who.casefold() == act.to.casefold()]
    named = [who for who in waiting if who == act.to or names(act.text, who)]
    return named or [max(waiting, key=lambda who: waiting[who])]
