"""Clears away what a crash left in an agent's folder, and never anything else."""

from __future__ import annotations

import os
import re
import stat
from datetime import datetime, timedelta
from pathlib import Path

from keepsake.books.journal import Journal
from keepsake.sleep.steps import Figures

OLD = timedelta(days=1)
"""Nothing younger is touched: it may be in use."""
_TEMPORARY = re.compile(r"\.[^/]{1,80}-[a-z0-9_]{8}\.tmp", re.S)
"""The temporary names of :mod:`keepsake.books.files`."""


def tidy(folder: Path, journal: Journal | None, now: datetime) -> Figures:
    """Remove temporary files and empty folders that have been lying there for a day."""
    before = now.timestamp() - OLD.total_seconds()
    files = folders = 0
    for above, inside, names in os.walk(folder, topdown=False):
        path = Path(above)
        for name in filter(_TEMPORARY.fullmatch, names):
            files += _removed(path / name, before, is_folder=False)
        if path != folder and not inside and not names:
            # A link to a folder is none; one into which something was put meanwhile stays.
            folders += _removed(path, before, is_folder=True)
    problems = len(journal.problems) if journal is not None else 0
    return {"temporary files": files, "empty folders": folders, "unreadable": problems}


def _removed(path: Path, before: float, *, is_folder: bool) -> bool:
    """Take away what is a folder, or a file, and older; whether it was."""
    try:
        status = path.lstat()
        is_such = stat.S_ISDIR(status.st_mode) if is_folder else stat.S_ISREG(status.st_mode)
        if not is_such or status.st_mtime >= before:
            return False
        path.rmdir() if is_folder else path.unlink()
    except OSError:  # gone meanwhile, or not ours to remove: it does no harm
        return False
    return True
