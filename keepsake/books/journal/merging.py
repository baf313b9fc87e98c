"""Entries that say the same become one; what is too much for one day becomes one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from keepsake.books.journal import wording
from keepsake.books.journal.entries import (
    GATHERED,
    LEAST,
    EntryOrigin,
    Importance,
    JournalEntry,
    Judge,
    is_gathered,
)
from keepsake.language.perception import shorten

_HEAD, _MORE = "Less of that day: ", "; and more"
_LONGEST_PART = 80


def same(one: JournalEntry, two: JournalEntry) -> bool:
    """Whether two entries say the same of the same people."""
    if is_gathered(one) or is_gathered(two):
        return False
    return one.who == two.who and wording.alike(one.text, two.text)


def same_that_day(one: JournalEntry, two: JournalEntry) -> bool:
    """The same of two entries of a day, of which one may not say whom it is about."""
    return same(replace(one, who=two.who) if not (one.who and two.who) else one, two)


def doubles(entries: Sequence[JournalEntry]) -> Iterator[tuple[JournalEntry, JournalEntry]]:
    """Pairs that say the same on one day or the next: the one that stays, and the one that goes.

    The fuller one stays, of equals the older; nothing goes twice.
    """
    gone: set[str] = set()
    by_day = sorted(entries, key=lambda entry: entry.day)
    for place, one in enumerate(by_day):
        for two in by_day[place + 1 :]:
            if one.id in gone or two.day - one.day > timedelta(days=1):
                break
            if two.id not in gone and same(one, two):
                keep, less = (two, one) if len(two.text) > len(one.text) else (one, two)
                gone.add(less.id)
                yield keep, less


def joined(keep: JournalEntry, others: Iterable[JournalEntry]) -> JournalEntry:
    """``keep`` with the memories, people, tags and weight of others that say the same."""
    together = (keep, *others)
    weights = (each.importance for each in together)
    return replace(
        _gathering(keep, together),
        importance=max(weights, key=lambda each: (each.judge is Judge.AGENT, each.score)),
        tags=wording.tags(tag for each in together for tag in each.tags),
    )


def _gathering(keep: JournalEntry, together: Sequence[JournalEntry]) -> JournalEntry:
    return replace(
        keep,
        memories=wording.numbers(number for each in together for number in each.memories),
        who=wording.people(key for each in together for key in each.who),
    )


# -- too much for one day


def surplus(entries: Sequence[JournalEntry], most: int) -> tuple[JournalEntry, ...]:
    """The entries of one day that there is no room for, the least first.

    Of equals those of whoever has most of them go first, and the newest: nobody who talks a
    lot presses out what others said, or what was said before.
    """
    single = [entry for entry in entries if not is_gathered(entry)]
    room = most if len(single) <= most and len(single) == len(entries) else most - 1
    gone: list[JournalEntry] = []
    by = Counter(key for entry in single for key in entry.who)

    def rank(entry: JournalEntry) -> tuple[float, ...]:
        many = max((by[key] for key in entry.who), default=0)
        by_agent = entry.importance.judge is Judge.AGENT
        return entry.importance.score, by_agent, -many, -entry.time.timestamp()

    while len(single) > max(room, 1):
        least = min(single, key=rank)
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
    return replace(_gathering(line, (line, *gone)), text=_text(line.text or _HEAD, gone))


def _text(text: str, gone: Sequence[JournalEntry]) -> str:
    """The line with as many of the texts as fit, no word cut short without a sign of it."""
    for entry in gone:
        if text.endswith(_MORE):
            break
        part = shorten(entry.text.rstrip("."), _LONGEST_PART)
        longer = f"{text}{part}" if text == _HEAD else f"{text}; {part}"
        fits = len(longer) + len(_MORE) <= wording.LONGEST
        text = longer if fits else f"{text}{_MORE}"
    return wording.clean(text)
