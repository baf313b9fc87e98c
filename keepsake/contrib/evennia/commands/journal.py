"""Builders read what an agent wrote down of its days."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta

from keepsake.books.entries import JournalEntry
from keepsake.books.journal import Journal
from keepsake.contrib.evennia.commands.base import Query, plain
from keepsake.contrib.evennia.commands.figures import hung
from keepsake.contrib.evennia.wording import counted, plural
from keepsake.errors import KeepsakeError
from keepsake.language.words import telling

NEWEST = 30
"""Entries that are shown when nothing is asked for."""
MOST = 200
_DAYS = {"today": 0, "yesterday": 1}
_HEAVY = 7
"""Importance from which an entry stands out."""
_INDENT = 10


def view(query: Query) -> Callable[[], str]:
    """``@journal``: the newest entries, those of a day, or those that tell of some words."""
    name, words, journal = query.name, query.words, query.mind.diary.journal
    return lambda: _shown(name, journal, words)


def _shown(name: str, journal: Journal, words: str) -> str:
    entries = journal.entries()
    problems = [f"|r{plain(problem)}|n" for problem in journal.problems]
    found, what = _asked(entries, words)
    if not found:
        none = f"{name}'s journal has nothing {plain(what)}." if entries else ""
        return "\n".join([none or f"{name}'s journal is empty.", *problems])
    cut = f", the newest {MOST} of {len(found)}" if len(found) > MOST else ""
    title = f"|w{name}'s journal|n {plain(what)}{cut}"
    return "\n".join([title, *entry_lines(found[-MOST:]), *problems])


def _asked(entries: Sequence[JournalEntry], words: str) -> tuple[Sequence[JournalEntry], str]:
    """The entries that are meant, oldest first, and what that is, in words."""
    if not words:
        newest = entries[-NEWEST:]
        return newest, f"(the newest {len(newest)} of {counted(len(entries), 'entry')})"
    if (day := _day(words)) is not None:
        return [each for each in entries if _local(each) == day], f"of {day:%A %d %B %Y}"
    wanted = telling(words) or set(words.casefold().split())
    found = [
        each for each in entries if wanted <= telling(each.text) | set(each.text.casefold().split())
    ]
    return found, f"of {words!r}"


def _day(words: str) -> date | None:
    """The day that is meant; None if words are.

    Raises:
        KeepsakeError: It looks like a day and is none.
    """
    today = datetime.now().astimezone().date()
    if (back := _DAYS.get(words.casefold())) is not None:
        return today - timedelta(days=back)
    if not re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", words):
        return None
    try:
        return date(*map(int, words.split("-")))
    except ValueError as error:
        raise KeepsakeError(
            f"There is no day {words}", "As in: @journal Mira 2026-11-21"
        ) from error


def _local(entry: JournalEntry) -> date:
    return entry.time.astimezone().date()


def entry_lines(entries: Sequence[JournalEntry]) -> Iterator[str]:
    """Two lines an entry, with the day before those of a new day."""
    day: date | None = None
    for entry in entries:
        if _local(entry) != day:
            day = _local(entry)
            yield f"|x-- {day:%A %d %B %Y} --|n"
        weight = entry.importance
        colour = "|y" if weight >= _HEAVY else "|w"
        head = f"{colour}{weight:>3}|n |x{entry.time.astimezone():%H:%M}|n"
        yield f"{head} {hung(entry.text, _INDENT)}"
        yield f"{' ' * _INDENT}|x{hung('; '.join(_facts(entry)), _INDENT)}|n"


def _facts(entry: JournalEntry) -> Iterator[str]:
    yield f"{entry.id}, judged by {_JUDGES[entry.judge]}"
    yield entry.origin.value
    if entry.memories:
        yield f"{plural('memory', len(entry.memories))} {', '.join(map(str, entry.memories))}"


_JUDGES = {"rules": "rules", "model": "the model", "agent": "itself"}
