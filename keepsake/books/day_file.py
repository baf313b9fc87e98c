"""A day of a journal as markdown: a heading for each entry, its text, what is known of it.

::

    ## 20261121-3, 14:05

    Tom told me: "I will bring the blue cup back."

    - **importance**: 8, by rules (a promise, said to me)
    - **source**: told to me
    - **memories**: 120, 121
    - **who**: 5-20261101120000
    - **written**: 2026-11-21T14:05:09+01:00

The game adds entries at the end and changes nothing above; people may write anything anywhere. An
entry that cannot be read is named. What stands in a code fence is no entry and no part of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import pairwise

from keepsake.books.entries import (
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

BY_HAND = Importance(5, Judge.AGENT)
"""What an entry counts that a person wrote without saying how much."""

_HEADING = re.compile(
    r"##[ \t]+(?P<id>(?P<day>\d{8})-(?P<number>[1-9]\d{0,5}))(?=[,\s]|$)"
    r"(?:,?[ \t]*(?P<clock>\d{1,2}:\d\d))?",
    re.ASCII,
)
_PARTS = ("# ", "## ", "#\t", "##\t")
_FIELD = re.compile(r"[-*+][ \t]+\*\*(?P<key>\w+)\*\*[ \t]*:[ \t]*(?P<value>.*?)[ \t]*$")
_NO_TEXT = ("-", "*", "+", "#", ">", "|", "```", "~~~", "<!--")
_RANGE = re.compile(r"(\d{1,12})(?:[ \t]*[-–][ \t]*(\d{1,12}))?", re.ASCII)
_YEARS = range(1971, 3000)
_NEW_FILE = """\
---
day: {day}
---

# {title}

What was written down of this day. Entries may be changed and taken out, and new ones added: a
heading with a number that is still free, such as `## {day:%Y%m%d}-900`, and the text below it.
"""


@dataclass(frozen=True, slots=True)
class DayFile:
    """What the file of one day holds."""

    entries: tuple[JournalEntry, ...] = ()  # in the order of the file
    problems: tuple[str, ...] = ()  # what cannot be read, and why: ``line 17: …``
    ids: frozenset[str] = frozenset()  # of all entries, also of those that cannot be read

    @property
    def last(self) -> int:
        """The highest number of an entry; 0 for none."""
        return max((int(each.partition("-")[2]) for each in self.ids), default=0)


def parse(day: date, source: str) -> DayFile:
    """What ``source`` holds; never fails: what cannot be read is among the problems."""
    # Not splitlines(), for which a text may hold line ends of its own.
    lines = _unfenced([line.removesuffix("\r") for line in source.split("\n")])
    starts = [place for place, line in enumerate(lines) if line.startswith(_PARTS)]
    entries, problems, ids = list[JournalEntry](), list[str](), set[str]()
    for start, end in pairwise([*starts, len(lines)]):
        if (heading := _HEADING.match(lines[start])) is None:
            continue
        try:
            if heading["day"] != f"{day:%Y%m%d}":
                raise ValueError("it is no entry of this day")
            if heading["id"] in ids:
                raise ValueError("there is such an entry already")
            ids.add(heading["id"])
            entries.append(_entry(heading, day, lines[start + 1 : end]))
        except ValueError as problem:
            problems.append(f"line {start + 1}: {heading['id']}: {problem}")
    return DayFile(tuple(entries), tuple(problems), frozenset(ids))


def _unfenced(lines: Sequence[str]) -> list[str]:
    """The lines, blank where a code fence is; one that nobody closes is none."""
    found, opened = list(lines), -1
    for place, line in enumerate(lines):
        mark = line.strip()[:3]
        if mark not in ("```", "~~~"):
            continue
        if opened < 0:
            opened = place
        elif lines[opened].strip()[:3] == mark:
            found[opened : place + 1] = [""] * (place + 1 - opened)
            opened = -1
    return found


def appended(source: str | None, entry: JournalEntry) -> str:
    """The file with one more entry at its end; ``source`` is None for a new file."""
    if source is None:
        title = f"{entry.day.day} {MONTHS[entry.day.month - 1]} {entry.day.year}"
        source = _NEW_FILE.format(day=entry.day, title=title)
    newline = "\r\n" if "\r\n" in source else "\n"
    above = f"{source.rstrip()}{2 * newline}" if source.strip() else ""
    return f"{above}{newline.join(_written(entry))}{newline}"


# -- reading


def _entry(heading: re.Match[str], day: date, lines: Sequence[str]) -> JournalEntry:
    """An entry from the lines under its heading; what a person left out has a default.

    Raises:
        ValueError: The text is missing, or a field is wrong; says which.
    """
    fields: dict[str, str] = {}
    for match in filter(None, map(_FIELD.match, lines)):
        fields.setdefault(match["key"].casefold(), match["value"])  # of two the first counts
    text = clean(" ".join(line for line in lines if not line.lstrip().startswith(_NO_TEXT)))
    if not text:
        raise ValueError("it has no text")
    return normal(
        JournalEntry(
            heading["id"],
            _time(fields.get("written", ""), day, heading["clock"] or ""),
            text,
            _importance(fields.get("importance", "")),
            _origin(fields.get("source", "")),
            tuple(_numbers(fields.get("memories", ""))),
            tuple(fields.get("who", "").split(",")),
        )
    )


def _importance(value: str) -> Importance:
    if not value:
        return BY_HAND
    head, _, reasons = value.partition("(")
    written = head.split()[:1] or [""]
    score = written[0].partition("/")[0].rstrip(",.;")
    if not (score.isdecimal() and score.isascii()) or not LEAST <= int(score[:6]) <= MOST:
        raise ValueError(f"importance {value[:40]!r} is no number from {LEAST} to {MOST}")
    # A person who writes a number there has thought about it.
    judge = next((each for each in Judge if each.value in head), Judge.AGENT)
    return Importance(int(score), judge, tuple(reasons.split(",")))


def _origin(value: str) -> EntryOrigin:
    name = value.partition("(")[0].strip().casefold()  # earlier versions add (trust 0.9)
    try:
        return EntryOrigin(name) if name else EntryOrigin.INFERRED
    except ValueError:
        known = ", ".join(origin.value for origin in EntryOrigin)
        raise ValueError(f"source {name[:40]!r} is none of {known}") from None


def _time(written: str, day: date, clock: str) -> datetime:
    """When it was written; of a person's own entry what its heading says."""
    for given in (written, f"{day}T{clock:0>5}"):
        try:
            moment = datetime.fromisoformat(given)
            if moment.year in _YEARS:
                return moment if moment.tzinfo else moment.astimezone()
        except (ValueError, OverflowError):
            continue  # a person's own way of writing it, or nothing
    return datetime.combine(day, time()).astimezone()


def _numbers(value: str) -> Iterator[int]:
    """``17, 120-125``: what earlier versions and people write."""
    for match in _RANGE.finditer(value):
        first, last = int(match[1]), int(match[2] or match[1])
        # From the end, so that of too many the newest stay.
        yield from range(last, max(first, last - MOST_NUMBERS + 1) - 1, -1)


# -- writing


def _written(entry: JournalEntry) -> Sequence[str]:
    weight, why = entry.importance, ", ".join(entry.importance.reasons)
    fields: Mapping[str, str] = {
        "importance": f"{weight.score}, by {weight.judge.value}{f' ({why})' if why else ''}",
        "source": entry.origin.value,
        "memories": ", ".join(map(str, entry.memories)),
        "who": ", ".join(entry.who),
        "written": entry.time.isoformat(timespec="seconds"),
    }
    known = (f"- **{key}**: {value}" for key, value in fields.items() if value)
    return (f"## {entry.id}, {entry.time.astimezone():%H:%M}", "", entry.text, "", *known)
