"""What of a memory stands in a prompt, masked, and what it costs there in tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keepsake.archive.privacy import outward
from keepsake.archive.records import Memory, Summary
from keepsake.archive.tiers import Tiers
from keepsake.books.importance import importance
from keepsake.memory import masking
from keepsake.memory.config import CompactionConfig
from keepsake.memory.host import MemoryHost
from keepsake.memory.plan import MemorySnapshot, open_exchange
from keepsake.memory.types import Load, MemoryContext
from keepsake.ports import Tokens
from keepsake.prompt.script import script_line
from keepsake.prompt.tokens import Heuristic

RECOUNT = 16
"""Memories after which all is counted anew: a model server corrects the estimate."""


class TokenCounter:
    """Counts what memories, as lines of a prompt, and summaries cost one agent."""

    def __init__(self, agent: str, tokens: Tokens) -> None:
        self.agent, self._tokens = agent, tokens
        self._known: dict[int, tuple[Memory, int]] = {}

    @property
    def source(self) -> str:
        """Who counts."""
        return self._tokens.source

    def memory(self, memory: Memory) -> int:
        """Tokens of one memory."""
        known = self._known.get(memory.number)
        if known is None or known[0] is not memory:
            known = memory, self._tokens.of(script_line(memory, self.agent))
            self._known[memory.number] = known
        return known[1]

    def memories(self, memories: Iterable[Memory]) -> int:
        """Tokens of several."""
        return sum(map(self.memory, memories))

    def text(self, text: str) -> int:
        """Tokens of a summary, line by line."""
        return sum(self._tokens.each([line for line in text.splitlines() if line.strip()]))

    def summaries(self, *summaries: Summary | None) -> int:
        """Tokens of those that there are."""
        return sum(self.text(summary.text) for summary in summaries if summary)

    def forget(self) -> None:
        """Count everything anew."""
        self._known.clear()


class Window:
    """The tiers as a prompt shows them; for callers that hold the lock of the tiers."""

    def __init__(self, agent: str, tiers: Tiers, host: MemoryHost) -> None:
        self.overhead = 0
        """Tokens of the prompt beside summaries and window, as last heard."""
        self.counter = TokenCounter(agent, host.tokens or Heuristic())
        self._tiers, self._host = tiers, host
        # How much a memory matters, 1 to 10.
        self.importance = host.importance or (lambda memory: importance(memory, agent))
        self._mask = masking.Mask(self.matters)
        self._through = self._looked = 0
        # The window's weight, kept up as it grows at its end: of which head, to which memory.
        self._head: tuple[object, ...] = ()
        self._newest: Memory | None = None
        self._tokens = self._summary_tokens = 0

    def matters(self, memory: Memory) -> bool:
        """Whether the mask leaves a memory as it is."""
        return self.importance(memory) >= masking.UNSHORTENED

    def context(self) -> MemoryContext:
        """What stands in the prompt now."""
        window, state = self._tiers.window, self._tiers.state
        config = self._host.config()
        masked = None
        if config.mask:
            self._move_boundary(config)
            masked = self._mask.view(window, self._through)
        return MemoryContext(state.longterm, state.recent, tuple(window), masked, state.standing)

    def mask_as_far_as_it_goes(self) -> None:
        """Let the first rung do all it can, when the prompt is to change anyhow."""
        config = self._host.config()
        if config.mask:
            self._mask_through(max(self._tiers.last_number - self._preserved(config), 0))
        self._count_anew()

    def forget(self) -> None:
        """Memories came back, or all went: nothing is masked any more."""
        self._through = self._looked = 0
        self._count_anew()

    def _count_anew(self) -> None:
        self.counter.forget()
        self._head = ()

    def _move_boundary(self, config: CompactionConfig) -> None:
        last = self._tiers.last_number
        if last == self._looked:
            return
        self._looked = last
        # It moves if no more than this many stay as they are: mostly that is seen at once.
        most = last - masking.beyond(self._through)
        if most >= config.preserve_memories and (preserved := self._preserved(config)) <= most:
            self._mask_through(masking.boundary(last, preserved))

    def _mask_through(self, number: int) -> None:
        # Never back: what was shown masked once stays so, and the head of the prompt with it.
        self._through = max(self._through, number)

    def _preserved(self, config: CompactionConfig) -> int:
        """How many of the newest memories always stay as they are."""
        room, count = int(config.preserve_share * config.budget), 0
        for memory in reversed(self._tiers.window):
            if (room := room - self.counter.memory(memory)) < 0:
                break
            count += 1
        return max(count, config.preserve_memories)

    def load(self) -> Load:
        """What the prompt costs; what was counted before is not counted again."""
        context, budget = self.context(), self._host.config().budget
        window = context.window
        summaries = context.longterm, context.recent
        shown_as = context.masked is None, self._through, self._tiers.last_number // RECOUNT
        head = (*summaries, *shown_as, window[0] if window else None)
        if head != self._head or self._newest is None:
            self.counter.forget()
            self._head, self._summary_tokens = head, self.counter.summaries(*summaries)
            self._tokens = self.counter.memories(context.shown)
        else:
            self._tokens += self._grown(window, self._newest)
        self._newest = window[-1] if window else None
        return Load(self.overhead, self._summary_tokens, self._tokens, budget)

    def _grown(self, window: Sequence[Memory], newest: Memory) -> int:
        """Tokens of what came after ``newest``, which may have happened again."""
        tokens = 0
        for memory in reversed(window):
            if memory is newest:
                break
            tokens += self.counter.memory(memory)
            if memory.number == newest.number:
                tokens -= self.counter.memory(newest)
                break
        return tokens

    def snapshot(self, context: MemoryContext) -> MemorySnapshot:
        """A context, weighed memory by memory, for a plan; takes long, and needs no lock."""
        counter, promised = self.counter, self._host.promised()
        weights = {memory.number: counter.memory(memory) for memory in context.shown}
        return MemorySnapshot(
            longterm=context.longterm,
            recent=context.recent,
            # What summaries are made of, and whoever reads them may know.
            window=tuple(map(outward, context.window)),
            weights=tuple(weights.get(memory.number, 0) for memory in context.window),
            plain=counter.memories(context.window),
            longterm_tokens=counter.summaries(context.longterm),
            recent_tokens=counter.summaries(context.recent),
            overhead=self.overhead,
            open_from=open_exchange(context.window, counter.agent, promised),
        )
