"""Reads text logs: their end, and what is added to them."""

from __future__ import annotations

import subprocess
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


def follow(path: Path, lines: int) -> Iterator[str]:
    """The last lines, and each that is added; never ends.

    The file may not exist yet, and may be rotated away or cut: the system's ``tail`` goes on with
    the one that takes its place.
    """
    with subprocess.Popen(
        ["tail", "-n", str(lines), "-F", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # where it tells of such changes
        encoding="utf-8",
        errors="replace",
    ) as reader:
        try:
            yield from (line.rstrip("\n") for line in reader.stdout or ())
        finally:
            reader.terminate()
