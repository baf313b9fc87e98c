"""What can be found: documents, and what an archive's lines and notes make of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from keepsake.archive.forgetting import FORGOTTEN
from keepsake.archive.records import SCENE, Memory, MemoryKind, Summary, Tier
from keepsake.books.notes import Note
from keepsake.json_lines import Record, parsed
from keepsake.language.heard import heard, shown_words
from keepsake.language.perception import writable
from keepsake.prompt.script import about_memory

SAME_SCENE = 3 * 3600
"""Seconds; memories further apart are no neighbours: another evening, another talk."""


class DocumentKind(StrEnum):
    """Where a document comes from."""

    MEMORY = "memory"
    SUMMARY = "memory_summary"
    NOTE = "note"


class Document(NamedTuple):
    """Something that can be found again, with the numbers of the memories it stands for.

    Its key is unique for one agent: ``memory:17``, ``summary:3``, ``note:garden``. A note stands
    for memory 0, and has a title. A tuple, as a search makes some hundred.
    """

    key: str
    kind: DocumentKind
    text: str
    time: datetime
    first: int = 0
    last: int = 0
    speaker: str = ""
    place: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found; scores are only comparable within one search."""

    document: Document
    score: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadPosition:
    """How far an archive was read."""

    segment: str = ""  # file name; empty for the very beginning
    offset: int = 0  # bytes of it
    # the newest compaction's number, and what its short-term summary covers; 0 for none
    summary: tuple[int, int, int] = (0, 0, 0)


type Change = tuple[ReadPosition, str, Document | None]
"""The position after a line, with the key of a document and the document; None where it goes."""


def changes(archive: Path, agent: str, since: ReadPosition) -> Iterator[Change]:
    """What the ended lines of an archive after a position bring; an empty key for nothing."""
    position = since
    for path in sorted(archive.glob("[0-9]*.jsonl")):
        if path.name < position.segment:
            continue
        if path.name > position.segment:
            position = replace(position, segment=path.name, offset=0)
        with path.open("rb") as file:
            file.seek(position.offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # just being written
                position = replace(position, offset=position.offset + len(line))
                try:
                    position, key, document = _change(parsed(line), agent, position)
                except (KeyError, ValueError, TypeError):
                    # a line that this code cannot read; `@memory-status` tells people of it
                    key, document = "", None
                yield position, key, document


def _change(record: Record, agent: str, position: ReadPosition) -> Change:
    match record:
        case {"type": "memory"}:
            memory = Memory.from_record(record)
            if not (about_memory(memory) or memory.event in (FORGOTTEN, SCENE)):
                document = memory_document(memory, agent)
                return position, document.key, document
        case {"type": "compaction", "id": int(number), "recent": dict(recent)}:
            summary = Summary.from_record(Tier.RECENT, recent)
            # One that was only made shorter covers the same: the fuller text is there.
            if position.summary[1:] != (summary.first, summary.last):
                position = replace(position, summary=(number, summary.first, summary.last))
                document = summary_document(number, summary)
                return position, document.key, document
        case {"type": "undo", "id": int(gone), "standing": int(number)}:
            again = record["recent"] if number else None
            summed = (number, int(again["from"]), int(again["to"])) if again else (0, 0, 0)
            return replace(position, summary=summed), f"summary:{gone}", None
        case {"type": "edit", "tier": "recent", "text": str(text), "t": str(time)}:
            number, first, last = position.summary
            if number:
                at = datetime.fromisoformat(time)
                edited = Summary(Tier.RECENT, first, last, text, "", at)
                return position, f"summary:{number}", summary_document(number, edited)
    return position, "", None


def text_of(document: Document, agent: str) -> str:
    """What is embedded: of speech the bare words, whoever hears them; a note with its title.

    A name would draw every line in which somebody is addressed, and a line that is said is one
    text for whoever says, hears and answers it, so that it is embedded once.
    """
    if document.title:
        return f"{document.title}: {document.text}"
    if document.kind is not DocumentKind.MEMORY:
        return document.text
    if document.speaker == agent:  # an act: its words, or the gesture as those nearby have it
        shown = shown_words(document.text)
        gesture = shown and document.text.startswith("emote ")
        return f"{agent} {shown}" if gesture else shown or document.text
    lived = (document.first, document.time, MemoryKind.PERCEPTION, document.text)
    said = heard(Memory(*lived, source=document.speaker))
    # A gesture as who makes it has it, so that it is embedded once too.
    posed, seen = f"{document.speaker} poses: ", f"{document.speaker} "
    return (said and said.words) or document.text.replace(posed, seen, 1)


def memory_document(memory: Memory, agent: str) -> Document:
    """A raw memory; what the agent did itself has its name for a speaker."""
    time = memory.time  # that a person wrote may lack its zone, and could not be compared
    return Document(
        key=f"memory:{memory.number}",
        kind=DocumentKind.MEMORY,
        text=writable(memory.line),
        time=time if time.tzinfo else time.replace(tzinfo=UTC),
        first=memory.number,
        last=memory.number,
        speaker=writable(agent if memory.kind is MemoryKind.ACT else memory.source),
        place=writable(memory.place),
    )


def summary_document(number: int, summary: Summary) -> Document:
    """The short-term summary of compaction ``number``."""
    time = summary.time
    return Document(
        key=f"summary:{number}",
        kind=DocumentKind.SUMMARY,
        text=writable(summary.text),
        time=time if time.tzinfo else time.replace(tzinfo=UTC),
        first=summary.first,
        last=summary.last,
    )


def note_document(note: Note) -> Document:
    """A note as it is now."""
    return Document(
        key=note.key,
        kind=DocumentKind.NOTE,
        text=writable(note.text),
        time=note.updated,
        place=writable(note.place),
        title=writable(note.title),
    )
