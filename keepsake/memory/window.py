"""What of a memory is in a prompt, what it costs there in tokens, and whether that is too much."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from keepsake.archive.privacy import outward
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
"""Memories after which a compaction that did not pay is thought over again."""
_MARKED = (CompactReason.HIGH, CompactReason.SLEEP, CompactReason.EMERGENCY)
"""What goes by the load; the mark is the setting of the same name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHost:
    """What a memory asks of the agent whose it is; a function gives what holds at the moment."""

    clock: Clock
    config: Callable[[], CompactionConfig] = CompactionConfig
    summarizer: Callable[[], Summarizer] = lambda: extractive
    log: Callable[[str], None] = lambda _: None
    tokens: Tokens | None = None  # knows what a line costs in a prompt
    # pins and open promises, which stand in every prompt word for word
    constraints: Callable[[], Sequence[str]] = tuple
    asleep: Callable[[], bool] = lambda: False
    # how much a memory matters, 1 to 10: what matters stays longer; None for rules alone
    importance: Callable[[Memory], int] | None = None
    # takes an event of an edit, a rate or a clearing; quick, from any thread
    emit: Callable[[MemoryChange], None] = lambda _: None


class Window:
    """The tiers as a prompt shows them; for callers that hold the lock of the tiers.

    Attributes:
        overhead: Tokens of the prompt beside summaries and window, as last heard.
        importance: How much a memory matters, 1 to 10.
    """

    def __init__(self, agent: str, tiers: Tiers, host: MemoryHost) -> None:
        self.overhead = 0
        self.agent, self.tokens = agent, host.tokens or Heuristic()
        self.importance = host.importance or (lambda memory: importance(memory, agent))
        self._tiers, self._host = tiers, host
        self._through = self._looked = 0
        # the memories up to the boundary, and what they are masked
        self._masked: tuple[tuple[Memory, ...], tuple[Memory, ...]] = ((), ())
        # what was in the prompt last, and what that was made of
        self._made_of: tuple[object, ...] = ()
        self._context = MemoryContext(None, None, (), ())
        # the memories that were counted last, as lines, their tokens, the factor of the estimate
        self._counted: tuple[tuple[Memory, ...], list[str], int, float] = ((), [], 0, 0.0)

    def count(self, *parts: Memory | str) -> int:
        """Tokens of memories, as lines of a prompt, and of the lines of texts."""
        return sum(self.tokens.each(self._lines(parts)))

    def _lines(self, parts: Iterable[Memory | str]) -> list[str]:
        lines: list[str] = []
        for part in parts:
            own = [script_line(part, self.agent)] if isinstance(part, Memory) else part.splitlines()
            lines += [line for line in own if line.strip()]
        return lines

    def matters(self, memory: Memory) -> bool:
        """Whether the mask leaves a memory as it is."""
        return self.importance(memory) >= masking.UNSHORTENED

    def context(self) -> MemoryContext:
        """What is in the prompt now."""
        window, state, last = tuple(self._tiers.window), self._tiers.state, self._tiers.last_number
        if last != self._looked:
            self._looked, config = last, self._host.config()
            if last - config.preserve_memories >= self._through + masking.STEP:  # it may move
                kept = config.preserve_memories
                # Never back: what was shown masked once stays so, and the head of the prompt.
                self._through = max(self._through, (last - kept) // masking.STEP * masking.STEP)
        made_of = (window, self._through, state)
        if made_of != self._made_of:  # mostly the same objects, which compare at once
            head = tuple(memory for memory in window if memory.number <= self._through)
            if head != self._masked[0]:
                self._masked = head, masking.mask(head, self._through, self.matters)
            shown = (*self._masked[1], *window[len(head) :])
            self._made_of, summaries = made_of, (state.longterm, state.recent)
            self._context = MemoryContext(*summaries, window, shown, state.standing)
        return self._context

    def mask_as_far_as_it_goes(self) -> None:
        """Let the first rung do all it can, when the prompt is to change anyhow."""
        kept = self._host.config().preserve_memories
        self._through = max(self._through, self._tiers.last_number - kept)

    def forget(self) -> None:
        """Memories came back, or all went: nothing is masked any more."""
        self._through = self._looked = 0

    def load(self) -> Load:
        """What the prompt costs."""
        context, budget = self.context(), self._host.config().budget
        summaries = self.count(*(e.text for e in (context.longterm, context.recent) if e))
        window = self._shown(context.shown)
        return Load(self.overhead + summaries + window, summaries, window, budget)

    def _shown(self, memories: tuple[Memory, ...]) -> int:
        """Tokens of the window; those of the memories that it had before are not counted again."""
        known, lines, cost, factor = self._counted
        if memories[: len(known)] != known:
            known, lines, cost = (), [], 0
        if factor != self.tokens.factor:  # often a little, with what a server says of a prompt
            factor, cost = self.tokens.factor, sum(self.tokens.each(lines))
        more = self._lines(memories[len(known) :])
        cost += sum(self.tokens.each(more))
        self._counted = memories, lines + more, cost, factor
        return cost

    def snapshot(self, context: MemoryContext) -> MemorySnapshot:
        """A context, weighed memory by memory, for a plan; takes long, and needs no lock."""
        shown = {memory.number: self.count(memory) for memory in context.shown}
        weights = tuple(shown.get(memory.number, 0) for memory in context.window)
        longterm = self.count(context.longterm.text) if context.longterm else 0
        recent = self.count(context.recent.text) if context.recent else 0
        return MemorySnapshot(
            longterm=context.longterm,
            recent=context.recent,
            # What summaries are made of, and whoever reads them may know.
            window=tuple(map(outward, context.window)),
            weights=weights,
            plain=self.count(*context.window),
            longterm_tokens=longterm,
            recent_tokens=recent,
            overhead=self.overhead,
            open_from=open_exchange(context.window, self.agent),
            tokens=longterm + recent + sum(weights),
        )


class Triggers:
    """Decides whether a compaction is due; for callers that hold the lock of the tiers.

    One ladder has several triggers: the count, the high mark, the sleep mark and the emergency
    mark. Between the mark that starts a compaction and the low mark that it goes down to lies
    the hysteresis. What a compaction is expected to save has to exceed ``min_saving_tokens``.
    One that left the prompt over the mark that started it is in vain: the next waits until
    there is as much more to save. None of that holds where the prompt is over its budget and
    can be brought under it: it could not be sent.
    """

    def __init__(self, tiers: Tiers, window: Window, host: MemoryHost) -> None:
        self._tiers, self._window, self._host = tiers, window, host
        self._left: Load | None = None
        """What the last compaction left, if it was in vain."""
        self._declined: dict[CompactReason, int] = {}

    def holding(self) -> list[CompactReason]:
        """What asks for one in the background, without a plan that tells if it would pay; quick."""
        config, load = self._host.config(), self._window.load()
        asleep = load.share >= config.sleep and self._host.asleep()
        holds = {
            CompactReason.HIGH: load.share >= config.high,
            CompactReason.SLEEP: asleep,
            CompactReason.COUNT: self._tiers.last_number >= self.next_due(),
        }
        return [reason for reason, now in holds.items() if now and not self.declines(reason, load)]

    def due(self, reason: CompactReason, plan: CompactionPlan | None) -> bool:
        """Whether ``plan`` brings the prompt under its budget, or is worth it."""
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
        """Whether the last one was in vain, and there is nothing new to save.

        That the rest of the prompt has grown is no reason: nothing of it can be saved. That it
        has shrunk, or that the budget is another one, is.
        """
        left, load = self._left, self._window.load()
        if left is None or load.budget != left.budget:
            return False
        grown = load.summaries + load.window - left.summaries - left.window
        shrunk = left.overhead - load.overhead
        return max(grown, shrunk) < max(self._host.config().min_saving_tokens, 1)

    def next_due(self) -> int:
        """The memory number at which the window is full."""
        config, tiers = self._host.config(), self._tiers
        due = tiers.state.summarised + config.immediate_window + config.recent_window
        due += not tiers.state.recent
        return due if tiers.undone_at is None else max(due, tiers.undone_at + config.recent_window)

    def compacted(self, reason: CompactReason, left: Load) -> None:
        """One was made, and left the prompt at ``left``, without what came meanwhile."""
        self._declined.clear()
        self._left = None
        if reason in _MARKED and left.share >= getattr(self._host.config(), reason.value):
            self._left = left

    def forget(self) -> None:
        """The memory is another one now: cleared, or taken back."""
        self._declined.clear()
        self._left = None

    def declines(self, reason: CompactReason, load: Load) -> bool:
        """Whether a no still holds, or one was taken back just now and is not made again at once.

        It is thought over only every few memories, unless the prompt is over its budget.
        """
        if load.used > load.budget:
            return False
        last, since = self._tiers.last_number, self._tiers.undone_at
        undone = since is not None and last < since + self._host.config().recent_window
        return undone or last < self._declined.get(reason, 0) or self.blocked()
