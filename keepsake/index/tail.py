"""Reads an archive from where it was left, and notices when it is another one.

The archive only ever grows, so what was read once need not be read again: a mark says
how far. It also says what stood before it; after a power cut or a restored copy the archive may
have lost lines that an index already knows, and where somebody is forgotten it has other ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from keepsake.archive.forgetting import FORGOTTEN
from keepsake.json_lines import Record, parsed


@dataclass(frozen=True, slots=True)
class Mark:
    """A place between two lines of an archive."""

    segment: str = ""  # file name; empty for the very beginning
    offset: int = 0  # bytes of it that were read
    length: int = 0  # bytes of the line before, its end included; 0 at the start of a segment
    digest: str = ""  # of that line
    chain: str = ""  # of the digests of all lines before; an earlier version's mark has none


class ArchiveChanged(Exception):
    """What stood before the mark is no longer there."""


def read(folder: Path, mark: Mark) -> Iterator[tuple[Mark, Record | None]]:
    """Every ended line after the mark.

    Yields:
        The place after the line, and what it says; None for a line that cannot be read.

    Raises:
        ArchiveChanged: The archive is not the one that the mark was made in. Only the line before
            the mark is looked at; :func:`compared` looks at all.
    """
    if mark.segment:
        _check(folder, mark)
    return ((after, parsed(line) or None) for after, line in _lines(folder, mark))


def compared(folder: Path, mark: Mark) -> Mark:
    """The mark, where all that stands before it is what it was; reads the archive up to there.

    Raises:
        ArchiveChanged: It is not. A mark that cannot tell, as an earlier version made it, counts
            as changed where somebody was forgotten.
    """
    if not mark.segment:
        return mark
    forgotten = False
    for after, line in _lines(folder, Mark()):
        forgotten = forgotten or f'"{FORGOTTEN}"'.encode() in line
        if (after.segment, after.offset) == (mark.segment, mark.offset):
            if after.chain == mark.chain or not (mark.chain or forgotten):
                return replace(mark, chain=after.chain)
            break
    raise ArchiveChanged(f"what stood before byte {mark.offset} of {mark.segment} is not there")


def _lines(folder: Path, mark: Mark) -> Iterator[tuple[Mark, bytes]]:
    chain = mark.chain
    for path in sorted(folder.glob("[0-9]*.jsonl")):
        if path.name < mark.segment:
            continue
        offset = mark.offset if path.name == mark.segment else 0
        with path.open("rb") as file:
            file.seek(offset)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # just being written
                offset, last = offset + len(line), digest(line)
                chain = digest((chain + last).encode())
                yield Mark(path.name, offset, len(line), last, chain), line


def _check(folder: Path, mark: Mark) -> None:
    try:
        with (folder / mark.segment).open("rb") as file:
            file.seek(max(mark.offset - mark.length, 0))
            line = file.read(mark.length)
    except FileNotFoundError:
        raise ArchiveChanged(f"{mark.segment} is gone") from None
    if mark.length and digest(line) != mark.digest:
        raise ArchiveChanged(f"{mark.segment} is not what it was before byte {mark.offset}")


def digest(line: bytes) -> str:
    """Tells one text from another."""
    return hashlib.sha256(line).hexdigest()[:16]
