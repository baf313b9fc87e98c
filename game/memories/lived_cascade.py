"""The cascade over memories that somebody else has numbered."""

from __future__ import annotations

from game.mind.archive.records import Memory
from game.mind.compaction.cascade import CascadeMemory


class LivedCascade(CascadeMemory):
    """A :class:`CascadeMemory` that is handed memories in place of making them from words."""

    def take(self, memory: Memory) -> None:
        """Remember a memory under its own number, or that the newest happened again.

        Raises:
            ArchiveUnwritable: Nothing was remembered.
            ValueError: Its number is neither the newest nor the one after it.
        """
        with self._lock:
            if memory.number == self._tiers.last_number:
                self._again(memory)
                return
            once = memory.repeated(1)
            self.archive.append_memory(once)
            self._tiers.add(once)
            self._grown(once, None)
            self._again(memory)

    def _again(self, memory: Memory) -> None:
        """Bring the newest to the repeats that ``memory`` has; it is gone after a clearing."""
        window = self._tiers.window
        if not window or memory.repeats <= (last := window[-1]).repeats:
            return
        when, times = memory.time.isoformat(), memory.repeats
        self.archive.append({"type": "repeat", "n": last.number, "t": when, "times": times})
        self._grown(self._tiers.repeat_last(times), last)
