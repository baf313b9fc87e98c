"""The entries of a journal, as a markdown file a day has them, and as prompts show them.

::

    ## 20261121-3, 14:05

    Tom told me: "I will bring the blue cup back."

    - **importance**: 8, by rules
    - **source**: told to me
    - **memories**: 120, 121
    - **who**: 5-20261101120000
    - **written**: 2026-11-21T14:05:09+01:00

The game adds entries at the end and changes nothing above; people may write anything anywhere. An
entry that cannot be read is named. What stands in a code fence is no entry and no part of one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from enum import StrEnum
from itertools import pairwise

from keepsake.language.perception import MONTHS, for_prompt, one_line, short_day, writable
from keepsake.ports import Tokens

LEAST, MOST = 1, 10
"""The least and the most that anything can matter."""
LONGEST = 600
"""Characters of one entry."""
MOST_NUMBERS, MOST_PEOPLE = 200, 20
"""Memories and people of one entry; of the memories the newest stay."""
BY_HAND = 5
"""How much an entry matters that a person wrote without saying so."""
LEAST_SHOWN = 4
"""What matters less never stands in a prompt by itself."""
_TOO_LONG_IN_A_ROW = 4
_CITED = 3

_STANDINS = str.maketrans({"[": "(", "]": ")", "<": "‹", ">": "›", "`": "'"})
"""Signs with which a text could be a link, a picture, a comment, code, or the head of a line
of the prompt (``[21 Nov, importance 8]``)."""
_START = "-*#=|~_+‹› "
_UNSAFE = str.maketrans(dict.fromkeys(",()[]<>*`", " "))
"""What could end a field of an entry, or be markdown in it."""
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*", re.MULTILINE | re.DOTALL)
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


class EntryOrigin(StrEnum):
    """Where an entry comes from."""

    TOLD = "told to me"
    SEEN = "seen"
    INFERRED = "inferred"
    SURROUNDINGS = "surroundings"


class Judge(StrEnum):
    """Who said how much an entry matters."""

    RULES = "rules"
    MODEL = "model"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One entry of a journal."""

    id: str  # ``20261121-3``: the day and the entry's number on it; never given twice
    time: datetime
    text: str  # one line; what others said names who said it
    importance: int  # 1, nothing at all, to 10, the turn of a life
    judge: Judge
    origin: EntryOrigin
    memories: tuple[int, ...] = ()  # numbers of the memories that it rests on, ascending
    # keys of the people it is about, as in :attr:`keepsake.archive.records.Memory.source_id`
    who: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[int, int]:
        """Day and number, to compare by."""
        day, _, number = self.id.partition("-")
        return (int(day), int(number)) if day.isdecimal() and number.isdecimal() else (0, 0)

    @property
    def is_insight(self) -> bool:
        """Whether the agent concluded it from other entries, at night."""
        return self.origin is EntryOrigin.INFERRED and self.judge is Judge.MODEL


def normal(entry: JournalEntry) -> JournalEntry:
    """An entry with nothing in it that a file, or a line of a prompt, could take for more."""
    people = (one_line(each.translate(_UNSAFE))[:80].strip() for each in entry.who)
    return replace(
        entry,
        text=clean(entry.text),
        importance=min(max(entry.importance, LEAST), MOST),
        memories=tuple(sorted({n for n in entry.memories if 0 < n < 10**12}))[-MOST_NUMBERS:],
        who=tuple(sorted(dict.fromkeys(filter(None, people)))[:MOST_PEOPLE]),
    )


def clean(text: str) -> str:
    """``text`` as one line that is nothing else than text, in markdown and in a prompt.

    Twice is the same as once. What is longer than :data:`LONGEST` is cut at a word.
    """
    line = for_prompt(writable(text[: 20 * LONGEST]), limit=20 * LONGEST).translate(_STANDINS)
    # Without the first sign there may be a heading's second one, a cursor, a broken pair.
    for _ in range(8):
        before, line = line, for_prompt(line, limit=LONGEST).lstrip(_START).replace("**", "")
        if line == before:
            return line
    return line


def local_day(moment: datetime) -> date:
    """The day of a moment by the machine's own clock."""
    return moment.astimezone().date()


# -- a day's file


@dataclass(frozen=True, slots=True)
class DayFile:
    """What the file of one day holds."""

    entries: tuple[JournalEntry, ...] = ()  # in the order of the file
    problems: tuple[str, ...] = ()  # what cannot be read, and why: ``line 17: …``
    last: int = 0  # the highest number of an entry, also of one that cannot be read


def parse(day: date, source: str) -> DayFile:
    """What ``source`` holds; never fails: what cannot be read is among the problems."""
    unfenced = _FENCED.sub(lambda found: "\n" * found[0].count("\n"), source)
    # Not splitlines(), for which a text may hold line ends of its own.
    lines = [line.removesuffix("\r") for line in unfenced.split("\n")]
    starts = [place for place, line in enumerate(lines) if line.startswith(_PARTS)]
    entries, problems, numbers = list[JournalEntry](), list[str](), {0}
    for start, end in pairwise([*starts, len(lines)]):
        if (heading := _HEADING.match(lines[start])) is None:
            continue
        number = int(heading["number"])
        try:
            if heading["day"] != f"{day:%Y%m%d}":
                raise ValueError("it is no entry of this day")
            if number in numbers:
                raise ValueError("there is such an entry already")
            numbers.add(number)
            entries.append(_entry(heading, day, lines[start + 1 : end]))
        except ValueError as problem:
            problems.append(f"line {start + 1}: {heading['id']}: {problem}")
    return DayFile(tuple(entries), tuple(problems), max(numbers))


def appended(source: str | None, entry: JournalEntry) -> str:
    """The file with one more entry at its end; ``source`` is None for a new file."""
    day = date.fromisoformat(entry.id[:8])
    if source is None:
        source = _NEW_FILE.format(day=day, title=f"{day.day} {MONTHS[day.month - 1]} {day.year}")
    newline = "\r\n" if "\r\n" in source else "\n"
    above = f"{source.rstrip()}{2 * newline}" if source.strip() else ""
    fields: Mapping[str, str] = {
        "importance": f"{entry.importance}, by {entry.judge.value}",
        "source": entry.origin.value,
        "memories": ", ".join(map(str, entry.memories)),
        "who": ", ".join(entry.who),
        "written": entry.time.isoformat(timespec="seconds"),
    }
    known = (f"- **{key}**: {value}" for key, value in fields.items() if value)
    lines = (f"## {entry.id}, {entry.time.astimezone():%H:%M}", "", entry.text, "", *known)
    return f"{above}{newline.join(lines)}{newline}"


def _entry(heading: re.Match[str], day: date, lines: Sequence[str]) -> JournalEntry:
    """An entry from the lines under its heading; what a person left out has a default."""
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
            *_importance(fields.get("importance", "")),
            _origin(fields.get("source", "")),
            tuple(_numbers(fields.get("memories", ""))),
            tuple(fields.get("who", "").split(",")),
        )
    )


def _importance(value: str) -> tuple[int, Judge]:
    if not value:
        return BY_HAND, Judge.AGENT
    head = value.partition("(")[0]  # earlier versions say why in brackets
    score = re.match(r"\s*(\d{1,6})(?:/10)?[\s,.;]*", head, re.ASCII)
    if score is None or not LEAST <= int(score[1]) <= MOST:
        raise ValueError(f"importance {value[:40]!r} is no number from {LEAST} to {MOST}")
    # A person who writes a number there has thought about it.
    return int(score[1]), next((each for each in Judge if each.value in head), Judge.AGENT)


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


# -- in a prompt


def telling_of(entries: Iterable[JournalEntry]) -> dict[int, JournalEntry]:
    """The entry that tells of each memory, by its number.

    Of several it is the one that a model or the agent has weighed, and then the weightiest. What
    the agent only concluded from a memory does not tell of it.
    """
    told = [each for each in entries if each.origin is not EntryOrigin.INFERRED]
    told.sort(key=lambda each: (each.judge is not Judge.RULES, each.importance))
    return {number: each for each in told for number in each.memories}


def standing(  # noqa: PLR0917 - each is another thing, and none can be left out
    entries: Iterable[JournalEntry],
    budget: int,
    now: datetime,
    tokens: Tokens,
    may: Callable[[JournalEntry], bool] = lambda _: True,
    about: str = "",
) -> tuple[str, ...]:
    """The lines of the journal for a prompt, oldest first; quick, for each thought.

    Those about one person count most, then the important ones, then the newest. An entry gives
    way to another that may be shown and tells of all its memories (:func:`telling_of`).

    Args:
        entries: The journal, oldest first.
        budget: How many tokens the lines may take.
        now: The time.
        tokens: Counts them.
        may: Whether an entry may be shown now.
        about: The key of that person; empty for nobody.

    Returns:
        Lines such as ``[21 Nov, importance 8] Tom told me: "…" (memory 120)``.
    """
    shown = [each for each in entries if may(each)]
    telling = {each.id for each in telling_of(shown).values()}
    found = [
        each
        for each in reversed(shown)
        if each.importance >= LEAST_SHOWN
        and (each.origin is EntryOrigin.INFERRED or not each.memories or each.id in telling)
    ]
    found.sort(key=lambda each: (about not in each.who if about else True, -each.importance))
    left, missed, chosen = budget, 0, list[tuple[tuple[int, int], str]]()
    for entry in found:
        text = line(entry, now)
        if (cost := tokens.of(text)) <= left:
            left, missed = left - cost, 0
            chosen.append((entry.order, text))
        elif (missed := missed + 1) == _TOO_LONG_IN_A_ROW:
            break
    return tuple(text for _, text in sorted(chosen))


def line(entry: JournalEntry, now: datetime) -> str:
    """An entry as a prompt shows it."""
    day = date.fromisoformat(entry.id[:8])
    when = f"{short_day(day)}{'' if day.year == local_day(now).year else f' {day.year}'}"
    thought = ", my own thought" if entry.origin is EntryOrigin.INFERRED else ""
    newest = ", ".join(map(str, entry.memories[-_CITED:]))
    cited = f" (memor{'y' if len(entry.memories) == 1 else 'ies'} {newest})" if newest else ""
    return f"[{when}, importance {entry.importance}{thought}] {for_prompt(entry.text)}{cited}"
