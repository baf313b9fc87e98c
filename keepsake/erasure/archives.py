"""Deletes a person's memories from an agent's archive.

The archive is append-only, with this one exception. A deleted line leaves a tombstone with its
number, its time and the SHA-256 of the original line. So every memory number still occurs exactly
once, and nobody can insert another memory in its place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from keepsake.archive.line_types import LineType
from keepsake.archive.message_types import MessageType
from keepsake.archive.records import Memory, memories_in
from keepsake.erasure.texts import TextCleaner
from keepsake.erasure.traces import AgentMemories, Traces
from keepsake.files import replace_file
from keepsake.json_lines import in_json, parsed

_TOMBSTONE = ("type", "n", "t", "kind", "place")
"""The fields of a memory that its tombstone keeps."""


def segments_of(folder: Path) -> list[Path]:
    """Return the files of an agent's archive, oldest first. ``folder``: ``vault/agents/<name>``."""
    return sorted((folder / "archive").glob("*.jsonl"))


def memories_of(folder: Path, name: str = "", profile: str = "") -> AgentMemories:
    """Return the memories of an agent for :meth:`Traces.collect`.

    ``folder``: ``vault/agents/<name>``. ``name``, ``profile``: The agent's name and persona.
    """

    def read() -> Iterator[Memory]:
        for segment in segments_of(folder):
            records = map(parsed, segment.read_bytes().splitlines())
            yield from (
                each for each in memories_in(records) if each.event != MessageType.FORGOTTEN
            )

    return AgentMemories(folder.name, name or folder.name, read, profile)


class ArchiveCleaner:
    """Deletes a person's memories from the archive of one agent. Nobody has it open meanwhile."""

    name = "archive"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def clean(self, traces: Traces) -> None:
        """Replace each segment that has something of the person, the newest first."""
        for path in (self._folder / "archive").glob("*"):
            # Torn lines and unfinished files, which the archive does not read.
            if path.suffix in (".txt", ".tmp"):
                path.unlink()
        agent = self._folder.name
        texts = TextCleaner(traces, agent)
        for segment in reversed(segments_of(self._folder)):
            rewrite(segment, lambda record, line: _cleaned(record, line, texts, agent))


def _cleaned(record: dict[str, Any], line: str, texts: TextCleaner, agent: str) -> dict[str, Any]:
    if record.get("type") != LineType.MEMORY:
        return texts.cleaned_line(record)
    if record.get("event") == MessageType.FORGOTTEN:
        return record
    traces = texts.traces
    if traces.involves(agent, Memory.from_record(record)):
        kept = {key: record[key] for key in _TOMBSTONE if key in record}
        digest = hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()
        return kept | {
            "text": MessageType.FORGOTTEN,
            "event": MessageType.FORGOTTEN,
            "sha256": digest,
        }
    key = traces.person.key
    for name in ("witnesses", "allowed_by"):
        if key in record.get(name, ()):
            record = record | {name: [each for each in record[name] if each != key]}
    return record


def rewrite(path: Path, change: Callable[[dict[str, Any], str], dict[str, Any]]) -> None:
    """Rewrite a file of JSON lines. Unreadable lines are deleted: their owner is unknown.

    The file is replaced as a whole, and only if something changes: a process that is killed leaves
    either the old file or the new one.

    Raises:
        OSError: The file cannot be read or written.
    """
    lines = []
    # Not splitlines(): it also splits at line separators inside a text.
    text = path.read_text(encoding="utf-8", errors="replace")
    *whole, torn = text.split("\n")
    for line in (*whole, torn) if torn else whole:
        try:
            record = json.loads(line)
            changed = change(record, line)
            lines.append(line if changed == record else in_json(changed))
        except (ValueError, KeyError, TypeError, AttributeError):
            lines.append(json.dumps({"type": "damaged", "text": MessageType.FORGOTTEN}))
    new = "\n".join(lines) + ("\n" if lines else "")
    if new != text:
        replace_file(path, new)
