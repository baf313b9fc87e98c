"""Small text files of the vault that people and the game both write."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from keepsake.errors import NoteRefused

type Stamp = tuple[int, int, int]
"""Modification time in nanoseconds, size in bytes, inode: what changes when a file does."""

_TRIES = 5
_changing = threading.Lock()
"""Held while one thread changes a file, or two would find the same text and one be lost."""


def stamp(path: Path) -> Stamp | None:
    """What a later look compares with; None while there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def read(path: Path) -> str | None:
    """The text, with its line ends as they are; None if there is no file.

    Raises:
        OSError, UnicodeDecodeError: It is there and cannot be read.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None


def change(path: Path, make: Callable[[str | None], str]) -> Stamp | None:
    """Write a file anew from what it holds; a reader sees the old text or the new one.

    ``make``: Gets the text, None for no file, and gives the new text. Called again when
    somebody else saved the file meanwhile.

    Returns:
        The stamp of what was written.

    Raises:
        NoteRefused: The file cannot be read or written, or is saved again and again.
    """
    try:
        with _changing:
            for _ in range(_TRIES):
                before = read(path)
                text = make(before)
                with _written_aside(path, text) as temporary:
                    # Compared at the last moment: an editor that saved meanwhile is not overrun.
                    if read(path) == before:
                        written = stamp(temporary)
                        temporary.replace(path)
                        return written
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(path, error) from error
    raise NoteRefused(f"{path.name} is being changed by somebody else", "Try again")


def unusable(path: Path, error: Exception) -> NoteRefused:
    """The error for a file that cannot be read or written."""
    reason = getattr(error, "strerror", None) or str(error)
    return NoteRefused(
        f"{path} cannot be read or written ({reason})",
        "Save it as UTF-8, free some disk space or mend the permissions",
    )


def replace_file(path: Path, text: str) -> None:
    """Write a file that the game alone writes: a reader sees the old text or the new one.

    Raises:
        OSError: It cannot be written; the old text stays.
    """
    with _written_aside(path, text) as temporary:
        temporary.replace(path)


def create_beside(path: Path, text: str) -> None:
    """Write a file that must not replace another: a second one gets ``-2``.

    Raises:
        OSError: It cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in names_beside(path):
        with suppress(FileExistsError), name.open("xb") as file:
            file.write(text.encode("utf-8", "replace"))
            return


def names_beside(path: Path) -> Iterator[Path]:
    """Names for a file, best first: ``garden.md``, ``garden-2.md``, ``garden-3.md``."""
    yield path
    number = 2
    while True:
        yield path.with_name(f"{path.stem}-{number}{path.suffix}")
        number += 1


def free_name(path: Path) -> Path:
    """The first of :func:`names_beside` that no file has yet, or an empty one."""
    return next(filter(_is_free, names_beside(path)))


def _is_free(path: Path) -> bool:
    try:
        return not (read(path) or "").strip()
    except (OSError, UnicodeDecodeError):
        return False


def pages(folder: Path) -> list[Path]:
    """The markdown files of a folder, by name; none if it cannot be listed."""
    try:
        found = [path for path in folder.iterdir() if path.suffix == ".md" and path.is_file()]
    except OSError:
        return []
    return sorted(path for path in found if not path.name.startswith("."))


def sync(path: Path) -> None:
    """Bring a file, or a folder's names, to the disk: a power cut finds it there."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def _written_aside(path: Path, text: str) -> Iterator[Path]:
    """A temporary file with that text on the disk, in the folder of ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:40]}-", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def time_of(given: Any, default: datetime | None) -> datetime:
    """A time with time zone, UTC if it names none; ``default`` for None.

    Raises:
        ValueError: It is no time.
    """
    if isinstance(given, str):
        given = datetime.fromisoformat(given)
    if isinstance(given, date) and not isinstance(given, datetime):
        given = datetime(given.year, given.month, given.day, tzinfo=UTC)
    given = default if given is None else given
    if not isinstance(given, datetime):
        raise ValueError(f"{given!r} is no time")
    return given if given.tzinfo else given.replace(tzinfo=UTC)
