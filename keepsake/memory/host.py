"""What a memory needs from the agent whose it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from keepsake.archive.records import Memory
from keepsake.events.types import MemoryChange
from keepsake.memory.config import CompactionConfig
from keepsake.memory.source import Summarizer
from keepsake.memory.strategy import NARRATIVE, Strategy
from keepsake.memory.summarizer import ExtractiveSummarizer
from keepsake.ports import Clock, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHost:
    """What a memory asks of the agent whose it is; a function gives what holds at the moment."""

    clock: Clock
    config: Callable[[], CompactionConfig] = CompactionConfig
    summarizer: Callable[[], Summarizer] = ExtractiveSummarizer
    strategy: Callable[[], Strategy] = lambda: NARRATIVE
    log: Callable[[str], None] = lambda _: None
    tokens: Tokens | None = None  # knows what a line costs in a prompt
    # pins and open promises, which stand in every prompt word for word
    constraints: Callable[[], Sequence[str]] = tuple
    # the numbers of the memories on which open promises rest: they stay verbatim while they are new
    promised: Callable[[], Collection[int]] = tuple
    asleep: Callable[[], bool] = lambda: False
    # how much a memory matters, 1 to 10: what matters stays longer; None for rules alone
    importance: Callable[[Memory], int] | None = None
    # seconds of any clock that never goes back, for how long a compaction takes
    ticks: Callable[[], float] = time.perf_counter
    # takes an event of an edit, a rate or a clearing; quick, from any thread
    emit: Callable[[MemoryChange], None] = lambda _: None
