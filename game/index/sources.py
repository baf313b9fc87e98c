"""What the archive's lines and the notes bring into an index, as documents."""

from __future__ import annotations

from datetime import UTC, datetime

from game.index import tail
from game.index.tail import Record
from game.mind.archive.records import Memory, MemoryKind, Summary
from game.mind.books.notes import Note
from game.mind.recall.documents import Document, DocumentKind


def text_of(document: Document) -> str:
    """What is embedded: a memory's bare text, a note with its title."""
    return f"{document.title}: {document.text}" if document.title else document.text


def digest(document: Document) -> str:
    """Differs when the text does."""
    return tail.digest(document.text.encode("utf-8", "replace"))


def memory_document(memory: Memory, agent: str) -> Document:
    """A raw memory; what the agent did itself has its name for a speaker."""
    return Document(
        key=f"memory:{memory.number}",
        kind=DocumentKind.MEMORY,
        text=memory.told,
        time=_with_zone(memory.time),
        first=memory.number,
        last=memory.number,
        speaker=agent if memory.kind is MemoryKind.ACT else memory.source,
        place=memory.place,
    )


def summary_document(number: int, summary: Summary) -> Document:
    """The short-term summary of compaction ``number``."""
    return Document(
        key=f"summary:{number}",
        kind=DocumentKind.SUMMARY,
        text=summary.text,
        time=_with_zone(summary.time),
        first=summary.first,
        last=summary.last,
    )


def note_document(note: Note) -> Document:
    """A note as it is now."""
    return Document(
        key=note.key,
        kind=DocumentKind.NOTE,
        text=note.text,
        time=note.updated,
        place=note.place,
        title=note.title,
    )


def _with_zone(time: datetime) -> datetime:
    """A time that a person wrote into an archive may lack its zone, and could not be compared."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def memory_number(record: Record | None) -> int:
    """The number of a memory, 0 for any other line."""
    if record is None or record.get("type") != "memory":
        return 0
    number = record.get("n")
    return number if isinstance(number, int) else 0
