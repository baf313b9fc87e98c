"""What is too much for one day: the least important entries become one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from game.mind.books.journal import wording
from game.mind.books.journal.entries import LEAST, EntryOrigin, Importance, JournalEntry, Judge
from game.mind.language.perception import shorten

GATHERED = "gathered"
"""The tag of the entry that holds what was folded."""
_HEAD, _MORE = "Less of that day: ", "; and more"
_LONGEST_PART = 80


def surplus(entries: Sequence[JournalEntry], most: int) -> tuple[JournalEntry, ...]:
    """The entries of one day that there is no room for, the least first.

    Of equals those of whoever has most of them go first, and the newest: nobody who talks a
    lot presses out what others said, or what was said before.
    """
    single = [entry for entry in entries if not is_gathered(entry)]
    room = most if len(single) <= most and len(single) == len(entries) else most - 1
    gone: list[JournalEntry] = []
    by = Counter(key for entry in single for key in entry.who)
    while len(single) > max(room, 1):
        least = min(single, key=lambda entry: (*_rank(entry, by), -entry.time.timestamp()))
        single.remove(least)
        by.subtract(least.who)
        gone.append(least)
    return tuple(gone)


def gathered(
    entries: Sequence[JournalEntry], gone: Sequence[JournalEntry], new_id: str, now: datetime
) -> JournalEntry:
    """The one line, with ``gone`` in it."""
    line = next((entry for entry in entries if is_gathered(entry)), None) or JournalEntry(
        new_id, now, "", Importance(LEAST, Judge.AGENT), EntryOrigin.INFERRED, tags=(GATHERED,)
    )
    together = (line, *gone)
    return replace(
        line,
        text=_text(line.text, gone),
        memories=wording.numbers(number for each in together for number in each.memories),
        who=wording.people(key for each in together for key in each.who),
    )


def is_gathered(entry: JournalEntry) -> bool:
    """Whether it is the line that holds what was folded."""
    return GATHERED in entry.tags


def _rank(entry: JournalEntry, by: Counter[str]) -> tuple[int, bool, int]:
    most = max((by[key] for key in entry.who), default=0)
    return entry.importance.score, entry.importance.judge is Judge.AGENT, -most


def _text(text: str, gone: Sequence[JournalEntry]) -> str:
    """The line with as many of the texts as fit, no word cut short without a sign of it."""
    text = text or _HEAD
    for entry in gone:
        if text.endswith(_MORE):
            break
        part = shorten(entry.text.rstrip("."), _LONGEST_PART)
        longer = f"{text}{part}" if text == _HEAD else f"{text}; {part}"
        fits = len(longer) + len(_MORE) <= wording.LONGEST
        text = longer if fits else f"{text}{_MORE}"
    return wording.clean(text)
