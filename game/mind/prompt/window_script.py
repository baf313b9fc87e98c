"""The script of a window, kept from one thought to the next.

Between two thoughts a few memories come in at the end, and some may leave at the beginning.
The lines of those between stay what they were (see :mod:`game.mind.prompt.script`), so only the
others are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, is_
from typing import NamedTuple

from game.mind.archive.records import Memory
from game.mind.prompt.marks import MarkedText, PromptLine
from game.mind.prompt.script import RenderedMemory, folded, told


@dataclass(frozen=True, slots=True)
class RenderedWindow:
    """A window as a template sees it.

    Attributes:
        lines: Its lines, marked; nobody changes the list.
        known: What a prompt is to make of each of them where it stands alone on a line.
    """

    lines: list[MarkedText]
    known: Mapping[str, PromptLine]


class _RenderedSpan(NamedTuple):
    """What stands for one memory, or for several that say the same in a row.

    Attributes:
        times: For how many.
        first: The first of them.
        lines: Its lines: the time where it matters, and what happened.
    """

    times: int
    first: RenderedMemory
    lines: tuple[MarkedText, ...]


class WindowScript:
    """Makes the lines of one agent's window; holds no more than those of the last one.

    Memories never change, so what is equal is shown by the same line.

    Args:
        rendered: How a memory is shown; it must go by the memory alone.
        marked: Marks a line as one of the window, and says what a prompt makes of it where it
            stands alone on a line; None if that cannot be said.
    """

    def __init__(
        self,
        rendered: Callable[[Memory], RenderedMemory],
        marked: Callable[[str], tuple[MarkedText, PromptLine | None]],
    ) -> None:
        self._render, self._marked = rendered, marked
        self._forget("")

    def _forget(self, name: str) -> None:
        self._name = name
        self._shown: tuple[Memory, ...] = ()
        self._rendered: list[RenderedMemory] = []
        self._told: list[_RenderedSpan] = []
        self._known: dict[str, PromptLine] = {}
        self._script = RenderedWindow([], {})

    def of(self, shown: Sequence[Memory], name: str) -> RenderedWindow:
        """The script of a window.

        Args:
            shown: Its memories as a prompt shows them, oldest first.
            name: Whose they are.
        """
        shown = tuple(shown)
        if name != self._name:
            self._forget(name)
        if len(shown) == len(self._shown) and all(map(is_, shown, self._shown)):
            return self._script
        if shown:
            self._drop(_place(shown[0], self._shown))
        self._keep(_same_at_start(shown, self._shown))
        self._rendered += map(self._render, shown[len(self._rendered) :])
        self._shown = shown
        self._go_on()
        self._script = self._put_together()
        return self._script

    def _drop(self, count: int) -> None:
        """So many of the first memories have left the window."""
        if not count:
            return
        del self._rendered[:count]
        self._shown = self._shown[count:]
        gone = left = 0
        while left < count:
            left += self._told[gone].times
            gone += 1
        # What comes first now is told with its day; and where only a part of what one line stood
        # for has left, so is what comes after it, as its gap is another.
        again = sum(each.times for each in self._told[gone : gone + 2]) + left - count
        self._told[: gone + 2] = self._tell(self._rendered[:again], None)

    def _keep(self, same: int) -> None:
        """Only so many of the first memories are what they were."""
        told = len(self._rendered)
        while self._told and told > same:
            told -= self._told.pop().times
        # The last line left may come to stand for more.
        if self._told:
            self._told.pop()
        del self._rendered[same:]

    def _go_on(self) -> None:
        """Tell the memories of which nothing is told yet."""
        start = sum(each.times for each in self._told)
        before = self._told[-1].first if self._told else None
        self._told += self._tell(self._rendered[start:], before)

    def _tell(
        self, memories: Sequence[RenderedMemory], before: RenderedMemory | None
    ) -> Iterator[_RenderedSpan]:
        for memory, count in folded(memories):
            lines = tuple(map(self._line, told(before, memory, count, self._name)))
            yield _RenderedSpan(count, memory, lines)
            before = memory

    def _line(self, text: str) -> MarkedText:
        marked, alone = self._marked(text)
        if alone is not None:
            self._known[marked.printed] = alone
        return marked

    def _put_together(self) -> RenderedWindow:
        lines = list(chain.from_iterable(map(_lines, self._told)))
        if len(self._known) > 2 * len(lines) + _FEW:  # most of them have left by now
            known = self._known
            self._known = {
                each.printed: known[each.printed] for each in lines if each.printed in known
            }
        return RenderedWindow(lines, self._known)


_FEW = 64
_lines = attrgetter("lines")


def _place(memory: Memory, window: Sequence[Memory]) -> int:
    """Where that memory stands; the end if it does not."""
    return next((place for place, each in enumerate(window) if _same(each, memory)), len(window))


def _same_at_start(one: Sequence[Memory], other: Sequence[Memory]) -> int:
    """How many of the first memories are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    shorter = min(len(one), len(other))
    return next((place for place, pair in pairs if not _same(*pair)), shorter)


def _same(one: Memory, other: Memory) -> bool:
    # Mostly the same object; one that is shortened anew says the same as before.
    return one is other or one == other
