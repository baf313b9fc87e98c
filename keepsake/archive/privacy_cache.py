"""Which memories of an archive are private, kept in a file, so that a start reads only new lines.

The file says how far the archive was read, and by which segments it recognises that archive. If the
archive is another one (a restored backup, another vault), or was rewritten (``forget me``), the
whole archive is read again. The file may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.archive.privacy import Audience
from keepsake.archive.records import memories_in
from keepsake.json_lines import in_json, parsed

AT_ONCE_BYTES = 65_536
"""The size of an archive that is read at once when it is opened: about 200 memories, which takes
half a millisecond, and four if an early version wrote them."""
_SAVE_AFTER_BYTES = 1_000_000
"""How much must be read before the file is written again: about 3,500 memories, 5 ms."""
_TAIL_BYTES = 4096
"""How much of the archive before the position is compared, by its hash."""
_VERSION = 1

type _Segment = tuple[str, int, int]
"""The name of a complete segment, its size in bytes, and its time of change in nanoseconds."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known about an archive up to a position.

    Attributes:
        segment: The name of the segment in which the position is; empty at the very beginning.
        offset: The bytes of that segment that were read.
        before: The complete segments before it.
        tail: A hash of the last bytes before the position.
        shared: The identities of the others who know a private memory, by its number.
    """

    segment: str = ""
    offset: int = 0
    before: Sequence[_Segment] = ()
    tail: str = ""
    shared: Mapping[int, Audience] = field(default_factory=dict)


class PrivacyCache:
    """The private memories of one archive, and the file that keeps them.

    Args:
        path: The file, such as ``$KEEPSAKE_HOME/index/Mira/private.json``.
    """

    def __init__(self, archive: Archive, path: Path) -> None:
        self._archive = archive
        self._path = path

    def read(self) -> Mapping[int, Audience]:
        """Return who else knows each private memory, by its number; blocks.

        Raises:
            OSError: The archive cannot be read. A file that cannot be written is no error.
        """
        known = self._load()
        shared = dict(known.shared)
        position = known.segment, known.offset
        count = 0
        for name, end, line in self._archive.lines_after(*position):
            position = name, end
            count += len(line)
            if _may_be_private(line):
                for memory in memories_in([parsed(line)]):
                    confidants = memory.confidants
                    if confidants is not None:
                        shared[memory.number] = confidants
        if count >= _SAVE_AFTER_BYTES:
            self._save(*position, shared)
        return shared

    def _load(self) -> _Known:
        """Read the file; return an empty one if it is missing, damaged, or of another archive."""
        try:
            text = self._path.read_text(encoding="utf-8")
        except OSError:
            return _Known()
        try:
            known = _from_json(json.loads(text))
            if self._is_ours(known):
                return known
        except (ValueError, KeyError, TypeError, AttributeError, OSError):
            pass
        self._path.unlink(missing_ok=True)  # it may name people who were forgotten
        return _Known()

    def _is_ours(self, known: _Known) -> bool:
        paths = {path.name: path for path in self._archive.segments()}
        path = paths.get(known.segment)
        if path is None or path.stat().st_size < known.offset:
            return False
        before = tuple(self._before(known.segment))
        return before == tuple(known.before) and _tail(path, known.offset) == known.tail

    def _before(self, segment: str) -> Iterator[_Segment]:
        for path in self._archive.segments():
            if path.name < segment:
                stat = path.stat()
                yield path.name, stat.st_size, stat.st_mtime_ns

    def _save(self, segment: str, offset: int, shared: Mapping[int, Audience]) -> None:
        record = {
            "version": _VERSION,
            "segment": segment,
            "offset": offset,
            "before": list(self._before(segment)),
            "tail": _tail(self._archive.folder / segment, offset),
            "shared": {str(number): sorted(ids) for number, ids in shared.items()},
        }
        unfinished = self._path.with_suffix(".tmp")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(in_json(record))
            unfinished.replace(self._path)
        except OSError:
            return  # the next start reads the archive again


def _from_json(record: Mapping[str, Any]) -> _Known:
    if record["version"] != _VERSION:
        raise ValueError(f"version {record['version']} is not {_VERSION}")
    return _Known(
        segment=str(record["segment"]),
        offset=int(record["offset"]),
        before=tuple((str(name), int(size), int(time)) for name, size, time in record["before"]),
        tail=str(record["tail"]),
        shared={int(number): frozenset(ids) for number, ids in record["shared"].items()},
    )


def _tail(path: Path, offset: int) -> str:
    """Return a hash of the last bytes of a file before an offset."""
    start = max(offset - _TAIL_BYTES, 0)
    with path.open("rb") as file:
        file.seek(start)
        return hashlib.blake2b(file.read(offset - start), digest_size=16).hexdigest()


def _may_be_private(line: bytes) -> bool:
    """Return whether a line must be parsed to find out who knows its memory; quick.

    Most lines name their fields, and neither a whisper nor witnesses. Inside a JSON string every
    quotation mark has a backslash before it, so no text can look like a field. Lines of early
    versions have no field ``what``, and are parsed.
    """
    if line.startswith(LineType.REPEAT.start):
        return False
    is_new = line.startswith(LineType.MEMORY.start) and b'"what":"' in line
    return not is_new or b'"whisper"' in line or b'"witnesses":' in line
