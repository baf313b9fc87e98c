"""How much each memory matters, where that decides what stays longer.

Each is judged once and the judgement kept by its number, so that what is asked at every turn
costs nothing. Nobody gains by having everything matter: whoever has more lines that matter
than anybody needs is heard like everybody else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from keepsake.archive.records import Memory
from keepsake.books.entries import LEAST, MOST

type Judge = Callable[[Memory], int]
"""How much a memory matters, 1 to 10; quick, as it is asked on the reactor thread too."""

UNSHORTENED = 7
"""From here on the mask leaves a memory as it is."""


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


def who(memory: Memory) -> str:
    """Who has a share in what may stand out: whoever caused it, whatever they are called."""
    return memory.source_id or memory.source
