"""One entry in a day's file: its lines, read, written, and written anew in part."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from game.mind.books.journal import fields
from game.mind.books.journal.entries import JournalEntry

FENCES = ("```", "~~~")
"""How lines begin between which nothing is read."""
HEADING = re.compile(
    r"##[ \t]+(?P<id>(?P<day>\d{8})-(?P<number>[1-9]\d{0,5}))(?=[,\s]|$)"
    r"(?:,?[ \t]*(?P<clock>\d{1,2}:\d\d))?",
    re.ASCII,
)
_FIELD = re.compile(r"[-*+][ \t]+\*\*(?P<key>\w+)\*\*[ \t]*:[ \t]*(?P<value>.*?)[ \t]*$")
_NO_TEXT = re.compile(r"\s*$|[ \t]*(?:[-*+#>|]|```|~~~|<!--)")


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a file, from its heading on.

    Attributes:
        line: Where it begins, from 1.
        lines: As they are written, without their ends.
        entry: What it holds; None for what is no entry, or cannot be read.
        number: The number in its heading; 0 if it is none of this day's entries.
        problem: Why the entry cannot be read; empty if it can, or there is none.
    """

    line: int
    lines: tuple[str, ...]
    entry: JournalEntry | None = None
    number: int = 0
    problem: str = ""


def entry_day(entry_id: str) -> date | None:
    """The day of an entry by its id; None for what is no id."""
    match = HEADING.fullmatch(f"## {entry_id}")
    try:
        return _day(match["day"]) if match and not match["clock"] else None
    except ValueError:
        return None


def entry_number(entry_id: str) -> int:
    """The number of an entry on its day."""
    return int(entry_id.partition("-")[2])


def _day(digits: str) -> date:
    return date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))


def read_block(day: date, line: int, lines: tuple[str, ...], taken: Collection[int]) -> Block:
    """A part of a file, and the entry that it holds."""
    heading = HEADING.match(lines[0])
    if heading is None:
        return Block(line, lines)
    if heading["day"] != f"{day:%Y%m%d}":
        return Block(line, lines, problem=f"{heading['id']} is no entry of this day")
    number = int(heading["number"])
    if number in taken:
        return Block(line, lines, problem=f"there is an entry {heading['id']} already")
    try:
        return Block(line, lines, _entry(day, lines), number)
    except ValueError as problem:
        return Block(line, lines, None, number, f"{heading['id']}: {problem}")


@lru_cache(maxsize=4096)
def _entry(day: date, lines: tuple[str, ...]) -> JournalEntry:
    """The entry in the lines of a part; mostly only one of a file has changed.

    Raises:
        ValueError: It cannot be read; says why.
    """
    heading = HEADING.match(lines[0])
    assert heading is not None  # whoever asks has looked
    body = [lines[index] for index in _unfenced(lines)]
    listed = (match for each in reversed(body) if (match := _FIELD.match(each)))
    # Of two the first, as it is the one that is written anew.
    given = {match["key"].casefold(): match["value"] for match in listed}
    text = " ".join(each for each in body if not _NO_TEXT.match(each))
    return fields.read(heading["id"], day, heading["clock"] or "", text, given)


def _unfenced(lines: Sequence[str]) -> Iterator[int]:
    """Where the lines below the heading stand that are in no fence."""
    fenced = False
    for index, line in enumerate(lines):
        if line.lstrip()[:3] in FENCES:
            fenced = not fenced
        elif index and not fenced:
            yield index


def written(entry: JournalEntry) -> tuple[str, ...]:
    """An entry as the lines of its part."""
    known = fields.written(entry).items()
    listed = (_field(key, value) for key, value in known if value)
    return (f"## {entry.id}, {fields.clock(entry.time)}", "", entry.text, "", *listed, "")


def _field(key: str, value: str) -> str:
    return f"- **{key}**: {value}"


def rewritten(block: Block, old: JournalEntry, new: JournalEntry) -> Block:
    """The block with what is new in ``new``; every other line stays as a person left it."""
    lines = list(block.lines)
    before, now = fields.written(old), fields.written(new)
    for key in (key for key in now if now[key] != before[key]):
        _set(lines, key, now[key])
    if new.text != old.text:
        body = [index for index in _unfenced(lines) if not _NO_TEXT.match(lines[index])]
        lines[body[0]] = new.text
        for index in reversed(body[1:]):
            del lines[index]
    return replace(block, lines=tuple(lines), entry=new)


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
