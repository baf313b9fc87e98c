"""Journal entries: their form in the markdown file of a day, and in prompts.

::

    ## 20261121-3, 14:05

    Tom told me: "I will bring the blue cup back."

    - **importance**: 8, by rules
    - **source**: told to me
    - **memories**: 120, 121
    - **who**: 5-20261101120000
    - **written**: 2026-11-21T14:05:09+01:00

The game appends entries and changes nothing above them. People may write anything anywhere. An
entry that cannot be read is reported. Text in a code fence never belongs to an entry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from enum import StrEnum
from itertools import pairwise

from keepsake.language.perception import (
    MONTHS,
    for_prompt,
    one_line,
    short_day,
    telling,
    writable,
)
from keepsake.ports import Tokens

MEMORIES_FIELD = "- **memories**: "
"""Begins the line with the numbers of the memories on which an entry rests."""
LEAST = 1
"""The lowest importance."""
MOST = 10
"""The highest importance."""
LONGEST = 600  # characters of one entry
MOST_NUMBERS = 200
"""The most memories of one entry. The newest are kept."""
MOST_PEOPLE = 20
"""The most people of one entry."""
BY_HAND = 5  # importance of an entry that a person wrote without one
LEAST_SHOWN = 4  # entries of lower importance are never added to a prompt automatically
_TOO_LONG_IN_A_ROW = 4
"""After so many entries in a row that do not fit, no shorter one is looked for."""
MOST_SHOWN = 6
"""Most entries of a prompt: more than a reader takes in besides a talk."""
MOST_OTHERS = 2
"""How many of them may concern nobody here and nothing that is spoken of, if others do concern
them."""
_CITED = 3
"""How many memories a line of a prompt names of those that its entry rests on."""

_STANDINS = str.maketrans({"[": "(", "]": ")", "<": "‹", ">": "›", "`": "'"})
"""Substitutes for characters that could start a link, a picture, a comment or code.

They could also form the head of a line of the prompt (``[21 Nov, importance 8]``).
"""
_START = "-*#=|~_+‹› "
_UNSAFE = str.maketrans(dict.fromkeys(",()[]<>*`", " "))
"""Characters that could end a field of an entry, or form markdown in it."""
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
"""Years that a time in a file may have; others are mistakes, and fail as local time."""
_NEW_FILE = """\
---
day: {day}
---

# {title}

What was written down of this day. Entries may be changed and taken out, and new ones added: a
heading with a number that is still free, such as `## {day:%Y%m%d}-900`, and the text below it.
"""


class EntryOrigin(StrEnum):
    """The origin of an entry."""

    TOLD = "told to me"
    SEEN = "seen"
    INFERRED = "inferred"
    SURROUNDINGS = "surroundings"


class Rater(StrEnum):
    """The rater of an entry's importance."""

    RULES = "rules"
    MODEL = "model"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One entry of a journal."""

    id: str  # ``20261121-3``: the day and the entry's number on it; never used twice
    time: datetime
    text: str  # one line; words of others name their speaker
    importance: int  # 1, trivial, to 10, a turning point of a life
    rated_by: Rater
    origin: EntryOrigin
    memories: tuple[int, ...] = ()  # the memories it rests on, ascending
    # keys of the people it is about, as in :attr:`keepsake.archive.records.Memory.source_id`
    who: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[int, int]:
        """Day and number as a sort key."""
        day, _, number = self.id.partition("-")
        return (int(day), int(number)) if day.isdecimal() and number.isdecimal() else (0, 0)

    @property
    def is_insight(self) -> bool:
        """Whether the agent concluded it from other entries in a nightly reflection."""
        return self.origin is EntryOrigin.INFERRED and self.rated_by is Rater.MODEL


def normal(entry: JournalEntry) -> JournalEntry:
    """Return the entry with values in range and without text that could pass for other markup."""
    people = (one_line(each.translate(_UNSAFE))[:80].strip() for each in entry.who)
    return replace(
        entry,
        text=clean(entry.text),
        importance=min(max(entry.importance, LEAST), MOST),
        memories=tuple(sorted({n for n in entry.memories if 0 < n < 10**12}))[-MOST_NUMBERS:],
        who=tuple(sorted(dict.fromkeys(filter(None, people)))[:MOST_PEOPLE]),
    )


def clean(text: str) -> str:
    """Return ``text`` as one line of plain text, free of markdown and prompt markup.

    Applying it twice changes nothing more. Text longer than :data:`LONGEST` is cut at a word.
    """
    line = for_prompt(writable(text[: 20 * LONGEST]), limit=20 * LONGEST).translate(_STANDINS)
    # Removing one sign can expose another: a second heading sign, a cursor, a broken pair.
    for _ in range(8):
        before = line
        line = for_prompt(line, limit=LONGEST).lstrip(_START).replace("**", "")
        if line == before:
            return line
    return line


def local_day(moment: datetime) -> date:
    """Return the day of a moment in the machine's time zone."""
    return moment.astimezone().date()


# -- a day's file


@dataclass(frozen=True, slots=True)
class DayFile:
    """The content of one day's file."""

    entries: tuple[JournalEntry, ...] = ()  # in the order of the file
    problems: tuple[str, ...] = ()  # unreadable parts and the reasons: ``line 17: …``
    last: int = 0  # the highest entry number, unreadable entries included


def parse(day: date, source: str) -> DayFile:
    """Parse a day's file; never raises. Unreadable entries are among the problems."""
    unfenced = _FENCED.sub(lambda found: "\n" * found[0].count("\n"), source)
    # Not splitlines(): it also splits at line separators inside a text.
    lines = [line.removesuffix("\r") for line in unfenced.split("\n")]
    starts = [place for place, line in enumerate(lines) if line.startswith(_PARTS)]
    entries = list[JournalEntry]()
    problems = list[str]()
    numbers = {0}
    for start, end in pairwise([*starts, len(lines)]):
        if (heading := _HEADING.match(lines[start])) is None:
            continue
        number = int(heading["number"])
        try:
            if heading["day"] != f"{day:%Y%m%d}":
                raise ValueError("its heading is of another day")
            if number in numbers:
                raise ValueError("there is such an entry already")
            numbers.add(number)
            entries.append(_entry(heading, day, lines[start + 1 : end]))
        except ValueError as problem:
            problems.append(f"line {start + 1}: {heading['id']}: {problem}")
    return DayFile(tuple(entries), tuple(problems), max(numbers))


def appended(source: str | None, entry: JournalEntry) -> str:
    """Return the file with one more entry appended; ``source`` is None for a new file."""
    day = date.fromisoformat(entry.id[:8])
    if source is None:
        source = _NEW_FILE.format(day=day, title=f"{day.day} {MONTHS[day.month - 1]} {day.year}")
    newline = "\r\n" if "\r\n" in source else "\n"
    above = f"{source.rstrip()}{2 * newline}" if source.strip() else ""
    fields: Mapping[str, str] = {
        "importance": f"{entry.importance}, by {entry.rated_by.value}",
        "source": entry.origin.value,
        "memories": ", ".join(map(str, entry.memories)),
        "who": ", ".join(entry.who),
        "written": entry.time.isoformat(timespec="seconds"),
    }
    known = (f"- **{key}**: {value}" for key, value in fields.items() if value)
    lines = (f"## {entry.id}, {entry.time.astimezone():%H:%M}", "", entry.text, "", *known)
    return f"{above}{newline.join(lines)}{newline}"


def _entry(heading: re.Match[str], day: date, lines: Sequence[str]) -> JournalEntry:
    """Parse an entry from the lines under its heading. Missing fields get defaults."""
    fields: dict[str, str] = {}
    for match in filter(None, map(_FIELD.match, lines)):
        fields.setdefault(match["key"].casefold(), match["value"])  # the first of two counts
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


def _importance(value: str) -> tuple[int, Rater]:
    if not value:
        return BY_HAND, Rater.AGENT
    head = value.partition("(")[0]  # earlier versions add the reason in brackets
    score = re.match(r"\s*(\d{1,6})(?:/10)?[\s,.;]*", head, re.ASCII)
    if score is None or not LEAST <= int(score[1]) <= MOST:
        raise ValueError(f"importance {value[:40]!r} is not a number from {LEAST} to {MOST}")
    # Without the name of a rater, a person wrote the number; it counts as the agent's own rating.
    return int(score[1]), next((each for each in Rater if each.value in head), Rater.AGENT)


def _origin(value: str) -> EntryOrigin:
    name = value.partition("(")[0].strip().casefold()  # earlier versions add (trust 0.9)
    try:
        return EntryOrigin(name) if name else EntryOrigin.INFERRED
    except ValueError:
        known = ", ".join(origin.value for origin in EntryOrigin)
        raise ValueError(f"source {name[:40]!r} is not one of {known}") from None


def _time(written: str, day: date, clock: str) -> datetime:
    """Return the time of writing; for an entry by a person, the time in its heading."""
    for given in (written, f"{day}T{clock:0>5}"):
        try:
            moment = datetime.fromisoformat(given)
            if moment.year in _YEARS:
                return moment if moment.tzinfo else moment.astimezone()
        except (ValueError, OverflowError):
            continue  # missing, or not in ISO format
    return datetime.combine(day, time()).astimezone()


def _numbers(value: str) -> Iterator[int]:
    """Yield the numbers in ``17, 120-125``, a form that earlier versions and people write."""
    for match in _RANGE.finditer(value):
        first = int(match[1])
        last = int(match[2] or match[1])
        # Count down, so that the newest are kept if there are too many.
        yield from range(last, max(first, last - MOST_NUMBERS + 1) - 1, -1)


# -- in a prompt


def entry_by_memory(entries: Iterable[JournalEntry]) -> dict[int, JournalEntry]:
    """Return the entry that describes each memory, by the memory's number.

    Among several entries, one rated by a model or the agent wins, then the most important.
    Conclusions that the agent only drew from a memory do not count.
    """
    told = [each for each in entries if each.origin is not EntryOrigin.INFERRED]
    told.sort(key=lambda each: (each.rated_by is not Rater.RULES, each.importance))
    return {number: each for each in told for number in each.memories}


def prompt_lines(
    entries: Iterable[JournalEntry],
    budget: int,
    now: datetime,
    tokens: Tokens,
    may: Callable[[JournalEntry], bool] = lambda _: True,
    *,
    about: Collection[str] = (),
    words: str = "",
) -> tuple[str, ...]:
    """Return the journal lines for a prompt, oldest first; fast enough for each thought.

    Entries about what is spoken of come first, then those about people who are here, then the most
    important, then the newest. An entry is omitted if other entries that may be shown describe all
    its memories (:func:`entry_by_memory`).

    Args:
        entries: The journal, oldest first.
        budget: The most tokens of all lines together.
        tokens: Counts the tokens.
        may: Returns whether an entry may be shown now.
        about: The keys of those who are here.
        words: What is spoken of; empty for nothing.

    Returns:
        Lines such as ``[21 Nov, importance 8] Tom told me: "…" (memory 120)``.
    """
    shown = [each for each in entries if may(each)]
    described = {each.id for each in entry_by_memory(shown).values()}
    found = [
        each
        for each in reversed(shown)
        if each.importance >= LEAST_SHOWN
        and (each.origin is EntryOrigin.INFERRED or not each.memories or each.id in described)
    ]
    spoken = telling(words)
    common = {each.id: len(spoken & telling(each.text)) for each in found} if spoken else {}

    def concerns(each: JournalEntry) -> bool:
        """Return whether an entry concerns those who are here, or what is spoken of."""
        return bool(common.get(each.id)) or not set(about).isdisjoint(each.who)

    found.sort(key=lambda e: (-common.get(e.id, 0), not concerns(e), -e.importance))
    near = [each for each in found if concerns(each)]
    others = [each for each in found if not concerns(each)]
    found = [*near, *(others[:MOST_OTHERS] if near else others)][:MOST_SHOWN]
    return _fitting(found, budget, now, tokens)


def _fitting(
    entries: Iterable[JournalEntry], budget: int, now: datetime, tokens: Tokens
) -> tuple[str, ...]:
    """Return the lines of the first entries that fit into a budget of tokens, oldest first."""
    left = budget
    missed = 0
    chosen = list[tuple[tuple[int, int], str]]()
    for entry in entries:
        text = line(entry, now)
        cost = tokens.of(text)
        if cost <= left:
            left -= cost
            missed = 0
            chosen.append((entry.order, text))
            continue
        missed += 1
        if missed == _TOO_LONG_IN_A_ROW:
            break
    return tuple(text for _, text in sorted(chosen))


def line(entry: JournalEntry, now: datetime) -> str:
    """Return an entry as a prompt shows it."""
    day = date.fromisoformat(entry.id[:8])
    when = f"{short_day(day)}{'' if day.year == local_day(now).year else f' {day.year}'}"
    thought = ", my own thought" if entry.origin is EntryOrigin.INFERRED else ""
    newest = ", ".join(map(str, entry.memories[-_CITED:]))
    cited = f" (memor{'y' if len(entry.memories) == 1 else 'ies'} {newest})" if newest else ""
    return f"[{when}, importance {entry.importance}{thought}] {for_prompt(entry.text)}{cited}"
