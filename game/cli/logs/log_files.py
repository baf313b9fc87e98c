"""Reads log files: their end, and what is added to them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

_BLOCK = 65536


def tail(path: Path, lines: int) -> list[str]:
    """The last lines of a file, without their ends; none when there is no such file."""
    if lines <= 0:
        return []
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _BLOCK - lines * 500))
            return [line.rstrip("\n") for line in deque(file, maxlen=lines)]
    except FileNotFoundError:
        return []


def follow(path: Path, *, poll: float = 0.3) -> Iterator[str]:
    """Each line that is added from this call on; never ends.

    The file may not exist yet, and may be rotated away or cut: reading goes on with the
    one that takes its place.
    """
    return _added_lines(path, poll, *_end(path))


def _added_lines(path: Path, poll: float, position: int, inode: int) -> Iterator[str]:
    pending = ""
    while True:
        added, position, inode = _added(path, position, inode)
        *complete, pending = (pending + added).split("\n")
        yield from complete
        if not complete:
            time.sleep(poll)


def _end(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_ino


def _added(path: Path, position: int, inode: int) -> tuple[str, int, int]:
    size, present = _end(path)
    if present != inode or size < position:
        position = 0
    if size == position:
        return "", position, present
    with path.open("rb") as file:
        file.seek(position)
        data = file.read(_BLOCK)
    return data.decode("utf-8", "replace"), position + len(data), present
