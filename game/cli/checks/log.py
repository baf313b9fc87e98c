"""Checks of the event log: whether it can be read, and what it has grown to."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence

from game.cli.checks.finding import Finding
from keepsake.events.files import LogFile, files_of
from keepsake.events.prompts import STEM as PROMPTS
from keepsake.events.writer import STEM as EVENTS
from keepsake.paths import Places

MOST_BYTES = 5_000_000_000
"""From here on the log is worth a word: years of a small village, weeks of a hundred agents."""
LEAST_SHARE = 0.2
"""The share of the room that is left on the disk from which on it is, too."""
_LITTLE = 100_000_000
"""Below these bytes it is never to blame for a full disk."""


def event_log(here: Places) -> Iterator[Finding]:
    """The event log can be read, and leaves room for the world."""
    folder = here.events
    if not folder.exists():
        yield Finding("Event log", True, f"{folder} is made at the first start")
        return
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        cure = "Make it yours: the world goes on without it, but what happens is logged nowhere"
        yield Finding("Event log", False, f"{folder} cannot be read and written to", cure)
        return
    try:
        files = [*files_of(folder, EVENTS), *files_of(folder, PROMPTS)]
        files.sort(key=lambda file: (file.day, file.first))
        sizes = [each.size() for each in files]
    except OSError as error:  # such as one that somebody has just removed
        yield Finding("Event log", True, f"{folder}, its size cannot be told now ({error})")
        return
    yield _size(here, files, sizes)


def _size(here: Places, files: Sequence[LogFile], sizes: Sequence[int]) -> Finding:
    total, free = sum(sizes), shutil.disk_usage(here.events).free
    count = "1 file" if len(files) == 1 else f"{len(files):,} files"
    what = f"{total / 1_000_000:,.1f} MB in {count} of {here.events}"
    if files:
        what += f", from {files[0].day} on"
    most = max(min(MOST_BYTES, int(LEAST_SHARE * (free + total))), _LITTLE)
    if total <= most:
        return Finding("Event log", True, what)
    return Finding("Event log", False, what, _cure(here, files, sizes, total - most // 2))


def _cure(here: Places, files: Sequence[LogFile], sizes: Sequence[int], wanted: int) -> str:
    """Which files to remove to be rid of so many bytes."""
    gone, last = 0, files[0].day
    for file, size in zip(files, sizes, strict=True):
        if gone >= wanted and file.day != last:
            break
        gone, last = gone + size, file.day
    if last == files[-1].day:  # never those that are being written
        last = max((file.day for file in files if file.day < last), default="")
    if not last:
        return f"It is all of one day: make room on that disk, or move the files out of {here.home}"
    gone = sum(size for file, size in zip(files, sizes, strict=True) if file.day <= last)
    return (
        f"Every file stands for itself: remove those up to {last} ({gone / 1_000_000:,.0f} MB; "
        "the day stands in their names). `keepsake export` keeps their figures as tables"
    )
