"""What the archive's lines and the notes bring into an index, as documents."""

from __future__ import annotations

from datetime import UTC, datetime

from keepsake.archive.records import Memory, MemoryKind, Summary
from keepsake.books.notes import Note
from keepsake.index import tail
from keepsake.json_lines import Record
from keepsake.language.heard import heard, shown_words
from keepsake.recall.documents import Document, DocumentKind


def text_of(document: Document, agent: str) -> str:
    """What is embedded: of speech the bare words, whoever hears them; a note with its title.

    A name would draw every line in which somebody is addressed, and a line that is said is one
    text for whoever says, hears and answers it, so that it is embedded once.
    """
    if document.title:
        return f"{document.title}: {document.text}"
    if document.kind is not DocumentKind.MEMORY:
        return document.text
    if document.speaker == agent:
        return _as_others_see(document.text, agent)
    lived = (document.first, document.time, MemoryKind.PERCEPTION, document.text)
    said = heard(Memory(*lived, source=document.speaker))
    return (said and said.words) or document.text


def _as_others_see(line: str, agent: str) -> str:
    """An agent's own act: its words, or the gesture as those nearby have it."""
    shown = shown_words(line)
    return f"{agent} {shown}" if shown and line.startswith("emote ") else shown or line


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
