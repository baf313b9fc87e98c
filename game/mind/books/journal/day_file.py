"""A day of a journal as markdown: a heading for each entry, its text, what is known of it.

::

    ## 20261121-3, 14:05

    Tom told me: "I will bring the blue cup back."

    - **importance**: 8, by rules (a promise, said to me)
    - **source**: told to me (trust 0.9)
    - **memories**: 120, 121
    - **tags**: promise, tom
    - **who**: 5-20261101120000
    - **written**: 2026-11-21T14:05:09+01:00

People write into such files too. Whatever is not an entry stays as it is, and of an entry
only the lines that change are written anew; one that cannot be read is named and left alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

from game.mind.books.journal import fields
from game.mind.books.journal.blocks import (
    FENCES,
    HEADING,
    Block,
    entry_number,
    read_block,
    rewritten,
    written,
)
from game.mind.books.journal.entries import JournalEntry

LONGEST_FILE = 1_000_000
"""Characters of one day; a longer file is not read."""

_PART = re.compile(r"##?[ \t]")
_LAST = re.compile(r"last:[ \t]*(\d{1,6})[ \t]*$", re.ASCII)
_NEW_FILE = """\
---
day: {day}
last: 0
---

# {title}

What was written down of this day. Entries may be changed and taken out, and new ones added: a
heading with a number that is still free, such as `## {short}-900`, and the text below it.
"""


@dataclass(frozen=True, slots=True)
class DayFile:
    """The file of one day; changing it makes another one."""

    day: date
    head: tuple[str, ...]
    blocks: tuple[Block, ...]
    newline: str = "\n"

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """What can be read, in the order of the file."""
        return tuple(block.entry for block in self.blocks if block.entry is not None)

    @property
    def problems(self) -> tuple[str, ...]:
        """What cannot, and why: ``line 17: …``."""
        return tuple(f"line {each.line}: {each.problem}" for each in self.blocks if each.problem)

    @property
    def last(self) -> int:
        """The highest number that an entry of this day has, or is known to have had."""
        said = [int(match[1]) for _, match in self._last_lines()]
        return max([0, *said, *(block.number for block in self.blocks)])

    @property
    def text(self) -> str:
        """The whole file."""
        lines = [*self.head, *(line for block in self.blocks for line in block.lines)]
        return self.newline.join(lines)

    def entry(self, entry_id: str) -> JournalEntry | None:
        """The entry of that id; None if there is none, or it cannot be read."""
        return next((entry for entry in self.entries if entry.id == entry_id), None)

    def with_entry(self, entry: JournalEntry) -> DayFile:
        """The file with one more entry at its end."""
        last = self._counted(entry_number(entry.id))._ending_blank()
        new = Block(0, written(entry), entry, entry_number(entry.id))
        return replace(last, blocks=(*last.blocks, new))

    def replaced(self, entry: JournalEntry) -> DayFile:
        """The file with this entry in the place of the one of its id."""
        blocks = tuple(
            rewritten(each, each.entry, entry) if each.entry and each.entry.id == entry.id else each
            for each in self.blocks
        )
        return replace(self, blocks=blocks)

    def without(self, ids: Collection[str]) -> DayFile:
        """The file without these entries; their numbers are not given again."""
        counted = self._counted(self.last)
        blocks = tuple(b for b in self.blocks if not (b.entry and b.entry.id in ids))
        # The last line of a file is the end of the one before it.
        return replace(counted, blocks=blocks)._ending()

    def _last_lines(self) -> Iterator[tuple[int, re.Match[str]]]:
        """Where the front matter names the last number."""
        if not self.head or self.head[0].rstrip() != "---":
            return
        for index, line in enumerate(self.head[1:], start=1):
            if line.rstrip() == "---":
                return
            if match := _LAST.match(line):
                yield index, match

    def _counted(self, number: int) -> DayFile:
        """The file with ``number`` as the last one, if it has a line for it."""
        head = list(self.head)
        for index, _ in self._last_lines():
            head[index] = f"last: {max(number, self.last)}"
        return replace(self, head=tuple(head))

    def _ending(self) -> DayFile:
        """The file with a line end after its last line."""
        lines = self.blocks[-1].lines if self.blocks else self.head
        return self if lines and not lines[-1] else self._longer("")

    def _ending_blank(self) -> DayFile:
        """The file ready for one more part: its last line but the end is blank."""
        lines = list(self.blocks[-1].lines if self.blocks else self.head)
        while lines and not lines[-1].strip():
            lines.pop()
        return self._ending_with((*lines, "")) if lines else self._ending_with(())

    def _longer(self, line: str) -> DayFile:
        return self._ending_with((*(self.blocks[-1].lines if self.blocks else self.head), line))

    def _ending_with(self, lines: tuple[str, ...]) -> DayFile:
        if not self.blocks:
            return replace(self, head=lines)
        return replace(self, blocks=(*self.blocks[:-1], replace(self.blocks[-1], lines=lines)))


def new_day(day: date) -> DayFile:
    """The file of a day before its first entry."""
    title = f"{day.day} {fields.MONTHS[day.month - 1]} {day.year}"
    return parse(day, _NEW_FILE.format(day=day, title=title, short=f"{day:%Y%m%d}"))


def parse(day: date, source: str) -> DayFile:
    """The file that ``source`` is; never fails: what cannot be read is among the problems."""
    newline = "\r\n" if "\r\n" in source else "\n"
    # Not splitlines(), for which a text may hold line ends of its own.
    lines = [line.removesuffix("\r") for line in source.split("\n")]
    parts = _parts(lines)
    taken: set[int] = set()
    blocks = []
    for start, end in pairwise([*parts, len(lines)]):
        block = read_block(day, start + 1, tuple(lines[start:end]), taken)
        taken.add(block.number)
        blocks.append(block)
    return DayFile(day, tuple(lines[: parts[0] if parts else None]), tuple(blocks), newline)


def _parts(lines: Iterable[str]) -> list[int]:
    """Where parts begin; a heading inside a fence is none."""
    found, fenced = [], False
    for index, line in enumerate(lines):
        if line.lstrip()[:3] in FENCES:
            fenced = not fenced
        elif line[:1] == "#" and _PART.match(line) and (not fenced or HEADING.match(line)):
            # A fence that nobody closed ends with the next entry.
            fenced = False
            found.append(index)
    return found
