"""What the parts of one memory share, made once when it is opened."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.archive.tiers import Tiers
from keepsake.books.importance import importance as by_rules
from keepsake.compaction.costs import TokenCounter
from keepsake.compaction.importance_cache import ImportanceCache
from keepsake.errors import ArchiveUnwritable
from keepsake.events.types import MemoryChange
from keepsake.memory.config import CompactionConfig
from keepsake.memory.source import Summarizer
from keepsake.memory.strategy import NARRATIVE, Strategy
from keepsake.memory.summarizer import ExtractiveSummarizer
from keepsake.ports import Clock, Tokens
from keepsake.prompt.tokens import Heuristic


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """What a memory needs from outside; what is a function gives what holds at the moment."""

    clock: Clock
    config: Callable[[], CompactionConfig] = CompactionConfig
    summarizer: Callable[[], Summarizer] = ExtractiveSummarizer
    strategy: Callable[[], Strategy] = lambda: NARRATIVE
    log: Callable[[str], None] = lambda _: None
    tokens: Tokens | None = None  # knows what a line costs in a prompt
    # the lines of pins and open promises, all of which the agent must see
    must_keep: Callable[[], Sequence[str]] = tuple
    # the lines that stand in the prompt whatever is compacted, such as pins
    standing: Callable[[], Sequence[str]] = tuple
    # the numbers of the memories on which open promises rest: they stay verbatim while they are new
    promised: Callable[[], Collection[int]] = tuple
    asleep: Callable[[], bool] = lambda: False
    # how much a memory matters, 1 to 10: what matters stays longer, in the window and in summaries.
    # Quick, as it is asked on the reactor thread, once for each memory and again when a compaction
    # is made; None for rules alone
    importance: Callable[[Memory], int] | None = None
    # seconds of any clock that never goes back, for how long a compaction takes
    ticks: Callable[[], float] = time.perf_counter
    # takes an event of what is done beside remembering and compacting: an edit, a rate, a clearing;
    # quick, from any thread
    tell: Callable[[MemoryChange], None] = lambda _: None


class MemoryParts:
    """One agent's tiers and archive, with what weighs and judges them.

    Attributes:
        lock: Guards the tiers; held for moments.
    """

    def __init__(self, agent: str, archive: Archive, tiers: Tiers, outside: Dependencies) -> None:
        self.agent, self.archive, self.tiers, self.outside = agent, archive, tiers, outside
        self.lock = threading.Lock()
        self.counter = TokenCounter(agent, outside.tokens or Heuristic())
        self.importance = ImportanceCache(
            outside.importance or (lambda memory: by_rules(memory, agent).score), self.log
        )

    def log(self, text: str) -> None:
        """Write one line for people, with the agent's name."""
        self.outside.log(f"[Memory] {self.agent}: {text}")

    def sync(self) -> None:
        """Bring a line to the disk; the operating system has it, and the background tries again."""
        try:
            self.archive.sync()
        except ArchiveUnwritable as error:
            self.log(str(error))
