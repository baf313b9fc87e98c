"""What an agent said itself about a day: it may mean it, though it has not planned it.

Runs in a view's thread, because it reads the archive from its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice, takewhile
from pathlib import Path

from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import HappeningKind
from keepsake.language.day_names import names_day
from keepsake.language.perception import CLAUSE_GAP, is_question
from keepsake.language.when import hours_in
from keepsake.tracing.content import told_in
from keepsake.web.searching import MemoryFilter, NewestMemories

MOST = 8
"""The most lines that are shown."""
MOST_BYTES = 16_000_000
"""The most bytes of the archive that are read, from its end: a tenth of a second."""
_WEEK = timedelta(days=7)
"""A day of the week that was named longer ago is another one."""


@dataclass(frozen=True, slots=True)
class SaidOfDays:
    """An agent's own words that tell something of a day, the newest first.

    Words that only ask bind nobody, so they are left out.

    Attributes:
        today: Of earlier days.
        tomorrow: Of any day.
    """

    today: Sequence[Memory]
    tomorrow: Sequence[Memory]


def said_of_days(
    folder: Path, agent: str, now: datetime, shown: Callable[[datetime], datetime]
) -> SaidOfDays:
    """Return an agent's own words that name today or tomorrow; blocks.

    Args:
        folder: The agent's.
        agent: Its name.
        now: With time zone.
        shown: Returns what the world's clock showed at a moment.
    """
    today = shown(now).date()
    wanted = MemoryFilter(kind=MemoryKind.ACT, form=HappeningKind.SPEECH)
    newest = NewestMemories(folder / "archive", agent, (), wanted, MOST_BYTES)
    late = takewhile(lambda each: now - each.time < _WEEK, newest)
    said = [(shown(each.time).date(), each) for each in late]

    def about(day: date, before: date) -> Sequence[Memory]:
        named = (each for on, each in said if on < before and _tells_of(day, each.words, on))
        return [*islice(named, MOST)]

    tomorrow = today + timedelta(days=1)
    return SaidOfDays(today=about(today, today), tomorrow=about(tomorrow, tomorrow))


def _tells_of(day: date, words: str, said: date) -> bool:
    """Return whether words tell something of a day: they name it, and more than to ask for it.

    A part of a question may tell, with an hour: *Tomorrow at six, green and all; will you come?*
    """
    if names_day(told_in(words), said, day):
        return True
    parts = (each for each in CLAUSE_GAP.split(words) if not is_question(each))
    return any(names_day(each, said, day) and hours_in(each) for each in parts)
