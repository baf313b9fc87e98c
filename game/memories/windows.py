"""The two simplest memories: all that was lived, and the newest of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from game.memories.protocol import Figure, RecalledLine, Surroundings, dated
from game.mind.archive.records import Memory


class FullContext:
    """Everything verbatim, as far back as the prompt has room: no summary, no search."""

    def __init__(self, given: Surroundings) -> None:
        self._tokens = given.tokens
        self._lines: dict[int, str] = {}

    @property
    def newest(self) -> int:
        """Nothing is kept on disk."""
        return max(self._lines, default=0)

    def perceive(self, memory: Memory) -> None:
        """Keep the line."""
        self._lines[memory.number] = dated(memory)

    def context(self, budget: int) -> Sequence[str]:
        """The newest lines that fit."""
        shown: list[str] = []
        for line in reversed(self._lines.values()):
            budget -= self._tokens.of(line)
            if budget < 0:
                break
            shown.append(line)
        return shown[::-1]

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """Nothing: what there is stands in the context."""
        return ()

    def rest(self, *, asleep: bool) -> None:
        """Nothing to do."""

    def state(self) -> Mapping[str, Figure]:
        """How many lines it has."""
        return {"lines": len(self._lines)}

    def close(self) -> None:
        """Nothing is held."""


class SlidingWindow(FullContext):
    """The newest ``window`` memories (64), and nothing else."""

    def __init__(self, given: Surroundings) -> None:
        super().__init__(given)
        self._size = int(given.settings.get("window", "64"))

    def perceive(self, memory: Memory) -> None:
        """Keep the line, and drop the oldest."""
        super().perceive(memory)
        while len(self._lines) > self._size:
            del self._lines[next(iter(self._lines))]
