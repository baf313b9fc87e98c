"""A copy of an event log, up to an event, with the prompts that its thoughts name."""

from __future__ import annotations

import gzip
from pathlib import Path

from game.mind.events import prompts as event_prompts
from game.mind.events import writer
from game.mind.events.files import SUFFIX, LogFile, files_of, number_of
from game.mind.json_lines import parsed


def copy_log(source: Path, target: Path, seq: int | None) -> int:
    """Copy the event log; it may be written to meanwhile.

    Returns:
        How many events were copied.

    Raises:
        OSError: It cannot be read or written.
    """
    prompts: set[str] = set()
    count = 0
    for file in files_of(source, writer.STEM):
        if seq is not None and file.first > seq:
            break
        lines = [line for line in file.lines() if seq is None or number_of(line) <= seq]
        count += len(lines)
        prompts.update(str(parsed(line).get("prompt") or "") for line in lines)
        _write(target, file, lines)
    for file in files_of(source, event_prompts.STEM):
        lines = file.lines()
        named = [place for place, line in enumerate(lines) if parsed(line).get("hash") in prompts]
        # What a prompt rests on stands above it.
        _write(target, file, lines[: named[-1] + 1] if named else [])
    return count


def _write(target: Path, file: LogFile, lines: list[bytes]) -> None:
    if not lines:
        return
    target.mkdir(parents=True, exist_ok=True)
    data = b"".join(line + b"\n" for line in lines)
    if file.packed:
        (target / file.path.name).write_bytes(gzip.compress(data, mtime=0))
    else:  # under the name that it was read by: it may have been compressed meanwhile
        (target / f"{file.path.name.partition('.')[0]}{SUFFIX}").write_bytes(data)
