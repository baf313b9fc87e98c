"""Clears away what a crash left in an agent's folder, and never anything else."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from game.mind.books.journal.book import Journal
from game.mind.sleep.steps import Figures

OLD = timedelta(days=1)
"""Nothing younger is touched: it may be in use."""
_TEMPORARY = re.compile(r"\.[^/]{1,80}-[a-z0-9_]{8}\.tmp", re.S)
"""The temporary names of :mod:`game.mind.records.files`."""


def tidy(folder: Path, journal: Journal | None, now: datetime) -> Figures:
    """Remove temporary files and empty folders that have been lying there for a day."""
    before = now.timestamp() - OLD.total_seconds()
    files = sum(_unlinked(each) for each in _left_over(folder, before))
    folders = sum(_emptied(each) for each in _empty(folder, before))
    problems = len(journal.problems) if journal is not None else 0
    return {"temporary files": files, "empty folders": folders, "unreadable": problems}


def _left_over(folder: Path, before: float) -> Iterator[Path]:
    for above, _, names in os.walk(folder):
        for name in names:
            path = Path(above, name)
            if _TEMPORARY.fullmatch(name) and _is(path, stat.S_ISREG, before):
                yield path


def _empty(folder: Path, before: float) -> Iterator[Path]:
    """Empty folders, from the deepest; a link to one is none, nor is the agent's own."""
    for above, inside, names in os.walk(folder, topdown=False):
        path = Path(above)
        if path != folder and not inside and not names and _is(path, stat.S_ISDIR, before):
            yield path


def _is(path: Path, kind: Callable[[int], bool], before: float) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return kind(status.st_mode) and status.st_mtime < before


def _unlinked(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:  # gone meanwhile, or not ours to remove: it does no harm
        return False
    return True


def _emptied(path: Path) -> bool:
    try:
        path.rmdir()  # refuses a folder into which something was put meanwhile
    except OSError:
        return False
    return True
