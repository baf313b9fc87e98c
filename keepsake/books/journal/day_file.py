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

People write into such files too. What is no entry stays as it is, and so do their other lines in
an entry that is written anew; an entry that cannot be read is named and left alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from functools import cached_property
from itertools import pairwise

from keepsake.books.journal.entries import (
    LEAST,
    MOST,
    MOST_NUMBERS,
    EntryOrigin,
    Importance,
    JournalEntry,
    Judge,
    clean,
    normal,
)
from keepsake.language.words import MONTHS

LONGEST_FILE = 1_000_000
"""Characters of one day; nothing is added to a longer file."""
BY_HAND = Importance(5, Judge.AGENT)
"""What an entry counts that a person wrote without saying how much."""

_HEADING = re.compile(
    r"##[ \t]+(?P<id>(?P<day>\d{8})-(?P<number>[1-9]\d{0,5}))(?=[,\s]|$)"
    r"(?:,?[ \t]*(?P<clock>\d{1,2}:\d\d))?",
    re.ASCII,
)
_PART = re.compile(r"##?[ \t]")
_FIELD = re.compile(
    r"[-*+][ \t]+\*\*(?P<key>importance|source|memories|tags|who|written)\*\*"
    r"[ \t]*:[ \t]*(?P<value>.*?)[ \t]*$",
    re.I,
)
_NO_TEXT = re.compile(r"\s*$|[ \t]*(?:[-*+#>|]|```|~~~|<!--)")
_LAST = re.compile(r"last:[ \t]*(\d{1,6})[ \t]*$", re.ASCII)
_SCORE = re.compile(
    r"(?P<score>\d{1,6})(?:[ \t]*/[ \t]*10)?(?:,?[ \t]*(?:by[ \t]+)?(?P<judge>rules|model|agent))?"
    r"[ \t]*(?:\((?P<reasons>[^()]*)\))?$",
    re.I | re.ASCII,
)
_RANGE = re.compile(r"(\d{1,12})(?:[ \t]*[-–][ \t]*(\d{1,12}))?", re.ASCII)
_YEARS = range(1971, 3000)
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
class Part:
    """A part of a file, from its heading on."""

    lines: tuple[str, ...]
    entry: JournalEntry | None = None
    number: int = 0  # the number in its heading; 0 if it is none of this day's entries
    problem: str = ""


@dataclass(frozen=True)
class DayFile:
    """The file of one day; changing it makes another one."""

    day: date
    head: tuple[str, ...]  # the lines above the first heading
    parts: tuple[Part, ...]
    newline: str = "\n"

    @cached_property
    def entries(self) -> tuple[JournalEntry, ...]:
        """What can be read, in the order of the file."""
        return tuple(part.entry for part in self.parts if part.entry is not None)

    @property
    def problems(self) -> Iterator[str]:
        """What cannot, and why: ``line 17: …``."""
        line = len(self.head) + 1
        for part in self.parts:
            if part.problem:
                yield f"line {line}: {part.problem}"
            line += len(part.lines)

    @property
    def last(self) -> int:
        """The highest number that an entry of this day has, or is known to have had."""
        said = [int(match[1]) for line in self.head if (match := _LAST.match(line))]
        return max([0, *said, *(part.number for part in self.parts)])

    @property
    def text(self) -> str:
        """The whole file."""
        parts = (line for part in self.parts for line in part.lines)
        return self.newline.join((*self.head, *parts))

    def entry(self, entry_id: str) -> JournalEntry | None:
        """The entry of that id; None if there is none, or it cannot be read."""
        return next((entry for entry in self.entries if entry.id == entry_id), None)

    def with_entry(self, entry: JournalEntry) -> DayFile:
        """The file with one more entry at its end."""
        number = entry_number(entry.id)
        file = self._counted(number)._closed()
        return replace(file, parts=(*file.parts, Part(_written(entry), entry, number)))

    def replaced(self, entry: JournalEntry) -> DayFile:
        """The file with this entry in the place of the one of its id."""
        parts = [
            replace(part, lines=_written(entry, part.lines), entry=entry)
            if part.entry is not None and part.entry.id == entry.id
            else part
            for part in self.parts
        ]
        return replace(self, parts=tuple(parts))

    def without(self, ids: Collection[str]) -> DayFile:
        """The file without these entries; their numbers are not given again."""
        kept = tuple(part for part in self.parts if part.entry is None or part.entry.id not in ids)
        return replace(self._counted(self.last), parts=kept)._closed()

    def _counted(self, number: int) -> DayFile:
        """The file with ``number`` as the last one, if there is a line for it."""
        last = f"last: {max(number, self.last)}"
        head = tuple(last if _LAST.match(line) else line for line in self.head)
        return replace(self, head=head)

    def _closed(self) -> DayFile:
        """The file with one blank line at its end, under which the next part may begin."""
        if not self.parts:
            return replace(self, head=_closed(self.head))
        *others, last = self.parts
        return replace(self, parts=(*others, replace(last, lines=_closed(last.lines))))


def _closed(lines: tuple[str, ...]) -> tuple[str, ...]:
    end = max((place for place, line in enumerate(lines, start=1) if line.strip()), default=0)
    return (*lines[:end], "") if end else ()


def new_day(day: date) -> DayFile:
    """The file of a day before its first entry."""
    title = f"{day.day} {MONTHS[day.month - 1]} {day.year}"
    return parse(day, _NEW_FILE.format(day=day, title=title, short=f"{day:%Y%m%d}"))


def parse(day: date, source: str) -> DayFile:
    """The file that ``source`` is; never fails: what cannot be read is among the problems."""
    newline = "\r\n" if "\r\n" in source else "\n"
    # Not splitlines(), for which a text may hold line ends of its own.
    lines = tuple(line.removesuffix("\r") for line in source.split("\n"))
    starts = [place for place, line in enumerate(lines) if _PART.match(line)]
    parts, taken = list[Part](), set[int]()
    for start, end in pairwise([*starts, len(lines)]):
        parts.append(_part(day, lines[start:end], taken))
        taken.add(parts[-1].number)
    return DayFile(day, lines[: starts[0]] if starts else lines, tuple(parts), newline)


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


def _part(day: date, lines: tuple[str, ...], taken: Collection[int]) -> Part:
    """A part of a file, and the entry that it holds."""
    heading = _HEADING.match(lines[0])
    if heading is None:
        return Part(lines)
    if heading["day"] != f"{day:%Y%m%d}":
        return Part(lines, problem=f"{heading['id']} is no entry of this day")
    number = int(heading["number"])
    if number in taken:
        return Part(lines, problem=f"there is an entry {heading['id']} already")
    fields: dict[str, str] = {}
    for match in filter(None, map(_FIELD.match, lines)):
        fields.setdefault(match["key"].casefold(), match["value"])  # of two the first counts
    text = " ".join(line for line in lines[1:] if not _NO_TEXT.match(line))
    try:
        return Part(lines, _entry(heading, day, text, fields), number)
    except ValueError as problem:
        return Part(lines, None, number, f"{heading['id']}: {problem}")


def _entry(heading: re.Match[str], day: date, text: str, fields: Mapping[str, str]) -> JournalEntry:
    """An entry from a file; what a person left out has a default.

    Raises:
        ValueError: The text is missing, or a field is wrong; says which.
    """
    if not (line := clean(text)):
        raise ValueError("it has no text")
    return normal(
        JournalEntry(
            heading["id"],
            _time(fields.get("written", ""), day, heading["clock"] or ""),
            line,
            _importance(fields.get("importance", "")),
            _origin(fields.get("source", "")),
            tuple(_numbers(fields.get("memories", ""))),
            tuple(fields.get("tags", "").split(",")),
            tuple(fields.get("who", "").split(",")),
        )
    )


def _importance(value: str) -> Importance:
    if not value:
        return BY_HAND
    match = _SCORE.match(value)
    score = int(match["score"]) if match else 0
    if match is None or not LEAST <= score <= MOST:
        raise ValueError(f"importance {value[:40]!r} is no number from {LEAST} to {MOST}")
    # A person who writes a number there has thought about it.
    judge = Judge(match["judge"].casefold()) if match["judge"] else Judge.AGENT
    return Importance(score, judge, tuple((match["reasons"] or "").split(",")))


def _origin(value: str) -> EntryOrigin:
    name = value.partition("(")[0].strip().casefold()
    try:
        return EntryOrigin(name) if name else EntryOrigin.INFERRED
    except ValueError:
        known = ", ".join(origin.value for origin in EntryOrigin)
        raise ValueError(f"source {name[:40]!r} is none of {known}") from None


def _time(value: str, day: date, clock: str) -> datetime:
    """When it was written; of a person's own entry what its heading says."""
    try:
        moment = datetime.fromisoformat(value)
        if moment.year in _YEARS:
            return moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError):
        pass  # a person's own way of writing it, or nothing
    try:
        return datetime.combine(day, time.fromisoformat(f"{clock:0>5}")).astimezone()
    except ValueError:
        return datetime.combine(day, time()).astimezone()


def _numbers(value: str) -> Iterator[int]:
    """``17, 120-125``: what earlier versions and people write."""
    for match in _RANGE.finditer(value):
        first, last = int(match[1]), int(match[2] or match[1])
        # From the end, so that of too many the newest stay.
        yield from range(last, max(first, last - MOST_NUMBERS + 1) - 1, -1)


# -- writing


def _written(entry: JournalEntry, before: tuple[str, ...] = ()) -> tuple[str, ...]:
    """An entry as the lines of its part, with what a person added to those of before."""
    weight, why = entry.importance, ", ".join(entry.importance.reasons)
    fields = {
        "importance": f"{weight.score}, by {weight.judge.value}{f' ({why})' if why else ''}",
        "source": f"{entry.origin.value} (trust {entry.trust})",
        "memories": ", ".join(map(str, entry.memories)),
        "tags": ", ".join(entry.tags),
        "who": ", ".join(entry.who),
        "written": entry.time.isoformat(timespec="seconds"),
    }
    known = (f"- **{key}**: {value}" for key, value in fields.items() if value)
    added = [line for line in before[1:] if _NO_TEXT.match(line) and not _FIELD.match(line)]
    own = "\n".join(added).strip().split("\n") if any(map(str.strip, added)) else []
    head = f"## {entry.id}, {entry.time.astimezone():%H:%M}"
    return (head, "", entry.text, "", *known, "", *own, *([""] if own else []))
