"""Files that are replaced as a whole: a reader sees either the old text or the new one.

Functions that write block, and raise OSError if the disk refuses.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from keepsake import regular_files

OWN = ".keepsake"
"""The folder, in an agent's folder, of what a program without a home keeps beside a memory: the
index, and requests to forget somebody."""

type Stamp = tuple[int, int, int]
"""Modification time in nanoseconds, size in bytes, inode: together they show a changed file."""


def stamp(path: Path) -> Stamp | None:
    """Return the stamp that shows later whether a file has changed; None if there is no file."""
    try:
        return stamp_in(path.stat())
    except OSError:
        return None


def stamp_in(status: os.stat_result) -> Stamp:
    """Return the stamp of a file, from what the disk says of it."""
    return status.st_mtime_ns, status.st_size, status.st_ino


def sync(path: Path) -> None:
    """Write a file, or a folder's list of names, to the disk, so that it survives a power cut."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace_file(path: Path, text: str) -> None:
    """Replace a file that only the game writes.

    If the path is a link, the file that it leads to is replaced, and the link stays.

    Raises:
        OSError: The file cannot be written; the old text stays.
    """
    target = regular_files.target(path)
    with written_aside(target, text) as temporary:
        temporary.replace(target)


@contextmanager
def written_aside(path: Path, text: str) -> Iterator[Path]:
    """Provide a temporary file with that text, written to the disk in the folder of ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:40]}-", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fchmod(file.fileno(), _mode(path))
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """Return the permissions of the file; those of a new one if it does not exist."""
    with suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    return 0o644
