"""Reads text logs: their end, and what is added to them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path


def tail(path: Path, lines: int) -> list[str]:
    """The last lines of a file, without their ends; none when there is no such file."""
    return list(_tail("-n", str(lines), str(path)))


def follow(path: Path, lines: int) -> Iterator[str]:
    """The last lines, and each that is added; never ends.

    The file may not exist yet, and may be rotated away or cut: the system's ``tail`` goes on with
    the one that takes its place.
    """
    return _tail("-n", str(lines), "-F", str(path))


def _tail(*arguments: str) -> Iterator[str]:
    with subprocess.Popen(
        ["tail", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # where it tells of such changes
        encoding="utf-8",
        errors="replace",
    ) as reader:
        try:
            yield from (line.rstrip("\n") for line in reader.stdout or ())
        finally:
            reader.terminate()
