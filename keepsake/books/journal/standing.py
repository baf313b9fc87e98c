"""The entries of a journal that stand in a prompt: what mattered most and has not faded yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from functools import lru_cache

from keepsake.books.journal.book import Journal, local_day
from keepsake.books.journal.config import JournalConfig
from keepsake.books.journal.day_file import entry_number
from keepsake.books.journal.entries import EntryOrigin, JournalEntry, is_gathered
from keepsake.language.perception import for_prompt
from keepsake.language.words import short_day
from keepsake.ports import Tokens

LEAST_SHOWN = 4
"""What matters less never stands in a prompt by itself."""
DAYS_AT_FIVE = 4.0
"""Days after which an entry of importance 5 counts half; one of 10 takes four times as long."""
EACH_MORE = 0.85
"""What is left of an entry's weight for each weightier one about the same person."""
_TOO_LONG_IN_A_ROW = 4
_CITED = 3


def standing(  # noqa: PLR0917 - what a thought knows, in the order in which it says it
    journal: Journal,
    config: JournalConfig,
    now: datetime,
    shown_from: int | None,
    tokens: Tokens,
    may: Callable[[Iterable[int]], bool] = lambda _: True,
    about: str = "",
) -> tuple[str, ...]:
    """The lines of the journal for a prompt, oldest first; quick, for each thought.

    ``journal``: Whose files were read before, see :meth:`Journal.ranked`.
    ``shown_from``: Number of the first memory that the window shows: what rests on that one or
    a later one is to be read there; None if there is no window.
    ``may``: Whether anybody may hear what rests on the memories of those numbers.
    ``about``: Whoever is answered: entries about them come before all others.

    Returns:
        Lines such as ``[21 Nov, importance 8] Tom told me: "…" (memory 120)``.
    """
    if config.budget <= 0:
        return ()
    left, missed, chosen = config.budget, 0, list[tuple[tuple[str, int], str]]()
    best = journal.ranked(local_day(now), ranked)
    for entry in sorted(best, key=lambda entry: bool(about) and about not in entry.who):
        if shown_from is not None and entry.memories and entry.memories[-1] >= shown_from:
            continue
        if not may(entry.memories):
            continue
        text = line(entry, now)
        cost = tokens.of(text)
        if cost > left:
            missed += 1
            if missed == _TOO_LONG_IN_A_ROW:
                break
            continue
        missed, left = 0, left - cost
        chosen.append(((entry.id[:8], entry_number(entry.id)), text))
    return tuple(text for _, text in sorted(chosen))


def line(entry: JournalEntry, now: datetime) -> str:
    """An entry as a prompt shows it."""
    day, today = entry.day, local_day(now)
    when = short_day(day)
    if day.year != today.year:
        when = f"{when} {day.year}"
    thought = ", my own thought" if entry.origin is EntryOrigin.INFERRED else ""
    head = f"[{when}, importance {entry.importance.score}{thought}]"
    return f"{head} {for_prompt(entry.text)}{_cited(entry.memories)}"


def faded(entry: JournalEntry, today: date) -> float:
    """What an entry counts on a day: its importance, halved again and again with its age.

    The more it mattered, the slower: the half-life grows with the square of the importance.
    """
    return _faded(entry.importance.score, max((today - entry.day).days, 0))


@lru_cache(maxsize=4096)
def _faded(score: int, days: int) -> float:
    half_life = DAYS_AT_FIVE * (score / 5) ** 2
    return float(score * 0.5 ** (days / half_life))


def ranked(entries: Iterable[JournalEntry], today: date) -> tuple[JournalEntry, ...]:
    """The entries that may stand in a prompt, those that count most first."""
    may = [
        entry
        for entry in entries
        if entry.importance.score >= LEAST_SHOWN and not is_gathered(entry)
    ]
    # Of equals the newest; the id makes the order the same each time.
    may.sort(key=lambda entry: (faded(entry, today), entry.time, entry.id), reverse=True)
    shares = _shares(may)
    # The sort is stable: whatever counts as much stays in that order.
    return tuple(sorted(may, key=lambda entry: -faded(entry, today) * shares[entry.id]))


def _shares(entries: Sequence[JournalEntry]) -> dict[str, float]:
    """What is left of each entry's weight beside others about the same people, by its id.

    So whoever gives much to write about does not crowd out everybody else.
    """
    before: Counter[str] = Counter()
    shares: dict[str, float] = {}
    for entry in entries:
        shares[entry.id] = EACH_MORE ** max((before[key] for key in entry.who), default=0)
        before.update(entry.who)
    return shares


def _cited(numbers: tuple[int, ...]) -> str:
    """``(memory 120)``; of many the newest, which are told best."""
    if not numbers:
        return ""
    shown = ", ".join(map(str, numbers[-_CITED:]))
    more = f" and {len(numbers) - _CITED} more" if len(numbers) > _CITED else ""
    return f" (memor{'y' if len(numbers) == 1 else 'ies'} {shown}{more})"
