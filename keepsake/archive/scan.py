"""A look at an archive that somebody else may have open, as far as time and bytes allow."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from keepsake.archive.integrity import numbering_problems
from keepsake.archive.log import segment_sizes


@dataclass(frozen=True, slots=True)
class ArchiveScan:
    """What was seen of one archive, the newest segments first."""

    lines: int = 0
    done: int = 0  # how many bytes
    total: int = 0  # of how many
    newest: datetime | None = None
    problems: tuple[str, ...] = ()


def scan(folder: Path, most: int, late: Callable[[], bool]) -> ArchiveScan:
    """Read the newest ``most`` bytes, and at least one segment, until it is ``late``."""
    try:
        sizes = sorted(segment_sizes(folder).items(), reverse=True)
    except OSError as error:
        return ArchiveScan(problems=(_unreadable(folder, error),))
    lines = done = 0
    newest: datetime | None = None
    problems: list[str] = []
    follows = 0
    for name, size in sizes:
        if done and (done + size > most or late()):
            break
        try:
            whole = (folder / name).read_bytes().split(b"\n")[:-1]
        except OSError as error:
            problems.append(_unreadable(folder / name, error))
            continue
        numbers, times, wrong = _read(whole, name)
        problems += wrong + numbering_problems(numbers, int(name.partition(".")[0]))
        if numbers and follows and numbers[-1] + 1 < follows:
            problems.append(f"memories {numbers[-1] + 1}-{follows - 1} are missing after {name}")
        newest = newest or (times[-1] if times else None)
        follows = int(name.partition(".")[0])
        lines, done = lines + len(whole), done + size
    return ArchiveScan(lines, done, sum(size for _, size in sizes), newest, tuple(problems))


def _read(lines: list[bytes], name: str) -> tuple[list[int], list[datetime], list[str]]:
    """The numbers and times of the memories in a segment, and what cannot be read of it."""
    numbers: list[int] = []
    times: list[datetime] = []
    problems = []
    for index, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            if record["type"] == "memory":
                numbers.append(int(record["n"]))
                times.append(datetime.fromisoformat(record["t"]))
        except (ValueError, KeyError, TypeError):
            problems.append(f"line {index} of {name} cannot be read")
    return numbers, times, problems


def _unreadable(path: Path, error: OSError) -> str:
    return f"{path.name} cannot be read ({error.strerror or error})"
