"""The check of the event log: whether it can be written, and what it has grown to."""

from __future__ import annotations

import os
from collections.abc import Iterator

from game.cli.checks.finding import Finding
from keepsake.paths import Places

MOST_BYTES = 5_000_000_000
"""A log this large is worth a word: years of a small village, weeks of a hundred agents."""


def event_log(here: Places) -> Iterator[Finding]:
    """The event log can be read and written, and is not too large."""
    folder = here.events
    if not folder.exists():
        yield Finding("Event log", True, f"{folder} is made at the first start")
        return
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        cure = "Make it yours: the world goes on without it, but what happens is logged nowhere"
        yield Finding("Event log", False, f"{folder} cannot be read and written to", cure)
        return
    files = [each for each in folder.iterdir() if each.is_file()]
    size = sum(each.stat().st_size for each in files)
    cure = "Remove the oldest files, by the days in their names; `keepsake export` keeps tables"
    well = size <= MOST_BYTES
    what = f"{size / 1e6:,.1f} MB in {len(files)} files of {folder}"
    yield Finding("Event log", well, what, "" if well else cure)
