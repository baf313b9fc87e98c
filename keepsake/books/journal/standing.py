"""The entries of a journal that stand in a prompt: what mattered most, then what is newest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime

from keepsake.books.journal.entries import EntryOrigin, JournalEntry, local_day
from keepsake.language.perception import for_prompt
from keepsake.language.words import short_day
from keepsake.ports import Tokens

LEAST_SHOWN = 4
"""What matters less never stands in a prompt by itself."""
_TOO_LONG_IN_A_ROW = 4
_CITED = 3


def standing(
    entries: Iterable[JournalEntry],
    budget: int,
    now: datetime,
    tokens: Tokens,
    may: Callable[[JournalEntry], bool] = lambda _: True,
) -> tuple[str, ...]:
    """The lines of the journal for a prompt, oldest first; quick, for each thought.

    Args:
        entries: What may stand there, those that count most first, see :attr:`Journal.ranked`.
        budget: How many tokens they may take.
        now: The time.
        tokens: Counts them.
        may: Whether an entry is to be shown now.

    Returns:
        Lines such as ``[21 Nov, importance 8] Tom told me: "…" (memory 120)``.
    """
    left, missed, chosen = budget, 0, list[tuple[date, int, str]]()
    for entry in filter(may, entries):
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
