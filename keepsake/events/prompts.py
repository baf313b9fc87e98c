"""The prompts of the event log: each text stored once, under its hash.

A thought's prompt is mostly the one before it with a few lines more, so a line of the file
says how much of an earlier one it keeps and what follows. What it rests on always stands in
the same file, above it: every file can be read, and thrown away, by itself.

Whatever reads or writes here blocks, and raises OSError where the disk refuses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from keepsake.events.files import LineWriter, files_of
from keepsake.events.types import VERSION
from keepsake.json_lines import Record, ended_lines, parsed

STEM = "prompts"
HASH_SIGNS = 32
"""Hexadecimal signs of a hash: 128 bits of SHA-256."""
DEEPEST = 50
"""Prompts that one may rest on before a whole one is stored again."""
_LEAST_KEPT = 200
"""Characters below which it is not worth resting on an earlier one."""
_ENCODER = json.JSONEncoder(separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class _Last:
    """The newest prompt of one agent in the present file."""

    hash: str
    text: str
    depth: int


def hash_of(text: str) -> str:
    """What a prompt is called in the log."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_SIGNS]


class PromptWriter:
    """Stores prompts; for one thread."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.lines = LineWriter(folder, STEM, limit)
        self._stored: set[str] = set()
        """Hashes of the prompts that this process wrote into the present file."""
        self._last: dict[str, _Last] = {}

    def store(self, agent: str, text: str, day: date, number: int) -> str:
        """Store a prompt of that agent, and give its hash.

        Raises:
            OSError: The disk refused.
        """
        name, last = hash_of(text), self._last.get(agent)
        data, depth = _line(name, text, last)
        if self.lines.begins_new(day, len(data)):  # nothing may rest on the file before
            self._stored, self._last = set(), {}
            data, depth = _line(name, text, None)
        elif name in self._stored:
            return name
        self.lines.write(data, day, number)
        self._stored.add(name)
        self._last[agent] = _Last(name, text, depth)
        return name


def _line(name: str, text: str, last: _Last | None) -> tuple[bytes, int]:
    """The line of a prompt, and on how many others that rests."""
    record: Record = {"v": VERSION, "hash": name}
    kept = shared(last.text, text) if last is not None and last.depth < DEEPEST else 0
    if last is None or kept < _LEAST_KEPT:
        return _json(record | {"text": text}), 0
    return _json(record | {"base": last.hash, "keep": kept, "text": text[kept:]}), last.depth + 1


def _json(record: Record) -> bytes:
    # Escaped, so that half a surrogate pair that a model made comes back as it was.
    return _ENCODER.encode(record).encode() + b"\n"


def shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike; some ten comparisons."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class PromptStore:
    """Gives prompts back by their hash."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._packed: dict[int, dict[str, Record]] = {}

    def text(self, name: str, number: int | None = None) -> str | None:
        """The prompt of that hash; None if it is not (or no longer) there. Blocks.

        ``number``: The number of the thought, which tells in which file to look first.
        """
        files = files_of(self._folder, STEM)
        if number is not None:  # the last file that was begun before the thought
            files.sort(key=lambda file: (file.first <= number, file.first))
        for file in reversed(files):
            records = self._packed.get(file.first)
            if records is None:
                records = {str(each["hash"]): each for each in _records(file.read())}
                if file.packed:  # it never changes again; one is kept, the last that was read
                    self._packed = {file.first: records}
            if name in records:
                return _text(records, name)
        return None

    def each(self, names: Collection[str]) -> Iterator[tuple[str, str]]:
        """The prompts of those hashes, each once, in the order in which they were stored."""
        given: set[str] = set()
        for file in files_of(self._folder, STEM):
            records = {str(each["hash"]): each for each in _records(file.read())}
            for name in records:
                if name in names and name not in given and (text := _text(records, name)):
                    given.add(name)
                    yield name, text


def _text(records: dict[str, Record], name: str) -> str | None:
    """The text, from the one that it rests on; None if that is broken."""
    ends: list[tuple[int, str]] = []
    while (record := records.get(name)) is not None and len(ends) <= DEEPEST + 1:
        ends.append((int(record.get("keep", 0)), str(record["text"])))
        if "base" not in record:
            text = ""
            for kept, rest in reversed(ends):
                text = text[:kept] + rest
            return text
        name = str(record["base"])
    return None


def _records(data: bytes) -> list[Record]:
    return [each for each in map(parsed, ended_lines(data)) if "hash" in each and "text" in each]
