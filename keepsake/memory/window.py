"""The part of a memory that is in a prompt, and its cost in tokens.

Three things are called a window. ``Tiers.window`` has the memories since the last summary, word for
word. :class:`Window` makes a :class:`MemoryContext` of them: ``context().window`` has the same,
and ``context().shown`` has them as a prompt shows them: masked, and in a prompt that is almost full
without asides or without the oldest lines.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from keepsake.archive.privacy import redacted
from keepsake.archive.records import Memory
from keepsake.archive.tiers import SummaryState, Tiers
from keepsake.books.journal import importance
from keepsake.events.types import MemoryChange
from keepsake.language.perception import shorten
from keepsake.language.tokens import Heuristic
from keepsake.memory import masking
from keepsake.memory.asides import ALMOST_FULL, ALWAYS_SHOWN, without_asides
from keepsake.memory.config import CompactionConfig
from keepsake.memory.counting import Counted, LineCounter
from keepsake.memory.plan import MemorySnapshot, always_stay, open_exchange
from keepsake.memory.summary_text import Summarizer, extractive
from keepsake.memory.types import CompactionRequest, Load, MemoryContext
from keepsake.ports import Clock, Tokens

_SHORTEST_LINE = 40
"""Characters to which a line that alone exceeds the budget is cut at most: a few words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHost:
    """What a memory needs from its agent. The functions return current values."""

    clock: Clock
    # the settings, fitted to the agents' model
    config: Callable[[], CompactionConfig] = CompactionConfig
    # returns what writes the summaries of a compaction; called in a worker thread
    summarizer: Callable[[CompactionRequest], Summarizer] = lambda _: extractive
    tokens: Tokens | None = None  # counts the tokens of lines in a prompt
    # pins, open promises and rules, which stand in every prompt
    constraints: Callable[[], Sequence[str]] = tuple
    # how much a memory matters, 1 to 10; important ones stay longer. None to use rules alone
    importance: Callable[[Memory], int] | None = None
    # takes the event of an edit of a summary; quick, called from any thread
    emit: Callable[[MemoryChange], None] = lambda _: None


class Window:
    """The tiers as a prompt shows them, and what they cost; safe to use from several threads.

    Attributes:
        overhead: Tokens of the prompt besides summaries and window, as last reported; None before
            the first report.
        importance: How much a memory matters, 1 to 10.
    """

    def __init__(self, agent: str, tiers: Tiers, host: MemoryHost) -> None:
        self.overhead: int | None = None
        self._overhead_before: int | None = None  # as reported before that
        self.agent = agent
        self.tokens = host.tokens or Heuristic()
        self._lines = LineCounter(agent, self.tokens)
        self.importance = host.importance or (lambda memory: importance(memory, agent))
        self._tiers = tiers
        self._host = host
        # guards the attributes below
        self._lock = threading.RLock()
        # the mask ends at this memory; None before the first look at the tiers
        self._through: int | None = None
        # the memories up to the end of the mask, and their masked versions
        self._masked: tuple[tuple[Memory, ...], tuple[Memory, ...]] = ((), ())
        # the last context, and the state that it was made from
        self._made_of: tuple[object, ...] = ()
        self._context = MemoryContext(None, None, (), ())
        # asides are left out up to this memory, as long as the summaries are these
        self._asides_through = 0
        self._asides_of: SummaryState | None = None
        # the first memory that was shown when even the rest had no room; 0 if it has
        self._cut_at = 0
        # what was counted last: of the whole window, and of the window without asides
        self._counted = Counted()
        self._lean_counted = Counted()
        self._fewer_counted = Counted()
        # the last contexts without asides, by where these end, and the context of which they are
        self._lean_of: MemoryContext | None = None
        self._lean_made: dict[int, MemoryContext] = {}
        # the last texts of the summaries, the factor of the estimate then, and their tokens
        self._summaries_counted: tuple[tuple[str, ...], float, int] = ((), 0.0, 0)

    # -- what a prompt shows

    def context(self) -> MemoryContext:
        """Return what is in the prompt now.

        A prompt that is almost full leaves out older asides. If the budget still has no room for
        the rest, the mask moves on, as the prompt changes anyway. If that is not enough, the oldest
        lines are not shown. All of them stay in the window, and the oldest are shown again when the
        prompt with them is below the high mark: the rest of a prompt is longer in one turn than in
        the next, and prompts that show them by turns would all begin differently.
        """
        with self._lock:
            context = self._leaner(self._lean(), ALMOST_FULL)
            self._asides_through = context.asides_through
            load = self._lean_load(context)
            if load.used > load.budget and self._mask_more():
                context = self._lean()
                load = self._lean_load(context)
            mark = min(self._host.config().high, 1.0) if self._cut_at else 1.0
            if load.used <= load.budget * mark or load.leaves_no_room:
                self._cut_at = 0
                return context
            room = load.budget - load.overhead - load.summaries
            return replace(context, shown=self._newest_in(context.shown, room))

    def leave_out_asides(self, through: int, compaction: int) -> None:
        """Leave out asides up to a memory, as the last prompt before a start did.

        Else the first prompt after it would show them all, and the next one none of them again.

        ``compaction``: The number of the newest compaction when that prompt was made.
        """
        with self._lock:
            context = self._whole()
            if compaction == context.compaction:
                self._asides_of = self._tiers.view().state
                self._asides_through = through

    def mask_all_allowed(self) -> None:
        """Mask as many memories as allowed; for moments when the prompt changes anyway."""
        with self._lock:
            self._through = self._most_masked(self._tiers.last_number)

    def forget(self) -> None:
        """Unmask everything, after memories came back or all were removed."""
        with self._lock:
            self._through = 0
            self._asides_through = 0
            self._cut_at = 0

    def matters(self, memory: Memory) -> bool:
        """Whether a memory is too important to be masked; the mask spares only a few per person."""
        return self.importance(memory) >= masking.UNSHORTENED

    def _whole(self) -> MemoryContext:
        """Return the context with the whole window, masked."""
        tiers = self._tiers.view()
        through = self._masked_through()
        made_of = (tiers.window, through, tiers.state)
        if made_of != self._made_of:  # mostly the same objects, so the comparison is quick
            head = tuple(memory for memory in tiers.window if memory.number <= through)
            if head != self._masked[0]:
                self._masked = head, masking.mask(head, through, self.matters)
            shown = (*self._masked[1], *tiers.window[len(head) :])
            self._made_of = made_of
            state = tiers.state
            self._context = MemoryContext(
                state.longterm, state.recent, tiers.window, shown, state.standing
            )
        return self._context

    def _lean(self) -> MemoryContext:
        """Return the context without the asides that prompts leave out already.

        After a compaction or its undo all asides are shown again.
        """
        state = self._tiers.view().state
        if state != self._asides_of:
            self._asides_of = state
            self._asides_through = 0
        return self._without_asides(self._whole(), self._asides_through)

    def _leaner(self, now: MemoryContext, mark: float) -> MemoryContext:
        """Return the context with fewer asides if the prompt passes a mark, a share of its budget.

        They are left out in large steps, at least half of the way from the high mark to the low
        one, because each step changes the prompt from the first of them on.

        ``now``: The context without the asides that are left out already.
        """
        config = self._host.config()
        load = self._lean_load(now)
        if not self.is_overhead_known or load.used <= load.budget * mark:
            return now
        through = max(now.asides_through, self._tiers.last_number - ALWAYS_SHOWN)
        fewer = self._without_asides(self._whole(), through)
        self._fewer_counted = self._lines.counted_on(self._fewer_counted, fewer.shown)
        saved = load.window - self._fewer_counted.tokens
        least = (config.of_budget(config.high) - config.of_budget(config.low)) // 2
        return fewer if saved >= max(least, 1) else now

    def _without_asides(self, whole: MemoryContext, through: int) -> MemoryContext:
        """Return a context without the asides up to the memory ``through``; 0 for all of them."""
        if not through:
            return whole
        if whole is not self._lean_of:
            self._lean_of = whole
            self._lean_made = {}
        if through not in self._lean_made:
            shown = without_asides(whole.shown, through, self.agent, self.matters)
            self._lean_made[through] = replace(whole, shown=shown, asides_through=through)
        return self._lean_made[through]

    def _masked_through(self) -> int:
        """Return the last memory of the mask: at first, the one at which a compaction left it.

        So after a restart a prompt begins as it did before.
        """
        if self._through is None:
            self._through = 0
            made = self._tiers.view().state.time
            before = (each.number for each in self._tiers.window if made and each.time <= made)
            self._through = self._most_masked(max(before, default=0))
        return self._through

    def _mask_more(self) -> bool:
        """Move the mask on by :data:`masking.STEP` or more; return False if it is not time yet."""
        through = self._masked_through()
        last = self._most_masked(self._tiers.last_number) // masking.STEP * masking.STEP
        self._through = max(through, last)
        return last > through

    def _most_masked(self, last: int) -> int:
        """Return the number of the last memory that may be masked, if ``last`` is the newest."""
        return max(self._masked_through(), last - self._host.config().preserve_memories)

    def _newest_in(self, shown: Sequence[Memory], room: int) -> tuple[Memory, ...]:
        """Return the newest memories that fit into ``room`` tokens; at least a part of the last.

        They begin with the same memory as long as there is room for all that follow it. Then they
        become fewer by a large step, so that most prompts begin like the one before.
        """
        same = tuple(memory for memory in shown if memory.number >= self._cut_at)
        if self._cut_at and same and self.count(*same) <= room:
            return same
        config = self._host.config()
        step = config.of_budget(config.high) - config.of_budget(config.low)
        kept = self._fitting(shown, room - step)
        least = always_stay(config)
        if len(kept) < least:
            kept = self._fitting(shown[-least:], room)
        self._cut_at = kept[0].number
        return kept

    def _fitting(self, shown: Sequence[Memory], room: int) -> tuple[Memory, ...]:
        """Return the newest memories that fit into ``room`` tokens; at least a part of the last."""
        kept: list[Memory] = []
        for memory in reversed(shown):
            room -= self.count(memory)
            if room < 0 and kept:
                break
            kept.insert(0, memory if room >= 0 else self._cut(memory, room + self.count(memory)))
        return tuple(kept)

    def _cut(self, memory: Memory, room: int) -> Memory:
        """Return a memory whose line fits into ``room`` tokens, if a few of its words can."""
        size = len(memory.text)
        while size > _SHORTEST_LINE and self.count(memory) > room:
            size //= 2
            memory = memory.shown_as(shorten(memory.text, size))
        return memory

    # -- what it costs

    @property
    def is_overhead_known(self) -> bool:
        """Whether a prompt was reported since the start. Until then its other parts count as 0."""
        return self.overhead is not None

    def report_prompt(self, prompt: int) -> None:
        """Take note of the tokens of a prompt that was built from :meth:`context`."""
        with self._lock:
            context = self.context()
            of_memory = self._summaries(context) + self.count(*context.shown)
            self._overhead_before = self.overhead
            self.overhead = max(prompt - of_memory, 0)

    def usually(self, load: Load) -> Load:
        """Return a load without what the last prompt alone had: private words, a plan, a search.

        A summary costs a call and the beginning of all later prompts, so no single prompt decides
        it. The smaller of the last two reports counts.
        """
        before = self._overhead_before
        now = self.overhead
        if before is None or now is None:
            return load
        return replace(load, used=load.used - now + min(before, now))

    def load(self) -> Load:
        """Return what the prompt costs with the whole window, asides included."""
        with self._lock:
            return self._load(self._whole())

    def lean_load(self) -> Load:
        """Return what the prompt costs without the asides that it leaves out, or could leave out.

        It could as soon as it passes the high mark, and does so when it is almost full.
        """
        with self._lock:
            now = self._lean()
            fewer = self._leaner(now, self._host.config().high)
            if fewer is now:
                return self._lean_load(now)
            return self._load_of(fewer, self._fewer_counted.tokens)

    def least_load(self) -> Load:
        """Return what the prompt costs with only the memories that no compaction takes."""
        with self._lock:
            context = self._whole()
            load = self._load(context)
            open_from = open_exchange(context.window, self.agent) or math.inf
            newest = context.shown[-always_stay(self._host.config()) :]
            rest = context.shown[: -len(newest)]
            kept = (*(m for m in rest if m.number >= open_from), *newest)
            window = self.count(*kept)
            used = load.overhead + load.summaries + window
            return Load(used, load.summaries, window, load.budget)

    def count(self, *parts: Memory | str) -> int:
        """Count the tokens of memories, as lines of a prompt, and of the lines of texts."""
        return self._lines.count(*parts)

    def _load(self, context: MemoryContext) -> Load:
        """Return what the prompt costs with a context of the whole window."""
        self._counted = self._lines.counted_on(self._counted, context.shown)
        return self._load_of(context, self._counted.tokens)

    def _lean_load(self, context: MemoryContext) -> Load:
        """Return what the prompt costs with a context that may lack asides."""
        self._lean_counted = self._lines.counted_on(self._lean_counted, context.shown)
        return self._load_of(context, self._lean_counted.tokens)

    def _load_of(self, context: MemoryContext, window: int) -> Load:
        """Return what the prompt costs. ``window``: The tokens of the memories it shows."""
        summaries = self._summaries(context)
        used = (self.overhead or 0) + summaries + window
        return Load(used, summaries, window, self._host.config().budget)

    def _summaries(self, context: MemoryContext) -> int:
        texts = tuple(each.text for each in context.summaries)
        counted, factor, tokens = self._summaries_counted
        if texts != counted or factor != self.tokens.factor:
            tokens = self.count(*texts)
            self._summaries_counted = (texts, self.tokens.factor, tokens)
        return tokens

    # -- for a plan

    def snapshot(self, *, usual: bool = False) -> MemorySnapshot:
        """Weigh the context memory by memory, as a compaction would find it; slow.

        ``usual``: Whether the rest of the prompt counts as it usually is (:meth:`usually`).

        A compaction masks all memories that may be masked, so the weights are of masked lines. They
        are of the words as they are; the memories themselves are as anybody may know them.
        """
        with self._lock:
            context = self._whole()
            load = self._load(context)
            through = self._most_masked(self._tiers.last_number)
        masked = masking.mask(context.window, through, self.matters)
        shown = {memory.number: self.count(memory) for memory in masked}
        weights = tuple(shown.get(memory.number, 0) for memory in context.window)
        return MemorySnapshot(
            longterm=context.longterm,
            recent=context.recent,
            # Summaries are made of these memories, and anyone may read them: no whispered words.
            window=tuple(map(redacted, context.window)),
            weights=weights,
            plain=self.count(*context.window),
            longterm_tokens=self.count(context.longterm.text) if context.longterm else 0,
            recent_tokens=self.count(context.recent.text) if context.recent else 0,
            overhead=(self.usually(load) if usual else load).overhead,
            open_from=open_exchange(context.window, self.agent),
            shown_now=load.window,
        )
