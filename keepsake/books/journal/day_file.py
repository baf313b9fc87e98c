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
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache
from itertools import pairwise

from keepsake.books.journal import fields
from keepsake.books.journal.entries import JournalEntry
from keepsake.language.words import MONTHS

LONGEST_FILE = 1_000_000
"""Characters of one day; nothing is added to a longer file."""

_FENCES = ("```", "~~~")
"""How lines begin between which nothing is read."""
_HEADING = re.compile(
    r"##[ \t]+(?P<id>(?P<day>\d{8})-(?P<number>[1-9]\d{0,5}))(?=[,\s]|$)"
    r"(?:,?[ \t]*(?P<clock>\d{1,2}:\d\d))?",
    re.ASCII,
)
_PART = re.compile(r"##?[ \t]")
_FIELD = re.compile(r"[-*+][ \t]+\*\*(?P<key>\w+)\*\*[ \t]*:[ \t]*(?P<value>.*?)[ \t]*$")
_NO_TEXT = re.compile(r"\s*$|[ \t]*(?:[-*+#>|]|```|~~~|<!--)")
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
class Block:
    """A part of a file, from its heading on."""

    start: int  # index of its first line
    lines: tuple[str, ...]
    entry: JournalEntry | None = None
    number: int = 0  # the number in its heading; 0 if it is none of this day's entries
    problem: str = ""


@dataclass(frozen=True)
class DayFile:
    """The file of one day, as its lines; changing it makes another one."""

    day: date
    lines: tuple[str, ...]
    newline: str = "\n"

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Its parts; what stands above the first is the head."""
        blocks: list[Block] = []
        taken: set[int] = set()
        for start, end in pairwise([*_parts(self.lines), len(self.lines)]):
            blocks.append(_block(self.day, start, self.lines[start:end], taken))
            taken.add(blocks[-1].number)
        return tuple(blocks)

    @cached_property
    def entries(self) -> tuple[JournalEntry, ...]:
        """What can be read, in the order of the file."""
        return tuple(block.entry for block in self.blocks if block.entry is not None)

    @property
    def problems(self) -> tuple[str, ...]:
        """What cannot, and why: ``line 17: …``."""
        return tuple(f"line {b.start + 1}: {b.problem}" for b in self.blocks if b.problem)

    @property
    def last(self) -> int:
        """The highest number that an entry of this day has, or is known to have had."""
        said = [int(match[1]) for _, match in self._last_lines()]
        return max([0, *said, *(block.number for block in self.blocks)])

    @property
    def text(self) -> str:
        """The whole file."""
        return self.newline.join(self.lines)

    def entry(self, entry_id: str) -> JournalEntry | None:
        """The entry of that id; None if there is none, or it cannot be read."""
        return next((entry for entry in self.entries if entry.id == entry_id), None)

    def with_entry(self, entry: JournalEntry) -> DayFile:
        """The file with one more entry at its end."""
        lines = self._counted(entry_number(entry.id))
        while lines and not lines[-1].strip():
            lines.pop()
        return replace(self, lines=(*lines, *([""] if lines else ()), *_written(entry)))

    def replaced(self, entry: JournalEntry) -> DayFile:
        """The file with this entry in the place of the one of its id."""
        lines = list(self.lines)
        for block in reversed(self.blocks):
            if block.entry is not None and block.entry.id == entry.id:
                end = block.start + len(block.lines)
                lines[block.start : end] = _rewritten(block.lines, block.entry, entry)
        return replace(self, lines=tuple(lines))

    def without(self, ids: Collection[str]) -> DayFile:
        """The file without these entries; their numbers are not given again."""
        lines = self._counted(self.last)
        for block in reversed(self.blocks):
            if block.entry is not None and block.entry.id in ids:
                del lines[block.start : block.start + len(block.lines)]
        # The last line of a file is the end of the one before it.
        return replace(self, lines=(*lines, *([""] if not lines or lines[-1] else ())))

    def _last_lines(self) -> Iterator[tuple[int, re.Match[str]]]:
        """Where the front matter names the last number."""
        head = self.lines[: self.blocks[0].start] if self.blocks else self.lines
        if not head or head[0].rstrip() != "---":
            return
        for index, line in enumerate(head[1:], start=1):
            if line.rstrip() == "---":
                return
            if match := _LAST.match(line):
                yield index, match

    def _counted(self, number: int) -> list[str]:
        """The lines with ``number`` as the last one, if there is a line for it."""
        lines = list(self.lines)
        for index, _ in self._last_lines():
            lines[index] = f"last: {max(number, self.last)}"
        return lines


def new_day(day: date) -> DayFile:
    """The file of a day before its first entry."""
    title = f"{day.day} {MONTHS[day.month - 1]} {day.year}"
    return parse(day, _NEW_FILE.format(day=day, title=title, short=f"{day:%Y%m%d}"))


def parse(day: date, source: str) -> DayFile:
    """The file that ``source`` is; never fails: what cannot be read is among the problems."""
    newline = "\r\n" if "\r\n" in source else "\n"
    # Not splitlines(), for which a text may hold line ends of its own.
    return DayFile(day, tuple(line.removesuffix("\r") for line in source.split("\n")), newline)


def entry_day(entry_id: str) -> date | None:
    """The day of an entry by its id; None for what is no id."""
    match = _HEADING.fullmatch(f"## {entry_id}")
    try:
        return date.fromisoformat(match["day"]) if match and not match["clock"] else None
    except ValueError:
        return None


def entry_number(entry_id: str) -> int:
    """The number of an entry on its day."""
    return int(entry_id.partition("-")[2])


# -- reading


def _parts(lines: Sequence[str]) -> list[int]:
    """Where parts begin; a heading inside a fence is none."""
    found, fenced = [], False
    for index, line in enumerate(lines):
        if line.lstrip()[:3] in _FENCES:
            fenced = not fenced
        elif line[:1] == "#" and _PART.match(line) and (not fenced or _HEADING.match(line)):
            # A fence that nobody closed ends with the next entry.
            fenced = False
            found.append(index)
    return found


def _block(day: date, start: int, lines: tuple[str, ...], taken: Collection[int]) -> Block:
    """A part of a file, and the entry that it holds."""
    heading = _HEADING.match(lines[0])
    if heading is None:
        return Block(start, lines)
    if heading["day"] != f"{day:%Y%m%d}":
        return Block(start, lines, problem=f"{heading['id']} is no entry of this day")
    number = int(heading["number"])
    if number in taken:
        return Block(start, lines, problem=f"there is an entry {heading['id']} already")
    try:
        entry = _entry(day, heading["id"], heading["clock"] or "", lines)
        return Block(start, lines, entry, number)
    except ValueError as problem:
        return Block(start, lines, None, number, f"{heading['id']}: {problem}")


@lru_cache(maxsize=4096)
def _entry(day: date, entry_id: str, clock: str, lines: tuple[str, ...]) -> JournalEntry:
    """The entry in the lines of a part; mostly only one of a file has changed.

    Raises:
        ValueError: It cannot be read; says why.
    """
    body = [lines[index] for index in _unfenced(lines)]
    listed = (match for each in reversed(body) if (match := _FIELD.match(each)))
    # Of two the first, as it is the one that is written anew.
    given = {match["key"].casefold(): match["value"] for match in listed}
    text = " ".join(each for each in body if not _NO_TEXT.match(each))
    return fields.read(entry_id, day, clock, text, given)


def _unfenced(lines: Sequence[str]) -> Iterator[int]:
    """Where the lines below the heading stand that are in no fence."""
    fenced = False
    for index, line in enumerate(lines):
        if line.lstrip()[:3] in _FENCES:
            fenced = not fenced
        elif index and not fenced:
            yield index


# -- writing


def _written(entry: JournalEntry) -> list[str]:
    """An entry as the lines of its part."""
    known = [_field(key, value) for key, value in fields.written(entry).items() if value]
    return [f"## {entry.id}, {fields.clock(entry.time)}", "", entry.text, "", *known, ""]


def _field(key: str, value: str) -> str:
    return f"- **{key}**: {value}"


def _rewritten(before: Sequence[str], old: JournalEntry, new: JournalEntry) -> list[str]:
    """The lines with what is new in ``new``; every other line stays as a person left it."""
    lines = list(before)
    was = fields.written(old)
    for key, value in fields.written(new).items():
        if value != was[key]:
            _set(lines, key, value)
    if new.text != old.text:
        body = [index for index in _unfenced(lines) if not _NO_TEXT.match(lines[index])]
        lines[body[0]] = new.text
        for index in reversed(body[1:]):
            del lines[index]
    return lines


def _set(lines: list[str], key: str, value: str) -> None:
    """Write one field: in its place, or after the last one."""
    found = ((index, _FIELD.match(lines[index])) for index in _unfenced(lines))
    there = [(index, match["key"].casefold()) for index, match in found if match]
    mine = [index for index, name in there if name == key]
    new = [_field(key, value)] if value else []
    if mine:
        for index in reversed(mine[1:]):  # of two the first counted
            del lines[index]
        lines[mine[0] : mine[0] + 1] = new
    elif there:
        lines[there[-1][0] + 1 : there[-1][0] + 1] = new
    elif value:
        # Not behind a fence that nobody closed, where it would be no field.
        end = max((index for index in _unfenced(lines) if lines[index].strip()), default=0) + 1
        lines[end:end] = ["", *new, ""]
