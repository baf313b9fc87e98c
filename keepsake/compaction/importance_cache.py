"""How much each memory matters, where that decides what stays longer.

Each is judged once and the judgement kept by its number, so that what is asked at every turn
costs nothing. Nobody gains by having everything matter: whoever has more lines that matter
than anybody needs is heard like everybody else.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from keepsake.archive.records import Memory
from keepsake.books.journal.entries import LEAST, MOST

type Judge = Callable[[Memory], int]
"""How much a memory matters, 1 to 10; quick, as it is asked on the reactor thread too."""

UNSHORTENED = 7
"""From here on the mask leaves a memory as it is."""
REMEMBERED = 6
"""From here on a summary is known to hold a memory, and the next one is made with that."""
MOST_REMEMBERED, MOST_OF_ONE = 32, 8
"""The most memories that a summary is known to hold, of all and of one person."""
_ONE_GO = 2048
"""Memories that are sooner read than a segment of the archive is begun anew."""


class ImportanceCache:
    """How much memories matter, each judged once; it never fails.

    Args:
        most: So many judgements are kept; the oldest goes first. A window must be smaller.
    """

    def __init__(
        self, judge: Judge, log: Callable[[str], None] = lambda _: None, most: int = 20_000
    ) -> None:
        self._judge, self._log, self._most = judge, log, most
        self._told = ""
        self._known: dict[int, int] = {}
        self._lock = threading.Lock()

    def of(self, memory: Memory) -> int:
        """How much ``memory`` matters, :data:`LEAST` to :data:`MOST`."""
        known = self._known.get(memory.number)
        if known is None:
            known = self._judged(memory)
            with self._lock:
                self._known[memory.number] = known
                if len(self._known) > self._most:
                    del self._known[next(iter(self._known))]
        return known

    def unshortened(self, memory: Memory) -> bool:
        """Whether the mask leaves it as it is."""
        return self.of(memory) >= UNSHORTENED

    def judge_anew(self, memories: Iterable[Memory]) -> None:
        """Judge these again and forget all others.

        A journal comes to think otherwise of what it holds. That is heard when a compaction
        is made, as the prompt changes then anyhow.
        """
        known = {memory.number: self._judged(memory) for memory in memories}
        with self._lock:
            self._known = known

    def _judged(self, memory: Memory) -> int:
        try:
            return min(max(int(self._judge(memory)), LEAST), MOST)
        except Exception as error:  # whatever rules make of an old archive: the thought goes on
            if repr(error) != self._told:
                self._told = repr(error)
                self._log(f"A memory could not be judged ({error!r}); it counts as routine")
            return LEAST


def picked(
    read: Callable[[int, int], Sequence[Memory]], numbers: Sequence[int]
) -> tuple[Memory, ...]:
    """Single memories from the archive; those that it cannot give are left out.

    ``numbers``: Which, ascending.
    """
    found: list[Memory] = []
    for first, last in _runs(numbers):
        found += (memory for memory in read(first, last) if memory.number in numbers)
    return tuple(found)


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """First and last of those that are best read in one go."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number - runs[-1][1] <= _ONE_GO:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def who(memory: Memory) -> str:
    """Who has a share in what may stand out: whoever caused it, whatever they are called."""
    return memory.source_id or memory.source


def remembered(memories: Iterable[Memory], importance: Judge) -> tuple[Memory, ...]:
    """The memories that a summary should be known to hold, in order of their numbers.

    Those that matter most, and of those that matter as much the newest; of nobody more than
    :data:`MOST_OF_ONE`.
    """
    weighty = [memory for memory in memories if importance(memory) >= REMEMBERED]
    weighty.sort(key=lambda memory: (importance(memory), memory.number), reverse=True)
    count: Counter[str] = Counter()
    kept: list[Memory] = []
    for memory in weighty:
        if count[who(memory)] < MOST_OF_ONE and len(kept) < MOST_REMEMBERED:
            count[who(memory)] += 1
            kept.append(memory)
    return tuple(sorted(kept, key=lambda memory: memory.number))
