"""Reads an archive from where it was left, and notices when it is another one.

The archive only ever grows, so what was read once need not be read again: a mark says
how far. It also says which line stood before it; after a power cut or a restored copy the
archive may have lost lines that an index already knows, and the mark shows it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mark:
    """A place between two lines of an archive."""

    segment: str = ""  # file name; empty for the very beginning
    offset: int = 0  # bytes of it that were read
    length: int = 0  # bytes of the line before, its end included; 0 at the start of a segment
    digest: str = ""  # of that line


class ArchiveChanged(Exception):
    """What stood before the mark is no longer there."""


def read(folder: Path, mark: Mark) -> Iterator[tuple[Mark, Record | None]]:
    """Every ended line after the mark.

    Yields:
        The place after the line, and what it says; None for a line that cannot be read.

    Raises:
        ArchiveChanged: The archive is not the one that the mark was made in.
    """
    names = sorted(path.name for path in folder.glob("[0-9]*.jsonl"))
    if mark.segment:
        _check(folder, mark, names)
        names = [name for name in names if name >= mark.segment]
    for name in names:
        before = mark if name == mark.segment else Mark(name)
        with (folder / name).open("rb") as file:
            file.seek(before.offset)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # just being written
                after = Mark(name, before.offset + len(line), len(line), digest(line))
                yield after, _parse(line)
                before = after


def _check(folder: Path, mark: Mark, names: list[str]) -> None:
    if mark.segment not in names:
        raise ArchiveChanged(f"{mark.segment} is gone")
    with (folder / mark.segment).open("rb") as file:
        file.seek(max(mark.offset - mark.length, 0))
        line = file.read(mark.length)
    if mark.length and digest(line) != mark.digest:
        raise ArchiveChanged(f"{mark.segment} is not what it was before byte {mark.offset}")


def digest(line: bytes) -> str:
    """Tells one text from another."""
    return hashlib.sha256(line).hexdigest()[:16]


def _parse(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
