"""Memories for tests, written as lines: the form of early archives."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from keepsake.archive.old_lines import what_of
from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import What


def old_memory(  # noqa: PLR0917 - as the fields of an archive line
    number: int,
    time: datetime,
    kind: MemoryKind,
    text: str,
    place: str = "",
    source: str = "",
    **facts: Any,
) -> Memory:
    """Return the memory that an archive line of an early version holds."""
    record = {"n": number, "t": time.isoformat(), "kind": kind, "text": text, "place": place}
    return Memory.from_record({**record, "source": source, **facts})


def seen(text: str, source: str = "", source_id: str = "", event: str = "") -> What:
    """Return what a line says that an agent perceived: ``Tom says, "Hello."``."""
    return what_of({"text": text, "source": source, "source_id": source_id, "event": event})


def did(line: str, to: str = "", to_id: str = "") -> What:
    """Return an own act of an agent, as the line of a script: ``say Hello.``."""
    return what_of({"kind": MemoryKind.ACT, "text": line, "to": to, "to_id": to_id})


def got(text: str) -> What:
    """Return the result of an own act of an agent."""
    return what_of({"kind": MemoryKind.RESULT, "text": text})
