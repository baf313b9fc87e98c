"""Clears away what a crash left in an agent's folder, and never anything else."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
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
    files = folders = 0
    for above, inside, names in os.walk(folder, topdown=False):
        path = Path(above)
        for name in filter(_TEMPORARY.fullmatch, names):
            files += _removed(path / name, stat.S_ISREG, before, Path.unlink)
        if path != folder and not inside and not names:
            # A link to a folder is none; one into which something was put meanwhile stays.
            folders += _removed(path, stat.S_ISDIR, before, Path.rmdir)
    problems = len(journal.problems) if journal is not None else 0
    return {"temporary files": files, "empty folders": folders, "unreadable": problems}


def _removed(
    path: Path, kind: Callable[[int], bool], before: float, remove: Callable[[Path], None]
) -> bool:
    """Take away what is of that kind and older; whether it was."""
    try:
        status = path.lstat()
        if not kind(status.st_mode) or status.st_mtime >= before:
            return False
        remove(path)
    except OSError:  # gone meanwhile, or not ours to remove: it does no harm
        return False
    return True
