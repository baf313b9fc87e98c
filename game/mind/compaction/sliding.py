"""A memory without summaries: the newest memories and nothing else.

What falls out of the window stays in the archive. It serves where no summary is wanted,
and as what is left when none can be made. Old results are masked here as well, and the
window never holds more than the prompt has room for.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime

from game.mind.archive.log import Archive
from game.mind.archive.records import Memory, MemoryKind
from game.mind.books.journal.importance import importance as by_rules
from game.mind.compaction import ladder, masking
from game.mind.compaction.config import CompactionConfig
from game.mind.compaction.costs import TokenCounter
from game.mind.compaction.importance_cache import ImportanceCache
from game.mind.errors import CompactionError
from game.mind.events.types import MemoryChange
from game.mind.memory import (
    CompactionResult,
    CompactReason,
    Load,
    MemoryContext,
    MemoryStatus,
    Outcome,
    Undone,
)
from game.mind.ports import Clock, Tokens
from game.mind.prompt.tokens import Heuristic
from game.mind.summaries.roundtrip import Rate, RoundtripQuestion

LEAST_VERBATIM = 4
"""So many of the newest memories stand in the prompt, however little room there is."""


class SlidingMemory:
    """The newest ``size`` memories; implements :class:`game.mind.agent_memory.AgentMemory`.

    Args:
        archive: Where everything is kept.
        size: How many memories stand in the prompt.
        clock: The present time.
        agent: The agent's name, which stands before its own acts in a prompt.
        config: Gives the settings that hold now.
        tokens: Knows what a line costs in a prompt.
        importance: How much a memory matters, 1 to 10; None for rules alone. What matters is
            not masked.
        tell: Takes the event of a clearing.
    """

    questions: tuple[RoundtripQuestion, ...] = ()

    def __init__(
        self,
        archive: Archive,
        size: int,
        clock: Clock,
        *,
        agent: str = "",
        config: Callable[[], CompactionConfig] = CompactionConfig,
        tokens: Tokens | None = None,
        importance: Callable[[Memory], int] | None = None,
        tell: Callable[[MemoryChange], None] = lambda _: None,
    ) -> None:
        self.archive, self._tell = archive, tell
        self.agent = agent
        self._config = config
        self._scale = TokenCounter(agent, tokens or Heuristic())
        self._mattering = ImportanceCache(
            importance or (lambda memory: by_rules(memory, agent).score), most=4 * size
        )
        self._mask = masking.Mask(matters=self._mattering.unshortened)
        self._overhead = 0
        self._clock = clock
        self._lock = threading.Lock()
        self._window: deque[Memory] = deque(_newest(archive, size), maxlen=size)

    def append(
        self,
        text: str,
        kind: MemoryKind = MemoryKind.PERCEPTION,
        *,
        place: str = "",
        source: str = "",
        reason: str = "",
        source_id: str = "",
        event: str = "",
        to: str = "",
        time: datetime | None = None,
    ) -> Memory:
        """Remember one line; see :meth:`game.mind.agent_memory.AgentMemory.append`."""
        with self._lock:
            now = time or self._clock.now()
            last = self._window[-1] if self._window else None
            memory = Memory(
                number=self.archive.last_number + 1,
                time=now,
                kind=kind,
                text=text,
                place=place,
                source=source,
                reason=reason,
                source_id=source_id,
                event=event,
                to=to,
            )
            if last and last.is_repeated_by(memory):
                times = last.repeats + 1
                record = {"type": "repeat", "n": last.number, "t": now.isoformat(), "times": times}
                self.archive.append(record)
                self._window[-1] = last.repeated(times)
                return self._window[-1]
            self.archive.append_memory(memory)
            self._window.append(memory)
            return memory

    def context(self) -> MemoryContext:
        """The newest memories that the prompt has room for; there are no summaries."""
        with self._lock:
            window, config = tuple(self._window), self._config()
        masked = None
        if config.mask and window:
            through = masking.boundary(window[-1].number, config.preserve_memories)
            masked = self._mask.view(window, through)
        first = self._first_that_fits(window if masked is None else masked, config)
        window = tuple(memory for memory in window if memory.number >= first)
        if masked is not None:
            masked = tuple(memory for memory in masked if memory.number >= first)
        return MemoryContext(None, None, window, masked)

    def _first_that_fits(self, shown: tuple[Memory, ...], config: CompactionConfig) -> int:
        """The number of the oldest memory that the prompt has room for."""
        room = ladder.high_tokens(config) - self._overhead
        first = shown[0].number if shown else 0
        for place, memory in enumerate(reversed(shown)):
            room -= self._scale.memory(memory)
            if room < 0 and place >= LEAST_VERBATIM:
                break
            first = memory.number
        return first

    def weigh(self, overhead: int) -> None:
        """Take what the last prompt cost beside the window."""
        self._overhead = max(overhead, 0)

    def load(self) -> Load:
        """What the prompt costs now."""
        window = self._scale.memories(self.context().shown)
        return Load(self._overhead, 0, window, self._config().budget)

    def next_turn(self) -> CompactReason | None:
        """Never due."""
        return None

    def before_thought(self) -> CompactReason | None:
        """Never: the window slides by itself."""
        return None

    def undo(self) -> Undone:
        """There is nothing to take back."""
        raise CompactionError("this memory makes no summaries, so there is none to take back")

    def record_rate(self, number: int, rate: Rate) -> None:
        """There are no compactions here to rate."""

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Does nothing: this memory makes no summaries."""
        detail = "this memory keeps a sliding window and makes no summaries"
        return CompactionResult(reason, Outcome.NOTHING, detail, kept=len(self._window))

    def clear(self) -> None:
        """Empty the prompt; the archive keeps everything and the numbers go on."""
        with self._lock:
            now = self._clock.now().isoformat()
            number = self.archive.last_number
            made, step = _compactions(self.archive)
            self.archive.append(
                {"type": "clear", "n": number, "t": now, "compactions": made, "step": step}
            )
            self._window.clear()
        self._tell(MemoryChange(agent=self.agent, op="clear", n=number))

    def is_empty(self) -> bool:
        """Whether nothing stands in the prompt."""
        return not self._window

    def status(self) -> MemoryStatus:
        """Figures about this memory."""
        window = len(self.context().window)
        return MemoryStatus(total=self.archive.last_number, window=window)

    def close(self) -> None:
        """Bring everything to the disk and let go of the files."""
        self.archive.close()


def _newest(archive: Archive, size: int) -> list[Memory]:
    """The last ``size`` memories since the last clearing, oldest first."""
    newest: list[Memory] = []
    repeats: dict[int, int] = {}
    for record in archive.backwards():
        match record.get("type"):
            case "clear":
                break
            case "repeat":
                # Backwards, the first one met is the highest count.
                repeats.setdefault(int(record["n"]), int(record["times"]))
            case "memory":
                memory = Memory.from_record(record)
                newest.append(memory.repeated(repeats.get(memory.number, 1)))
        if len(newest) == size:
            break
    return newest[::-1]


def _compactions(archive: Archive) -> tuple[int, int]:
    """How many compactions another kind of memory has made here, and how many steps."""
    for record in archive.backwards():
        match record.get("type"):
            case "compaction":
                made = int(record["id"])
                return made, int(record.get("step", made))
            case "undo" | "clear":
                made = int(record["compactions"])
                return made, int(record.get("step", made))
    return 0, 0
