"""What the archive's lines and the notes bring into an index, as documents."""

from __future__ import annotations

from datetime import UTC, datetime

from game.index import tail
from game.index.tail import Record
from game.mind.archive.records import Memory, MemoryKind, Summary
from game.mind.books.notes import Note
from game.mind.recall.documents import Document, DocumentKind


def first_hand(document: Document) -> bool:
    """Whether its text may change, so that its digest is kept."""
    return document.kind is not DocumentKind.MEMORY


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


def edited_summary(known: tuple[int, int, int], text: str, time: str) -> Document | None:
    """The short-term summary of ``known`` (compaction, range) as a person rewrote it."""
    number, first, last = known
    if not number:
        return None
    return Document(
        key=f"summary:{number}",
        kind=DocumentKind.SUMMARY,
        text=text,
        time=_with_zone(datetime.fromisoformat(time)),
        first=first,
        last=last,
    )


def taken_back_by(record: Record) -> str:
    """The key of the summary that a line takes back; empty for any other line."""
    match record:
        case {"type": "undo", "id": int(number)}:
            return f"summary:{number}"
    return ""


def restored(number: int, recent: Record | None) -> tuple[int, int, int]:
    """Compaction and range of the short-term summary that holds again after an undoing."""
    if not recent or not number:
        return (0, 0, 0)
    return (number, int(recent["from"]), int(recent["to"]))


def _with_zone(time: datetime) -> datetime:
    """A time that a person wrote into an archive may lack its zone, and could not be compared."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def memory_number(record: Record | None) -> int:
    """The number of a memory, 0 for any other line."""
    if record is None or record.get("type") != "memory":
        return 0
    number = record.get("n")
    return number if isinstance(number, int) else 0
