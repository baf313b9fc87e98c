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
        named = (
            each for on, each in said if on < before and names_day(told_in(each.words), on, day)
        )
        return [*islice(named, MOST)]

    tomorrow = today + timedelta(days=1)
    return SaidOfDays(today=about(today, today), tomorrow=about(tomorrow, tomorrow))
