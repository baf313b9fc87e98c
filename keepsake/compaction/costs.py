"""What memories and summaries cost in a prompt, in tokens.

A memory is weighed as the line that a prompt makes of it, so that it weighs what it costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from keepsake.archive.records import Memory, Summary
from keepsake.ports import Tokens
from keepsake.prompt.script import script_line

WALK_AFTER = 16
"""Memories after which a running weight is added up anew: the server corrects the estimate,
and the boundary of what is masked moves."""


class TokenCounter:
    """Weighs for one agent."""

    def __init__(self, agent: str, tokens: Tokens) -> None:
        self.agent = agent
        self._tokens = tokens

    @property
    def source(self) -> str:
        """Who counts."""
        return self._tokens.source

    def memory(self, memory: Memory) -> int:
        """Tokens of one memory."""
        return self._tokens.of(script_line(memory, self.agent))

    def memories(self, memories: Iterable[Memory]) -> int:
        """Tokens of several."""
        return sum(self.each(memories))

    def each(self, memories: Iterable[Memory]) -> list[int]:
        """Tokens of each of several."""
        return self._tokens.each([script_line(memory, self.agent) for memory in memories])

    def text(self, text: str) -> int:
        """Tokens of a summary, line by line."""
        return sum(self._tokens.each([line for line in text.splitlines() if line.strip()]))

    def summaries(self, *summaries: Summary | None) -> int:
        """Tokens of those that there are."""
        return sum(self.text(summary.text) for summary in summaries if summary)


class RunningWeight:
    """The weight of a window that grows at its end, kept up as it grows.

    Adding up 128 lines at each turn would cost more than all else that a turn does.
    """

    def __init__(self, scale: TokenCounter) -> None:
        self._scale = scale
        self._sum = 0
        self._left = 0

    def stale(self) -> None:
        """Something else than the end of the window has changed."""
        self._left = 0

    def grown(self, memory: Memory, before: Memory | None = None) -> None:
        """The window ends with ``memory`` now, in place of ``before`` if that happened again."""
        if not self._left:
            return
        if before is None:
            self._left -= 1
        else:
            self._sum -= self._scale.memory(before)
        self._sum += self._scale.memory(memory)

    def value(self, walk: Callable[[], int]) -> int:
        """The weight now; ``walk`` adds it up where it is not known."""
        if not self._left:
            self._sum, self._left = walk(), WALK_AFTER
        return self._sum
