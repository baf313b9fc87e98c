"""What a journal holds: entries, how much each matters, where each comes from; in prompts too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum

from keepsake.errors import NoteRefused
from keepsake.language.perception import for_prompt, visible
from keepsake.language.words import short_day, writable
from keepsake.ports import Tokens

LEAST, MOST = 1, 10
"""The least and the most that anything can matter."""
LONGEST = 600
"""Characters of one entry."""
MOST_NUMBERS, MOST_WORDS = 200, 20
"""Memories, and people or reasons, of one entry; of the memories the newest stay."""

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


class EntryOrigin(StrEnum):
    """Where an entry comes from."""

    TOLD = "told to me"
    SEEN = "seen"
    INFERRED = "inferred"
    SURROUNDINGS = "surroundings"


class Judge(StrEnum):
    """Who said how much something matters."""

    RULES = "rules"
    MODEL = "model"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Importance:
    """How much something matters, and why."""

    score: int  # 1, nothing at all, to 10, the turn of a life
    judge: Judge = Judge.RULES
    reasons: tuple[str, ...] = ()  # why, a few words each: ``a promise``, ``named me``


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One entry of a journal."""

    id: str  # ``20261121-3``: the day and the entry's number on it; never given twice
    time: datetime
    text: str  # one line; what others said names who said it
    importance: Importance
    origin: EntryOrigin
    memories: tuple[int, ...] = ()  # numbers of the memories that it rests on, ascending
    # keys of the people it is about, as in :attr:`keepsake.archive.records.Memory.source_id`
    who: tuple[str, ...] = ()

    @property
    def day(self) -> date:
        """The day of the file that it stands in."""
        return date.fromisoformat(self.id[:8])

    @property
    def number(self) -> int:
        """Its number on that day."""
        return int(self.id[9:])

    @property
    def is_insight(self) -> bool:
        """Whether the agent concluded it from other entries, at night."""
        return self.origin is EntryOrigin.INFERRED and self.importance.judge is Judge.MODEL


def checked(entry: JournalEntry) -> JournalEntry:
    """A new entry as a file can hold it.

    Raises:
        NoteRefused: Its text is empty or too long.
    """
    found, length = normal(entry), len(" ".join(entry.text.split()))
    if not any(char.isalnum() for char in found.text):
        raise NoteRefused("The journal entry has no words", "Write: journal <what happened>")
    if length > LONGEST:
        raise NoteRefused(
            f"That is {length:,} characters", f"Write at most {LONGEST:,} characters an entry"
        )
    return found


def normal(entry: JournalEntry) -> JournalEntry:
    """An entry with nothing in it that a file, or a line of a prompt, could take for more."""
    weight = entry.importance
    score = min(max(weight.score, LEAST), MOST)
    return replace(
        entry,
        text=clean(entry.text),
        importance=Importance(score, weight.judge, plain(weight.reasons)),
        memories=tuple(sorted({n for n in entry.memories if 0 < n < 10**12}))[-MOST_NUMBERS:],
        who=tuple(sorted(plain(entry.who))),
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


def plain(given: Iterable[str]) -> tuple[str, ...]:
    """Short words as a field holds them, each once."""
    words = (" ".join(visible(each).translate(_UNSAFE).split())[:80].strip() for each in given)
    return tuple(dict.fromkeys(each for each in words if each))[:MOST_WORDS]


def local_day(moment: datetime) -> date:
    """The day of a moment by the machine's own clock."""
    return moment.astimezone().date()


def telling_of(entries: Iterable[JournalEntry]) -> dict[int, JournalEntry]:
    """The entry that tells of each memory, by its number.

    Of several it is the one that a model or the agent has weighed, and then the weightiest. What
    the agent only concluded from a memory does not tell of it.
    """
    told = (each for each in entries if each.origin is not EntryOrigin.INFERRED)
    return {number: each for each in sorted(told, key=_precedence) for number in each.memories}


def _precedence(entry: JournalEntry) -> tuple[bool, int]:
    return entry.importance.judge is not Judge.RULES, entry.importance.score


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
        if each.importance.score >= LEAST_SHOWN
        and (each.origin is EntryOrigin.INFERRED or not each.memories or each.id in telling)
    ]
    found.sort(key=lambda each: (about not in each.who if about else True, -each.importance.score))
    left, missed, chosen = budget, 0, list[tuple[date, int, str]]()
    for entry in found:
        text = line(entry, now)
        if (cost := tokens.of(text)) <= left:
            left, missed = left - cost, 0
            chosen.append((entry.day, entry.number, text))
        elif (missed := missed + 1) == _TOO_LONG_IN_A_ROW:
            break
    return tuple(text for *_, text in sorted(chosen))


def line(entry: JournalEntry, now: datetime) -> str:
    """An entry as a prompt shows it."""
    day, today = entry.day, local_day(now)
    when = f"{short_day(day)}{'' if day.year == today.year else f' {day.year}'}"
    thought = ", my own thought" if entry.origin is EntryOrigin.INFERRED else ""
    newest = ", ".join(map(str, entry.memories[-_CITED:]))
    cited = f" (memor{'y' if len(entry.memories) == 1 else 'ies'} {newest})" if newest else ""
    head = f"[{when}, importance {entry.importance.score}{thought}]"
    return f"{head} {for_prompt(entry.text)}{cited}"
