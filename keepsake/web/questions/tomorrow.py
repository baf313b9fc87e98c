"""What an agent said itself about tomorrow: it may mean it, though it has not planned it.

Runs in a view's thread, because it reads the archive from its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
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


def said_of_tomorrow(
    folder: Path, agent: str, now: datetime, shown: Callable[[datetime], datetime]
) -> Sequence[Memory]:
    """Return an agent's own words that name tomorrow, the newest first; blocks.

    Words that only ask, which bind nobody, come last.

    Args:
        folder: The agent's.
        agent: Its name.
        now: With time zone.
        shown: Returns what the world's clock showed at a moment.
    """
    tomorrow = shown(now).date() + timedelta(days=1)
    wanted = MemoryFilter(kind=MemoryKind.ACT, form=HappeningKind.SPEECH)
    newest = NewestMemories(folder / "archive", agent, (), wanted, MOST_BYTES)
    late = takewhile(lambda each: now - each.time < _WEEK, newest)
    named = (each for each in late if names_day(each.words, shown(each.time).date(), tomorrow))
    return sorted(islice(named, MOST), key=lambda each: not told_in(each.words))
