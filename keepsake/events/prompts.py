"""The prompts of the event log: each text stored once, under its hash.

A thought's prompt mostly begins as the agent's earlier ones do, so a line of the file says how
much it keeps of one that was stored whole, and what follows. That one always stands in the same
file, above it: every file can be read, and thrown away, by itself.

Whatever reads or writes here blocks, and raises OSError where the disk refuses.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Collection, Iterator
from datetime import date
from pathlib import Path

from keepsake.events.files import LineWriter, LogFile, files_of
from keepsake.events.types import VERSION
from keepsake.json_lines import Record, line_of, parsed

STEM = "prompts"
HASH_SIGNS = 32
"""Hexadecimal signs of a hash: 128 bits of SHA-256."""
_KEPT = 0.75
"""The part of a prompt that an earlier one has to begin with, or it is stored whole."""


def hash_of(text: str) -> str:
    """What a prompt is called in the log."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_SIGNS]


class PromptWriter:
    """Stores prompts; for one thread."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.lines = LineWriter(folder, STEM, limit)
        # What this process wrote into the present file, by hash; of each agent the last whole one,
        # hash and text.
        self._stored: set[str] = set()
        self._whole: dict[str, tuple[str, str]] = {}

    def store(self, agent: str, text: str, day: date, number: int) -> str:
        """Store a prompt of that agent, and give its hash.

        Raises:
            OSError: The disk refused.
        """
        name = hash_of(text)
        record = _record(name, text, *self._whole.get(agent, ("", "")))
        if self.lines.begins_new(day, len(line := line_of(record))):
            self._stored, self._whole = set(), {}  # nothing may rest on the file before
            line = line_of(record := _record(name, text))
        elif name in self._stored:
            return name
        self.lines.write(line, day, number)
        self._stored.add(name)
        if "base" not in record:
            self._whole[agent] = name, text
        return name


def _record(name: str, text: str, base: str = "", whole: str = "") -> Record:
    record: Record = {"v": VERSION, "hash": name}
    most = range(1, min(len(whole), len(text)) + 1)
    kept = bisect_left(most, True, key=lambda signs: whole[:signs] != text[:signs])
    if kept and kept >= _KEPT * len(text):
        return record | {"base": base, "keep": kept, "text": text[kept:]}
    return record | {"text": text}


def prompt_text(folder: Path, name: str, number: int) -> str | None:
    """The prompt of that hash, sent for the thought of that number; None if it is gone. Blocks."""
    files = [file for file in files_of(folder, STEM) if file.first <= number]
    return next((text for each, text in _texts(files[-1]) if each == name), None) if files else None


def prompts_of(folder: Path, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """The prompts of those hashes, each once, in the order in which they were stored; blocks."""
    given: set[str] = set()
    for file in files_of(folder, STEM):
        for name, text in _texts(file):
            if name in names and name not in given:
                given.add(name)
                yield name, text


def _texts(file: LogFile) -> Iterator[tuple[str, str]]:
    """The prompts of a file; without those whose base is on a broken line."""
    whole: dict[str, str] = {}
    for record in map(parsed, file.lines()):
        name, text = str(record.get("hash")), record.get("text")
        if not isinstance(text, str):
            continue
        if "base" not in record:
            whole[name] = text
            yield name, text
        elif (base := whole.get(str(record["base"]))) is not None and "keep" in record:
            yield name, base[: int(record["keep"])] + text
