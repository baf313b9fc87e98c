"""Entries that say the same: how they are known, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import groupby

from game.mind.books.journal import folding, wording
from game.mind.books.journal.blocks import entry_day
from game.mind.books.journal.entries import Importance, JournalEntry, Judge


def joined(keep: JournalEntry, others: Iterable[JournalEntry]) -> JournalEntry:
    """``keep`` with the memories, people, tags and weight of others that say the same."""
    together = (keep, *others)
    weight = max((each.importance for each in together), key=_authority)
    return replace(
        keep,
        importance=weight,
        memories=wording.numbers(number for each in together for number in each.memories),
        tags=wording.tags(tag for each in together for tag in each.tags),
        who=wording.people(key for each in together for key in each.who),
    )


def gone_on(known: JournalEntry, new: JournalEntry) -> JournalEntry:
    """``known`` with what ``new`` says more; that it is the same was looked at before."""
    fuller = max(known.text, new.text, key=len)
    return replace(joined(known, [new]), text=fuller)


def same_that_day(one: JournalEntry, two: JournalEntry) -> bool:
    """Whether two entries of a day say the same of the same people."""
    if folding.is_gathered(one) or folding.is_gathered(two):
        return False
    return (not one.who or not two.who or set(one.who) == set(two.who)) and wording.alike(
        one.text, two.text
    )


def same(one: JournalEntry, two: JournalEntry) -> bool:
    """Whether two entries say the same of the same people."""
    if one.who != two.who or folding.is_gathered(one) or folding.is_gathered(two):
        return False
    return wording.alike(one.text, two.text)


def doubles(entries: Sequence[JournalEntry]) -> Iterator[tuple[JournalEntry, JournalEntry]]:
    """Pairs that say the same: the one that stays, and the one that goes.

    The fuller one stays, of equals the older; nothing goes twice.
    """
    gone: set[str] = set()
    for one, near in _neighbours(entries):
        for two in near:
            if one.id in gone:
                break
            if two.id not in gone and same(one, two):
                keep, less = (two, one) if len(two.text) > len(one.text) else (one, two)
                gone.add(less.id)
                yield keep, less


def _neighbours(
    entries: Sequence[JournalEntry],
) -> Iterator[tuple[JournalEntry, list[JournalEntry]]]:
    """Each entry with those after it on its day and on the next."""
    days = [(day, list(group)) for day, group in groupby(sorted(entries, key=_day), key=_day)]
    for index, (day, group) in enumerate(days):
        after = days[index + 1][1] if index + 1 < len(days) else []
        near = after if after and _day(after[0]) - day <= timedelta(days=1) else []
        for position, entry in enumerate(group):
            yield entry, [*group[position + 1 :], *near]


def _authority(importance: Importance) -> tuple[bool, int]:
    return importance.judge is Judge.AGENT, importance.score


def _day(entry: JournalEntry) -> date:
    day = entry_day(entry.id)
    assert day is not None  # it was read from a day's file
    return day
