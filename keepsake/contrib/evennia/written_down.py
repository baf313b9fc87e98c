"""What is written down of builders' doings and of players' reports.

Each is a line of JSON, which nobody changes later. The files rotate as the event log's do, and so
many of them are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from keepsake.events.files import LineWriter, files_of
from keepsake.json_lines import line_of, lines_from_end, parsed

AUDIT, REPORTS = "audit", "reports"
"""How the names of the files begin."""
FILE_BYTES, MOST_FILES = 1_000_000, 400
"""Of one file, and how many are kept: more than a year, as each day begins one."""
LONGEST = 1000
"""Characters of one typed line that are kept."""


def keep(name: str, **facts: Any) -> None:
    """Append a line; it is with the operating system when this returns.

    Raises:
        OSError: The disk refused.
    """
    now, folder = datetime.now(UTC), Path(settings.LOG_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    lines = LineWriter(folder, name, FILE_BYTES, MOST_FILES)
    number = lines.last_number() + 1
    record = {"seq": number, "t": now.isoformat(timespec="milliseconds")} | facts
    try:
        lines.write(line_of(record), now.date(), number)
    finally:
        if lines.file is not None:  # not `lines.close`, which waits for the disk
            lines.file.close()


def newest(name: str, most: int) -> list[dict[str, Any]]:
    """The newest lines, oldest first; those that cannot be read are passed over."""
    found: list[dict[str, Any]] = []
    for line in _from_end(Path(settings.LOG_DIR), name):
        if record := parsed(line):
            found.append(record)
        if len(found) == most:
            break
    return found[::-1]


def _from_end(folder: Path, name: str) -> Iterator[bytes]:
    for file in reversed(files_of(folder, name)):
        with suppress(OSError):  # a damaged one hides no other
            yield from file.lines_from_end()
    with suppress(FileNotFoundError), (folder / f"{name}.jsonl").open("rb") as old:
        yield from lines_from_end(old)  # of versions that did not rotate
