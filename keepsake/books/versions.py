"""Earlier versions of the files of an agent's books that people edit on a page.

``vault/agents/<name>/versions/<book>/`` has a copy of each file as it was before an edit. Its name
is that of the file with the time of the edit: ``tom-12-20261101090000~20261129T101502123456.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keepsake.files import replace_file

VERSIONS = "versions"
"""The subfolder of an agent's folder."""
MOST_VERSIONS = 20
"""The most versions of one file; the oldest go first."""
STAMP = "~"
"""Stands between the name of a file and the time."""
_TIME = "%Y%m%dT%H%M%S%f"


@dataclass(frozen=True, slots=True)
class Version:
    """One earlier version.

    Attributes:
        id: The time in the form of the file's name; unique for one file.
        until: When it was replaced.
    """

    id: str
    until: datetime
    text: str


class Versions:
    """The earlier versions of the files of one book; all methods read or write files.

    Args:
        folder: ``vault/agents/<name>``.
        book: The book's name: ``journal``.
    """

    def __init__(self, folder: Path, book: str) -> None:
        self._folder = folder / VERSIONS / book

    def keep(self, path: Path, text: str, now: datetime) -> None:
        """Keep the text that a file has now; the same text is not kept twice in a row.

        Raises:
            OSError: It cannot be written.
        """
        before = self._paths(path)
        if before and before[-1].read_text("utf-8") == text:
            return
        replace_file(self._new(path, now), text)
        for old in self._paths(path)[:-MOST_VERSIONS]:
            old.unlink(missing_ok=True)

    def of(self, path: Path) -> list[Version]:
        """Return the earlier versions of a file, the newest first."""
        return [
            Version(
                id=each.stem.rpartition(STAMP)[2],
                until=_time_of(each),
                text=each.read_text("utf-8"),
            )
            for each in reversed(self._paths(path))
        ]

    def _new(self, path: Path, now: datetime) -> Path:
        """Return a path that is free: a clock may stand still, or be set back."""
        last = self._paths(path)[-1:]
        if last:
            now = max(now, _time_of(last[0]) + timedelta(microseconds=1))
        return self._folder / f"{path.stem}{STAMP}{now.astimezone(UTC):{_TIME}}{path.suffix}"

    def _paths(self, path: Path) -> list[Path]:
        """Return the files of the versions, the oldest first."""
        if not self._folder.is_dir():
            return []
        start = f"{path.stem}{STAMP}"
        return sorted(
            each
            for each in self._folder.iterdir()
            if each.name.startswith(start) and each.suffix == path.suffix and _is_stamp(each)
        )


def _time_of(path: Path) -> datetime:
    return datetime.strptime(path.stem.rpartition(STAMP)[2], _TIME).replace(tzinfo=UTC)


def _is_stamp(path: Path) -> bool:
    try:
        _time_of(path)
    except ValueError:
        return False
    return True
