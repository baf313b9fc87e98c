"""The part of a memory that is in a prompt, its cost in tokens, and whether a compaction is due."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from keepsake.archive.privacy import redacted
from keepsake.archive.records import Memory
from keepsake.archive.tiers import Tiers
from keepsake.books.journal import importance
from keepsake.events.types import MemoryChange
from keepsake.memory import masking
from keepsake.memory.config import CompactionConfig
from keepsake.memory.plan import CompactionPlan, MemorySnapshot, open_exchange
from keepsake.memory.summary_text import Summarizer, extractive
from keepsake.memory.types import CompactReason, Load, MemoryContext
from keepsake.ports import Clock, Tokens
from keepsake.prompt.script import script_line
from keepsake.prompt.tokens import Heuristic

ASK_AGAIN_AFTER = 4
"""Memories after which a compaction that did not pay is considered again."""
_MARKED = (CompactReason.HIGH, CompactReason.SLEEP, CompactReason.EMERGENCY)
"""The reasons that depend on the load. The setting of the same name is the mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHost:
    """What a memory needs from its agent. The functions return current values."""

    clock: Clock
    config: Callable[[], CompactionConfig] = CompactionConfig
    summarizer: Callable[[], Summarizer] = lambda: extractive
    tokens: Tokens | None = None  # counts the tokens of lines in a prompt
    # pins and open promises, which are in every prompt word for word
    constraints: Callable[[], Sequence[str]] = tuple
    asleep: Callable[[], bool] = lambda: False
    # how much a memory matters, 1 to 10; important ones stay longer. None to use rules alone
    importance: Callable[[Memory], int] | None = None
    # takes the event of an edit of a summary; quick, called from any thread
    emit: Callable[[MemoryChange], None] = lambda _: None


class Window:
    """The tiers as a prompt shows them. Callers hold the lock of the tiers.

    Attributes:
        overhead: Tokens of the prompt besides summaries and window, as last reported.
        importance: How much a memory matters, 1 to 10.
    """

    def __init__(self, agent: str, tiers: Tiers, host: MemoryHost) -> None:
        self.overhead = 0
        self.agent = agent
        self.tokens = host.tokens or Heuristic()
        self.importance = host.importance or (lambda memory: importance(memory, agent))
        self._tiers = tiers
        self._host = host
        self._through = self._looked = 0
        # the memories up to the boundary, and their masked versions
        self._masked: tuple[tuple[Memory, ...], tuple[Memory, ...]] = ((), ())
        # the last context, and the state that it was made from
        self._made_of: tuple[object, ...] = ()
        self._context = MemoryContext(None, None, (), ())
        # the memories that were counted last, their lines and tokens, the factor of the estimate
        self._counted: tuple[tuple[Memory, ...], list[str], int, float] = ((), [], 0, 0.0)

    def count(self, *parts: Memory | str) -> int:
        """Count the tokens of memories, as lines of a prompt, and of the lines of texts."""
        return sum(self.tokens.each(self._lines(parts)))

    def _lines(self, parts: Iterable[Memory | str]) -> list[str]:
        lines: list[str] = []
        for part in parts:
            own = [script_line(part, self.agent)] if isinstance(part, Memory) else part.splitlines()
            lines += [line for line in own if line.strip()]
        return lines

    def matters(self, memory: Memory) -> bool:
        """Whether the mask leaves a memory unchanged."""
        return self.importance(memory) >= masking.UNSHORTENED

    def context(self) -> MemoryContext:
        """Return what is in the prompt now."""
        window = tuple(self._tiers.window)
        state = self._tiers.state
        last = self._tiers.last_number
        if last != self._looked:
            self._looked = last
            config = self._host.config()
            if last - config.preserve_memories >= self._through + masking.STEP:  # the mask moves on
                kept = config.preserve_memories
                # It never moves back: masked lines stay masked, so the prompt keeps its head.
                self._through = max(self._through, (last - kept) // masking.STEP * masking.STEP)
        made_of = (window, self._through, state)
        if made_of != self._made_of:  # mostly the same objects, so the comparison is quick
            head = tuple(memory for memory in window if memory.number <= self._through)
            if head != self._masked[0]:
                self._masked = head, masking.mask(head, self._through, self.matters)
            shown = (*self._masked[1], *window[len(head) :])
            self._made_of = made_of
            summaries = (state.longterm, state.recent)
            self._context = MemoryContext(*summaries, window, shown, state.standing)
        return self._context

    def mask_all_allowed(self) -> None:
        """Mask as many memories as allowed; for moments when the prompt changes anyway."""
        kept = self._host.config().preserve_memories
        self._through = max(self._through, self._tiers.last_number - kept)

    def forget(self) -> None:
        """Unmask everything, after memories came back or all were removed."""
        self._through = self._looked = 0

    def load(self) -> Load:
        """Return what the prompt costs."""
        context = self.context()
        budget = self._host.config().budget
        summaries = self.count(*(e.text for e in (context.longterm, context.recent) if e))
        window = self._shown(context.shown)
        return Load(self.overhead + summaries + window, summaries, window, budget)

    def _shown(self, memories: tuple[Memory, ...]) -> int:
        """Count the tokens of the window, without counting memories of the last call again."""
        known, lines, cost, factor = self._counted
        if memories[: len(known)] != known:
            known = ()
            lines = []
            cost = 0
        if factor != self.tokens.factor:  # it changes a little when a server reports prompt tokens
            factor = self.tokens.factor
            cost = sum(self.tokens.each(lines))
        more = self._lines(memories[len(known) :])
        cost += sum(self.tokens.each(more))
        self._counted = memories, lines + more, cost, factor
        return cost

    def snapshot(self, context: MemoryContext) -> MemorySnapshot:
        """Weigh a context memory by memory, for a plan. Slow; needs no lock."""
        shown = {memory.number: self.count(memory) for memory in context.shown}
        weights = tuple(shown.get(memory.number, 0) for memory in context.window)
        longterm = self.count(context.longterm.text) if context.longterm else 0
        recent = self.count(context.recent.text) if context.recent else 0
        return MemorySnapshot(
            longterm=context.longterm,
            recent=context.recent,
            # Summaries are made of these memories, and anyone may read them: no whispered words.
            window=tuple(map(redacted, context.window)),
            weights=weights,
            plain=self.count(*context.window),
            longterm_tokens=longterm,
            recent_tokens=recent,
            overhead=self.overhead,
            open_from=open_exchange(context.window, self.agent),
            tokens=longterm + recent + sum(weights),
        )


class Triggers:
    """Decides whether a compaction is due. Callers hold the lock of the tiers.

    One ladder has several triggers: the count, the high mark, the sleep mark and the emergency
    mark. The hysteresis is the gap between the mark that starts a compaction and the low mark, at
    which it stops. A compaction must be expected to save ``min_saving_tokens``. If one leaves the
    prompt over the mark that started it, it was in vain: the next one waits until that many
    tokens more can be saved. None of these rules holds for a prompt that is over its budget and
    can be brought under it, because such a prompt cannot be sent.
    """

    def __init__(self, tiers: Tiers, window: Window, host: MemoryHost) -> None:
        self._tiers = tiers
        self._window = window
        self._host = host
        self._left: Load | None = None
        """The load after the last compaction, if that was in vain; else None."""
        self._declined: dict[CompactReason, int] = {}

    def reasons(self) -> list[CompactReason]:
        """Return the reasons for a background compaction; quick: no plan tells if it would pay."""
        config = self._host.config()
        load = self._window.load()
        asleep = load.share >= config.sleep and self._host.asleep()
        holds = {
            CompactReason.HIGH: load.share >= config.high,
            CompactReason.SLEEP: asleep,
            CompactReason.COUNT: self._tiers.last_number >= self.next_due(),
        }
        return [reason for reason, now in holds.items() if now and not self.declines(reason, load)]

    def due(self, reason: CompactReason, plan: CompactionPlan | None) -> bool:
        """Whether ``plan`` brings the prompt under its budget, or saves enough."""
        load = self._window.load()
        if self.declines(reason, load):
            return False
        if plan is not None:
            pays = not self.blocked() and plan.pays
            if pays or (load.used > load.budget and plan.least <= load.budget):
                return True
        self._declined[reason] = self._tiers.last_number + ASK_AGAIN_AFTER
        return False

    def blocked(self) -> bool:
        """Whether the last compaction was in vain, and there is nothing new to save.

        Growth of the rest of the prompt does not count: a compaction saves nothing of it. If the
        rest has shrunk, or the budget has changed, another compaction may help.
        """
        left = self._left
        load = self._window.load()
        if left is None or load.budget != left.budget:
            return False
        grown = load.summaries + load.window - left.summaries - left.window
        shrunk = left.overhead - load.overhead
        return max(grown, shrunk) < max(self._host.config().min_saving_tokens, 1)

    def next_due(self) -> int:
        """Return the memory number at which the window is full."""
        config = self._host.config()
        tiers = self._tiers
        due = tiers.state.summarised + config.immediate_window + config.recent_window
        due += not tiers.state.recent
        return due if tiers.undone_at is None else max(due, tiers.undone_at + config.recent_window)

    def compacted(self, reason: CompactReason, left: Load) -> None:
        """Take note of a compaction and the load after it, without memories that came meanwhile."""
        self._declined.clear()
        self._left = None
        if reason in _MARKED and left.share >= getattr(self._host.config(), reason.value):
            self._left = left

    def forget(self) -> None:
        """Drop what was noted, after a compaction was undone or the memory was cleared."""
        self._declined.clear()
        self._left = None

    def declines(self, reason: CompactReason, load: Load) -> bool:
        """Whether an earlier refusal still holds, or a compaction was undone a short while ago.

        A refusal is reconsidered only every few memories, unless the prompt is over its budget.
        """
        if load.used > load.budget:
            return False
        last = self._tiers.last_number
        since = self._tiers.undone_at
        undone = since is not None and last < since + self._host.config().recent_window
        return undone or last < self._declined.get(reason, 0) or self.blocked()
