"""Counts what lines cost in a prompt, in tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keepsake.archive.records import Memory
from keepsake.archive.transcript import script_line
from keepsake.ports import Tokens


@dataclass(frozen=True, slots=True)
class Counted:
    """Memories whose lines were counted, so that the next count takes only new ones."""

    memories: tuple[Memory, ...] = ()
    lines: tuple[str, ...] = ()
    tokens: int = 0
    factor: float = 0.0  # of the estimate, see :class:`Tokens`


class LineCounter:
    """Counts the tokens of memories, as lines of a prompt, and of the lines of texts."""

    def __init__(self, agent: str, tokens: Tokens) -> None:
        self._agent = agent
        self._tokens = tokens

    def count(self, *parts: Memory | str) -> int:
        """Return the tokens of memories and texts."""
        return sum(self._tokens.each(self._lines(parts)))

    def counted_on(self, known: Counted, memories: tuple[Memory, ...]) -> Counted:
        """Count the tokens of memories, without counting those of the last count again."""
        if memories[: len(known.memories)] != known.memories:
            known = Counted()
        tokens = known.tokens
        factor = self._tokens.factor
        if factor != known.factor:  # it changes a little when a server reports prompt tokens
            tokens = sum(self._tokens.each(known.lines))
        more = self._lines(memories[len(known.memories) :])
        tokens += sum(self._tokens.each(more))
        return Counted(memories, (*known.lines, *more), tokens, factor)

    def _lines(self, parts: Iterable[Memory | str]) -> list[str]:
        lines: list[str] = []
        for part in parts:
            own = (
                [script_line(part, self._agent)] if isinstance(part, Memory) else part.splitlines()
            )
            lines += [line for line in own if line.strip()]
        return lines
