"""The entries of a journal that stand in a prompt: what mattered most and has not faded yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date, datetime

from keepsake.books.journal.config import JournalConfig
from keepsake.books.journal.entries import EntryOrigin, JournalEntry, local_day
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


def standing(
    entries: Iterable[JournalEntry],
    config: JournalConfig,
    now: datetime,
    tokens: Tokens,
    may: Callable[[JournalEntry], bool] = lambda _: True,
) -> tuple[str, ...]:
    """The lines of the journal for a prompt, oldest first; quick, for each thought.

    Args:
        entries: What may stand there, those that count most first, see :func:`ranked`.
        config: How many tokens they may take.
        now: The time.
        tokens: Counts them.
        may: Whether an entry is to be shown now.

    Returns:
        Lines such as ``[21 Nov, importance 8] Tom told me: "…" (memory 120)``.
    """
    left, missed, chosen = config.budget, 0, list[tuple[date, int, str]]()
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


def faded(entry: JournalEntry, today: date) -> float:
    """What an entry counts on a day: its importance, halved again and again with its age.

    The more it mattered, the slower: the half-life grows with the square of the importance.
    """
    score, days = entry.importance.score, max((today - entry.day).days, 0)
    return float(score * 0.5 ** (days / (DAYS_AT_FIVE * (score / 5) ** 2)))


def ranked(entries: Iterable[JournalEntry], today: date) -> tuple[JournalEntry, ...]:
    """The entries that may stand in a prompt, those that count most first.

    Each takes from the next one about the same person, so that a person who gives much to write
    about does not crowd out the others.
    """
    weights = {
        entry: faded(entry, today) for entry in entries if entry.importance.score >= LEAST_SHOWN
    }
    best = sorted(weights, key=lambda each: (weights[each], each.time, each.id), reverse=True)
    before: Counter[str] = Counter()
    for entry in best:
        weights[entry] *= EACH_MORE ** max((before[key] for key in entry.who), default=0)
        before.update(entry.who)
    return tuple(sorted(best, key=weights.__getitem__, reverse=True))
