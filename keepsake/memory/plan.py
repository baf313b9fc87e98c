"""The plan of a compaction: which memories leave the window, and what that may save.

Pure: it works on a snapshot, without files, locks or models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from keepsake.archive.message_types import MOVES, MessageType
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.summaries import Summary
from keepsake.events.values import CompactReason
from keepsake.happening import KnownVerb, Person
from keepsake.language.addressing import meant_for
from keepsake.language.perception import names
from keepsake.memory.config import CompactionConfig

EXPECTED_RECENT = 300
"""Tokens that a plan expects of a short-term summary; most are not longer."""
LEAST_SUMMARY = 60
"""Tokens below which a summary is not squeezed while there is another way."""
LEAST_VERBATIM = 4
"""The number of newest memories that always stay, even if ``preserve_memories`` is lower: without
the last lines of a talk nobody can answer."""
LEAST_COVERED = 2
"""The fewest memories that a compaction by count, or on request, summarises. A summary of a single
memory is no shorter than the memory, and loses its words."""
FARTHEST = 24
"""The number of newest memories in which an open exchange is looked for."""
_ANSWERS = frozenset({KnownVerb.SAY, KnownVerb.WHISPER, KnownVerb.GIVE})
"""The agent's verbs that may answer a person who waits."""


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """A memory at one moment, with its costs in tokens.

    A compaction begins with masking. So the weights are of the window with all lines masked that
    may be.
    """

    longterm: Summary | None
    recent: Summary | None
    window: tuple[Memory, ...]
    # tokens of each memory of the window, masked; 0 if it is folded away
    weights: tuple[int, ...]
    plain: int  # tokens of the window without masking
    longterm_tokens: int
    recent_tokens: int
    overhead: int  # tokens of the prompt besides summaries and window
    # number of the oldest memory of the open exchange; None if there is none
    open_from: int | None
    shown_now: int  # tokens of the window as it is shown before the compaction

    @property
    def summaries(self) -> int:
        """Tokens of both summaries."""
        return self.longterm_tokens + self.recent_tokens

    @property
    def tokens(self) -> int:
        """Tokens of summaries and window before the compaction."""
        return self.summaries + self.shown_now

    @property
    def masked(self) -> int:
        """Tokens of summaries and window after masking."""
        return self.summaries + sum(self.weights)


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """Which memories are summarised, which stay, and what that saves."""

    reason: CompactReason
    config: CompactionConfig
    before: MemorySnapshot
    # the memories to summarise, oldest first; empty if lines are masked or summaries shortened only
    leaving: tuple[Memory, ...]
    staying: tuple[Memory, ...]
    leaving_tokens: int  # tokens of the leaving memories, masked
    staying_tokens: int
    shrinks: bool  # whether the summaries are too long
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

    The newest ``preserve_memories`` and the open exchange stay, whatever the budget is. If the rest
    of the prompt alone is over the budget, no compaction can help, so there is no plan.

    Args:
        reason: A compaction by count keeps the immediate window, unless that leaves the prompt
            over the high mark, or, in a large budget, over :attr:`CompactionConfig.low_tokens`. A
            manual one keeps it unless that leaves the prompt over those tokens. All others go down
            to them.
    """
    if now.overhead >= config.budget:
        return None
    room = _Room(config, now)
    leave = _leave(reason, room)
    if leave < LEAST_COVERED and reason in (CompactReason.COUNT, CompactReason.MANUAL):
        leave = 0
    shrinks = now.recent is not None and (
        now.longterm_tokens > config.longterm_tokens
        or now.overhead + now.masked > config.of_budget(config.high)
    )
    # A compaction by count is about the number of memories, which masking does not change.
    masks = now.masked < now.tokens and reason is not CompactReason.COUNT
    if not (leave or shrinks or masks):
        return None
    return CompactionPlan(
        reason=reason,
        config=config,
        before=now,
        leaving=now.window[:leave],
        staying=now.window[leave:],
        leaving_tokens=sum(now.weights[:leave]),
        staying_tokens=room.staying[leave],
        shrinks=shrinks,
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


def always_stay(config: CompactionConfig) -> int:
    """Return how many of the newest memories no compaction takes."""
    return max(config.preserve_memories, LEAST_VERBATIM)


def immediate_window(config: CompactionConfig) -> int:
    """Return how many memories a compaction by count keeps."""
    return max(config.immediate_window, always_stay(config))


def _leave(reason: CompactReason, room: _Room) -> int:
    """Return how many memories leave: the oldest ones, never one that must stay."""
    config = room.config
    open_at = _index_of_open(room)
    by_load = min(_leave_by_load(room), open_at)
    if reason is not CompactReason.COUNT and not reason.asked:
        return by_load
    due = max(room.count - immediate_window(config), 0)
    by_count = min(due, open_at)
    bearable = config.of_budget(config.high)
    if reason is CompactReason.COUNT and by_count * 2 < due:
        # Most of it is an open exchange: wait, do not compact a little each turn, unless the prompt
        # is over the high mark.
        by_count = 0
    elif reason.asked or config.goes_deeper:
        bearable = config.low_tokens
    if room.used[by_count] <= bearable:
        return by_count
    return max(by_load, by_count)


def _leave_by_load(room: _Room) -> int:
    """Return how many memories leave for the low mark, and how many more where there is room.

    For less than the low mark half of the immediate window stays at least.
    """
    config = room.config
    may_leave = max(room.count - always_stay(config), 0)
    leave = min(room.least_leave(room.used, config.of_budget(config.low)), may_leave)
    stays = max(immediate_window(config) // 2, always_stay(config))
    deeper = room.least_leave(room.used, config.low_tokens)
    return max(leave, min(deeper, room.count - stays))


def _index_of_open(room: _Room) -> int:
    """Return the index of the oldest memory of the open exchange; the end if there is none."""
    open_from = room.now.open_from
    if open_from is None:
        return room.count
    window = room.now.window
    return next((i for i, each in enumerate(window) if each.number >= open_from), room.count)


# -- the open exchange, which no compaction summarises


@dataclass(frozen=True, slots=True)
class _OpenExchange:
    """Somebody who waits for an answer.

    Attributes:
        first: The number of the first memory that waits.
        last: The number of the newest one.
    """

    person: Person
    first: int
    last: int


def open_exchange(window: Sequence[Memory], own_name: str) -> int | None:
    """Return the number of the oldest memory of the open exchange; None if there is none.

    A person waits from the first thing that they said to the agent until the agent speaks or gives
    something to them, or they leave.

    Args:
        window: Memories, oldest first, not masked.
    """
    recent = window[-FARTHEST:]
    alone = len({memory.key for memory in recent if memory.key}) < 2
    waiting: dict[str, _OpenExchange] = {}  # by :attr:`Person.key`
    for memory in recent:
        if memory.kind is MemoryKind.ACT:
            for each in _answered(memory, [*waiting.values()]):
                del waiting[each.person.key]
        elif (said := memory.heard) is not None:
            # If a person is alone with the agent, an unaddressed question also opens an exchange.
            if meant_for(said, own_name, alone=alone and "?" in said.words):
                before = waiting.get(said.speaker.key)
                first = before.first if before else memory.number
                waiting[said.speaker.key] = _OpenExchange(said.speaker, first, memory.number)
        elif memory.event in MOVES:
            waiting.pop(memory.key, None)
    return min((each.first for each in waiting.values()), default=None)


def _answered(act: Memory, waiting: Sequence[_OpenExchange]) -> list[_OpenExchange]:
    """Return the waiting people that ``act`` addresses or names, else the last who spoke to it."""
    if not waiting or act.event == MessageType.SHRUG or act.verb not in _ANSWERS:
        return []
    addressed = [each for each in waiting if _is_to(act, each.person)]
    if act.verb in (KnownVerb.WHISPER, KnownVerb.GIVE):
        return addressed
    taken = {each.person.name for each in addressed}  # whom the name means, if two have it
    named = [
        each
        for each in waiting
        if each in addressed
        or (each.person.name not in taken and names(act.text, each.person.name))
    ]
    return named or [max(waiting, key=lambda each: each.last)]


def _is_to(act: Memory, person: Person) -> bool:
    """Whether an act is directed at a person; by name if an identity is not known."""
    to = act.addressee
    if to is None:
        return False
    if to.id and person.id:
        return to.id == person.id
    return to.name.casefold() == person.name.casefold()
