"""The script of a window, kept from one thought to the next.

Between two thoughts a few memories come in at the end, and some may leave at the beginning. Only
what is new is made; what has left is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import is_

from game.mind.archive.records import Memory, MemoryKind
from game.mind.prompt.marks import MarkedText
from game.mind.prompt.script import RenderedMemory, script


@dataclass(frozen=True, slots=True)
class RenderedWindow:
    """A window as a template sees it: its lines, marked; nobody changes the list."""

    lines: list[MarkedText]


def rendered(memory: Memory, time: datetime) -> RenderedMemory:
    """A memory as it is shown; ``time``: when it was, in the zone that times are shown in."""
    own = memory.kind is MemoryKind.ACT
    text = f"{memory.text} | {memory.reason}" if own and memory.reason else memory.line
    return RenderedMemory(text, time, own)


class WindowScript:
    """Makes the lines of one agent's window; holds no more than those of the last one.

    Args:
        rendered: How a memory is shown; it must go by the memory alone.
        marked: Marks a line as one of the window.
    """

    def __init__(
        self, rendered: Callable[[Memory], RenderedMemory], marked: Callable[[str], MarkedText]
    ) -> None:
        self._render, self._mark = rendered, marked
        self._name = ""
        self._shown: tuple[Memory, ...] = ()
        self._rendered: list[RenderedMemory] = []
        self._marked: dict[str, MarkedText] = {}
        self._script = RenderedWindow([])

    def of(self, shown: Sequence[Memory], name: str) -> RenderedWindow:
        """The script of a window.

        ``shown``: Its memories as a prompt shows them, oldest first.
        """
        same = name == self._name and len(shown) == len(self._shown)
        if same and all(map(is_, shown, self._shown)):
            return self._script
        # Memories never change, and those of the last window still exist: none has its id.
        before = dict(zip(map(id, self._shown), self._rendered, strict=True))
        self._rendered = [before.get(id(each)) or self._render(each) for each in shown]
        self._shown, self._name = tuple(shown), name
        lines = script(self._rendered, name)
        self._marked = {line: self._marked.get(line) or self._mark(line) for line in lines}
        self._script = RenderedWindow([self._marked[line] for line in lines])
        return self._script
