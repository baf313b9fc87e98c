"""Documents that recall can find, and how they are made from archive lines and notes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from keepsake.archive.line_types import LineType
from keepsake.archive.message_types import MessageType
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.transcript import about_memory
from keepsake.books.notes import Note
from keepsake.events.values import RecalledKind
from keepsake.happening import ME, Person, Pose
from keepsake.json_lines import Record, in_json, parsed
from keepsake.language.perception import writable
from keepsake.recall.passages import passages_of

SAME_SCENE = timedelta(hours=3)
"""Memories further apart are no neighbours: they belong to different talks."""

_PASSAGE = "\x1f"
"""Separates a document's key and the number of a passage. No key has this character: keys of notes
come from file names, from which control characters are removed."""


class DocumentKind(StrEnum):
    """Where a document comes from."""

    MEMORY = "memory"
    SUMMARY = "memory_summary"
    NOTE = "note"

    @property
    def label(self) -> RecalledKind:
        """The kind in keys of documents and in events."""
        return RecalledKind[self.name]


class Document(NamedTuple):
    """A text that can be found, with the numbers of the memories that it covers.

    Its key is unique for one agent: ``memory:17``, ``summary:3``, ``note:garden``. A note covers
    memory 0, and has a title. It is a tuple because a search creates some hundred of them.
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
    said: str = ""  # the words of speech; empty if nobody spoke
    record: str = ""  # for a memory: the fields of its archive line that say what happened, as JSON

    @property
    def number(self) -> int:
        """The number of a memory, or of the compaction that made a summary; 0 for a note."""
        number = self.key.removeprefix(f"{self.kind.label}:")
        return int(number) if self.kind is not DocumentKind.NOTE and number.isdecimal() else 0

    def is_by(self, person: Person) -> bool:
        """Whether a person spoke or acted; by name only if an identity is not known."""
        if not self.speaker:
            return False
        if person.id and self.record:
            record = json.loads(self.record)
            if record.get("kind") == MemoryKind.ACT:
                return person.id == ME.id
            if identity := record.get("source_id"):
                return bool(identity == person.id)
        return self.speaker.casefold() == person.name.casefold()

    def memory(self) -> Memory:
        """Return the memory that this document was made from, without what only archives keep.

        Raises:
            ValueError: The document is no memory.
        """
        if self.kind is not DocumentKind.MEMORY:
            raise ValueError(f"{self.key} is no memory")
        line = {"text": self.text, **json.loads(self.record or '{"kind":"perception"}')}
        given = {"n": self.first, "t": self.time.isoformat(), "place": self.place}
        return Memory.from_record({**line, **given})


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found; scores are only comparable within one search.

    ``bears``: Whether it bears on the question; see :mod:`keepsake.recall.ranking.floor`. The
    others are the next best: what a prompt recalls leaves them out, but ``> recall`` and
    ``@recall`` show them, because somebody asked for these words.

    ``several_talks``: Whether it bears only because the answer probably stands in several talks.
    """

    document: Document
    score: float
    reasons: Sequence[str] = ()
    bears: bool = True
    passage: str = ""  # the passage of a long document that was found; empty for a short one
    several_talks: bool = False


@dataclass(frozen=True, slots=True)
class ReadPosition:
    """How far an archive was read."""

    segment: str = ""  # file name; empty at the very beginning
    offset: int = 0  # bytes of the segment
    # number of the newest compaction, first and last memory of its short-term summary; 0 for none
    summary: tuple[int, int, int] = (0, 0, 0)
    memories: int = 0  # how many memories became documents so far


type Change = tuple[ReadPosition, str, Document | None]
"""The position after a line, the key of a document, and the document or None to remove it."""


def changes(archive: Path, agent: str, since: ReadPosition) -> Iterator[Change]:
    """Yield a change for each complete archive line after a position; an empty key is no change."""
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
                    return  # this line is still being written
                position = replace(position, offset=position.offset + len(line))
                try:
                    position, key, document = _change(parsed(line), agent, position)
                except (KeyError, ValueError, TypeError):
                    # This code cannot read the line; `@memory-status` reports it.
                    key = ""
                    document = None
                yield position, key, document


def digest(archive: Path, position: ReadPosition) -> str:
    """Return a hash of the archive from its beginning to a position; 2 ms for 2,000 memories."""
    hashed = hashlib.blake2b(digest_size=16)
    for path in sorted(archive.glob("[0-9]*.jsonl")):
        if path.name <= position.segment:
            content = path.read_bytes()
            hashed.update(content[: position.offset] if path.name == position.segment else content)
    return hashed.hexdigest()


def _change(record: Record, agent: str, position: ReadPosition) -> Change:
    match record:
        case {"type": LineType.MEMORY}:
            memory = Memory.from_record(record)
            if not (
                about_memory(memory) or memory.event in (MessageType.FORGOTTEN, MessageType.SCENE)
            ):
                document = memory_document(memory, agent)
                position = replace(position, memories=position.memories + 1)
                return position, document.key, document
        case {"type": LineType.COMPACTION, "id": int(number), "recent": dict(recent)}:
            summary = Summary.from_record(Tier.RECENT, recent)
            # A summary that was only shortened covers the same memories: keep the fuller text.
            if position.summary[1:] != (summary.first, summary.last):
                position = replace(position, summary=(number, summary.first, summary.last))
                document = summary_document(number, summary)
                return position, document.key, document
        case {"type": LineType.UNDO, "id": int(gone), "standing": int(number)}:
            again = record["recent"] if number else None
            summed = (number, int(again["from"]), int(again["to"])) if again else (0, 0, 0)
            return replace(position, summary=summed), summary_key(gone), None
        case {"type": LineType.EDIT, "tier": Tier.RECENT, "text": str(text), "t": str(time)}:
            number, first, last = position.summary
            if number:
                at = datetime.fromisoformat(time)
                edited = Summary(Tier.RECENT, first, last, text, "", at)
                return position, summary_key(number), summary_document(number, edited)
    return position, "", None


def text_of(document: Document, agent: str) -> str:
    """Return the text to embed: the bare words of speech, a note with its title.

    A name would attract every line in which somebody is addressed. Without names a spoken line is
    one text for the speaker, all hearers and a query about it, so it is embedded once.
    """
    if document.title:
        return f"{document.title}: {document.text}"
    if document.kind is not DocumentKind.MEMORY:
        return document.text
    if document.said:
        return document.said
    memory = document.memory()
    if not isinstance(memory.what, Pose):
        return document.text
    # A gesture gets the same text in its agent's memory and in those of bystanders, so it is
    # embedded once, too.
    return f"{agent if memory.is_own else memory.source} {memory.what.gesture}".strip()


def passages_in(document: Document, agent: str) -> tuple[str, ...]:
    """Return the texts to embed of a document: its passages, mostly one."""
    return passages_of(text_of(document, agent))


def passage_key(key: str, number: int) -> str:
    """Return the key of a document's passage, counted from 0; the first has the document's key."""
    return f"{key}{_PASSAGE}{number}" if number else key


def split_key(key: str) -> tuple[str, int]:
    """Return the key of the document and the number of the passage that a key names."""
    if _PASSAGE not in key:  # mostly
        return key, 0
    whole, mark, number = key.rpartition(_PASSAGE)
    return (whole, int(number)) if mark and number.isdecimal() else (key, 0)


def memory_document(memory: Memory, agent: str) -> Document:
    """Return the document of a raw memory; the agent is the speaker of its own acts."""
    time = memory.time  # a time that a person wrote may lack a zone, and could not be compared
    said = memory.said or memory.heard
    record = memory.to_line()
    for each in ("t", "place", "reason", "importance", "chain", "told", "answers", "rests_on"):
        record.pop(each, None)
    if memory.text == memory.line:
        del record["text"]  # the document has it already
    return Document(
        key=f"{RecalledKind.MEMORY}:{memory.number}",
        kind=DocumentKind.MEMORY,
        text=writable(memory.line),
        time=time if time.tzinfo else time.replace(tzinfo=UTC),
        first=memory.number,
        last=memory.number,
        speaker=writable(agent if memory.is_own else memory.source),
        place=writable(memory.place),
        said=writable(said.words) if said else "",
        record=writable(in_json(record)),
    )


def summary_key(number: int) -> str:
    """Return the key of the summary of a compaction."""
    return f"{DocumentKind.SUMMARY.label}:{number}"


def summary_document(number: int, summary: Summary) -> Document:
    """Return the document of the short-term summary of compaction ``number``."""
    time = summary.time
    return Document(
        key=summary_key(number),
        kind=DocumentKind.SUMMARY,
        text=writable(summary.text),
        time=time if time.tzinfo else time.replace(tzinfo=UTC),
        first=summary.first,
        last=summary.last,
    )


def note_document(note: Note) -> Document:
    """Return the document of a note as it is now."""
    return Document(
        key=note.key,
        kind=DocumentKind.NOTE,
        text=writable(note.text),
        time=note.updated,
        place=writable(note.place),
        title=writable(note.title),
    )
