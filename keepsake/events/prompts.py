"""The prompts of the event log: each text stored once, under its hash.

An agent's prompts mostly begin alike. So a line of the file may hold only the hash of an earlier
prompt that was stored whole (the base), the number of characters kept of it, and the text that
follows. Whole lines are kept: in a line of two pieces ``forget me`` would miss a name, or overwrite
a part of another word. The base is always further up in the same file: each file can be read or
deleted by itself.

Functions that read or write block, and raise OSError if the disk refuses.
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
HASH_DIGITS = 32
"""Hexadecimal digits of a hash: 128 bits of SHA-256."""
_KEPT = 0.75
"""The share of a prompt that it must have in common with its base; with less it is stored whole."""


def hash_of(text: str) -> str:
    """Return the hash that stands for a prompt in the log."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


class PromptWriter:
    """Stores prompts; for one thread."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.lines = LineWriter(folder, STEM, limit)
        # Hashes of the prompts that this process wrote into the current file.
        self._stored: set[str] = set()
        self._whole: dict[str, tuple[str, str]] = {}  # by agent, its last base: hash and text

    def store(self, agent: str, text: str, day: date, number: int) -> str:
        """Store a prompt of that agent, and return its hash.

        Args:
            day: The day on which it was sent.
            number: The number of its thought's event.

        Raises:
            OSError: The disk refused.
        """
        name = hash_of(text)
        record = _record(name, text, *self._whole.get(agent, ("", "")))
        line = line_of(record)
        if self.lines.begins_new(day, len(line)):
            self._stored = set()
            self._whole = {}  # no base may be in an earlier file
            record = _record(name, text)
            line = line_of(record)
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
    kept = text.rfind("\n", 0, kept) + 1
    if kept and kept >= _KEPT * len(text):
        return record | {"base": base, "keep": kept, "text": text[kept:]}
    return record | {"text": text}


def prompt_text(folder: Path, name: str, number: int) -> str | None:
    """Return the prompt with that hash, sent for thought ``number``; None if it is gone. Blocks."""
    files = [file for file in files_of(folder, STEM) if file.first <= number]
    return next((text for each, text in _texts(files[-1]) if each == name), None) if files else None


def prompts_of(folder: Path, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the prompts with those hashes and their hashes, each once, oldest first; blocks."""
    given: set[str] = set()
    for file in files_of(folder, STEM):
        for name, text in _texts(file):
            if name in names and name not in given:
                given.add(name)
                yield name, text


def _texts(file: LogFile) -> Iterator[tuple[str, str]]:
    """Yield hash and text of a file's prompts, except those whose base is on a broken line."""
    whole: dict[str, str] = {}
    for record in map(parsed, file.lines()):
        name = str(record.get("hash"))
        text = record.get("text")
        if not isinstance(text, str):
            continue
        if "base" not in record:
            whole[name] = text
            yield name, text
        elif (base := whole.get(str(record["base"]))) is not None and "keep" in record:
            yield name, base[: int(record["keep"])] + text
