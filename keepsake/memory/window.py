"""What of a memory stands in a prompt, masked, and what it costs there."""

from __future__ import annotations

from keepsake.archive.privacy import outward
from keepsake.archive.tier_lines import SummaryState
from keepsake.compaction.costs import RunningWeight
from keepsake.compaction.dependencies import MemoryParts
from keepsake.memory import exchange, masking
from keepsake.memory.config import CompactionConfig
from keepsake.memory.plan import MemorySnapshot
from keepsake.memory.types import Load, MemoryContext


class View:
    """The tiers as a prompt shows them; for callers that hold the lock of the tiers."""

    def __init__(self, parts: MemoryParts) -> None:
        self.overhead = 0
        """Tokens of the prompt beside summaries and window, as last heard."""
        self.weight = RunningWeight(parts.counter)
        self._tiers, self._scale, self._config = parts.tiers, parts.counter, parts.outside.config
        self._promised = parts.outside.promised
        self._mask = masking.Mask(parts.log, parts.importance.unshortened)
        self._through = 0
        self._context: MemoryContext | None = None
        self._made_of: tuple[object, ...] = ()
        self._summaries = 0
        """Tokens of the summaries of :attr:`_weighed`."""
        self._weighed: SummaryState | None = None
        self._looked: tuple[int, int, CompactionConfig] | None = None
        """For which window and settings the boundary was looked for last."""

    def context(self) -> MemoryContext:
        """What stands in the prompt now."""
        tiers, config = self._tiers, self._config()
        if config.mask:
            self._look_for_boundary(config)
        window = tiers.window
        # None of it changes, but the list grows at its end. A thought asks for the context six
        # times, and it is the same each time.
        made_of = (
            *(window, len(window), window[-1] if window else None, self._through, config.mask),
            tiers.state,
        )
        if self._context is None or made_of != self._made_of:
            masked = self._mask.view(window, self._through) if config.mask else None
            self._made_of = made_of
            state = tiers.state
            self._context = MemoryContext(
                state.longterm, state.recent, tuple(window), masked, state.standing
            )
        return self._context

    def mask_as_far_as_it_goes(self) -> None:
        """Let the first rung do all it can, when the prompt is to change anyhow."""
        config = self._config()
        if config.mask:
            self._mask_through(max(self._tiers.last_number - self._preserved(config), 0))
        self.weight.stale()

    def forget(self) -> None:
        """Memories came back, or all went: what was known of them holds no longer."""
        self._through, self._looked, self._context = 0, None, None
        self.weight.stale()

    def _look_for_boundary(self, config: CompactionConfig) -> None:
        now = (self._tiers.last_number, len(self._tiers.window), config)
        if now == self._looked:
            return
        self._looked = now
        # It moves if no more than so many stay as they are: mostly that is seen before all of
        # them are weighed.
        most = now[0] - masking.beyond(self._through)
        if most >= config.preserve_memories and self._preserved(config, most) <= most:
            self._mask_through(masking.boundary(now[0], self._preserved(config)))

    def _mask_through(self, number: int) -> None:
        # Never back: what was shown masked once stays so, and the head of the prompt with it.
        self._through = max(self._through, number)

    def _preserved(self, config: CompactionConfig, most: int | None = None) -> int:
        """How many of the newest memories always stay as they are; counted to ``most`` and one."""
        room, count = int(config.preserve_share * config.budget), 0
        for memory in reversed(self._tiers.window):
            if (room := room - self._scale.memory(memory)) < 0 or (
                most is not None and count > most
            ):
                break
            count += 1
        return max(count, config.preserve_memories)

    def load(self) -> Load:
        """What the prompt costs: as it was last added up, and what came to the window since."""
        window = self.weight.value(self._added_up)
        if self._weighed is not (state := self._tiers.state):
            self._summaries = self._scale.summaries(state.longterm, state.recent)
            self._weighed = state
        return Load(self.overhead, self._summaries, window, self._config().budget)

    def _added_up(self) -> int:
        self._weighed = None  # the estimate may have been corrected, too
        return self._scale.memories(self.context().shown)

    def snapshot(self) -> MemorySnapshot:
        """All of it, weighed memory by memory, for a plan."""
        return self.weighed(self.context())

    def weighed(self, context: MemoryContext) -> MemorySnapshot:
        """The snapshot of what was in the prompt at a moment; takes long, and needs no lock."""
        scale = self._scale
        numbers = [memory.number for memory in context.shown]
        weights = dict(zip(numbers, scale.each(context.shown), strict=True))
        return MemorySnapshot(
            longterm=context.longterm,
            recent=context.recent,
            # What summaries are made of, and whoever reads them may know.
            window=tuple(map(outward, context.window)),
            shown=tuple(map(outward, context.shown)),
            weights=tuple(weights.get(memory.number, 0) for memory in context.window),
            plain=scale.memories(context.window),
            longterm_tokens=scale.summaries(context.longterm),
            recent_tokens=scale.summaries(context.recent),
            overhead=self.overhead,
            open_from=exchange.open_exchange(context.window, scale.agent, self._promised()),
        )
