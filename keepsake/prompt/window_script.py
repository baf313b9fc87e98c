"""The script of a window, kept from one thought to the next.

Between two thoughts a few memories come in at the end, and some may leave at the beginning. Only
what is new is made; what has left is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import is_

from keepsake.archive.records import Memory, MemoryKind
from keepsake.prompt.marks import MarkedText
from keepsake.prompt.script import FoldedMemory, RenderedMemory, fold, lines_from


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
        self._told: list[FoldedMemory] = []
        self._marked: dict[str, MarkedText] = {}
        self._script = RenderedWindow([])

    def of(self, shown: Sequence[Memory], name: str) -> RenderedWindow:
        """The script of a window.

        ``shown``: Its memories as a prompt shows them, oldest first.
        """
        known = len(self._shown)
        same = name == self._name and all(map(is_, self._shown, shown))
        if same and known == len(shown):
            return self._script
        if same and 0 < known < len(shown):
            self._grown(shown[known:])
        else:
            self._made_anew(shown, name)
        self._shown, self._name = tuple(shown), name
        return self._script

    def _made_anew(self, shown: Sequence[Memory], name: str) -> None:
        # Memories never change, and those of the last window still exist: none has its id.
        before = dict(zip(map(id, self._shown), self._rendered, strict=True))
        self._rendered = [before.get(id(each)) or self._render(each) for each in shown]
        self._told = []
        fold(self._told, self._rendered)
        lines = lines_from(self._told, 0, name)
        self._marked = {line: self._marked.get(line) or self._mark(line) for line in lines}
        self._script = RenderedWindow([self._marked[line] for line in lines])

    def _grown(self, more: Sequence[Memory]) -> None:
        """Go on at the end; the last line may be of something that has happened again."""
        last, rendered = len(self._told) - 1, [self._render(each) for each in more]
        kept = len(self._script.lines) - len(lines_from(self._told, last, self._name))
        self._rendered += rendered
        fold(self._told, rendered)
        lines = lines_from(self._told, last, self._name)
        marked = [self._marked.get(line) or self._mark(line) for line in lines]
        self._marked.update(zip(lines, marked, strict=True))
        self._script = RenderedWindow([*self._script.lines[:kept], *marked])
