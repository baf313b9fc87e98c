"""Brings one index up to date with what was lived: archive and notes are the truth.

Each step writes what can be found first and how far that goes afterwards. A step that a
crash cut off is done again at the next turn, and does the same again: keys are unique.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import batched, zip_longest
from pathlib import Path

from keepsake.archive.forgetting import FORGOTTEN
from keepsake.archive.records import SCENE, Memory, Summary, Tier
from keepsake.books.notes import NoteBook
from keepsake.index import tail
from keepsake.index.sources import (
    digest,
    memory_document,
    memory_number,
    note_document,
    summary_document,
    text_of,
)
from keepsake.index.state import IndexFile, IndexProgress
from keepsake.index.vectors import Chroma, ChromaVectors, CollectionMissing
from keepsake.json_lines import Record
from keepsake.ports import Embedder
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.related import about_memory

WORDS_BATCH = 256
VECTORS_BATCH = 64


@dataclass(frozen=True, slots=True)
class Meaning:
    """What vectors need."""

    embedder: Embedder  # makes them
    chroma: Chroma  # keeps them
    owner: str  # marks the collections of this home on a server that others use too
    _dimensions: dict[str, int] = field(default_factory=dict)

    def dimension(self) -> int:
        """How many numbers a vector has; asked once, until :meth:`ask_again`.

        By a text that nobody has asked for yet, which no cache knows.

        Raises:
            ModelError: The embedder cannot say.
        """
        name = self.embedder.model_name
        if name not in self._dimensions:
            probe = f"How many numbers? {uuid.uuid4().hex}"
            self._dimensions[name] = len(self.embedder.embed([probe])[0])
        return self._dimensions[name]

    def ask_again(self) -> None:
        """A server may have another model by that name now."""
        self._dimensions.clear()


@dataclass(frozen=True, slots=True)
class AgentSources:
    """Where the truth about an agent is."""

    agent: str  # name of its folder
    archive: Path  # its archive's folder
    notes: NoteBook | None = None  # its notes, None if it keeps none


type Report = Callable[[int, int], None]
"""Called with how many documents are done, and of how many."""


class IndexFollower:
    """Catches up; for one thread at a time.

    Args:
        store: What it fills.
        lived: What it reads.
        meaning: For vectors; None goes without.
        log: Takes lines for people.
        spared: A collection of this agent that still serves and must not be deleted.
    """

    def __init__(
        self,
        store: IndexFile,
        lived: AgentSources,
        meaning: Meaning | None,
        log: Callable[[str], None],
        spared: str = "",
    ) -> None:
        self._store, self._lived, self._meaning, self._log = store, lived, meaning, log
        self._spared = spared
        self._compared = False  # whether the archive is what it was when it was indexed
        self._checked = False
        self._notes: dict[str, str] | None = None  # digests by key; None before they are read
        self.vectors: ChromaVectors | None = None

    # -- words

    def follow_words(self, window: int | None, report: Report) -> None:
        """Index the words of all that left the window, of summaries and of notes.

        Args:
            window: Number of the oldest memory that is in the window; None takes it from
                the archive.
            report: See :data:`Report`.

        Raises:
            ArchiveChanged: The archive has lost lines; the index must be made anew.
            IndexUnavailable: The database cannot be used.
        """
        if not self._compared:
            mark = tail.compared(self._lived.archive, self._store.progress.mark)
            if mark != self._store.progress.mark:
                self._store.save(replace(self._store.progress, mark=mark))
            self._compared = True
        if window is None:
            window = self._window_in_archive()
        if window != self._store.progress.window:
            self._store.save(replace(self._store.progress, window=window))
        self._follow_archive(window, report)
        self.follow_notes()

    def _window_in_archive(self) -> int:
        """The oldest memory that no compaction has covered and no clearing dropped."""
        window = self._store.progress.window
        for _, record in tail.read(self._lived.archive, self._store.progress.mark):
            match record:
                case {"type": "compaction", "recent": {"to": int(last)}}:
                    window = max(window, last + 1)
                case {"type": "clear", "n": int(last)}:
                    window = max(window, last + 1)
                case {"type": "undo", "summarised": int(last)}:
                    window = last + 1
        return window

    def _follow_archive(self, window: int, report: Report) -> None:
        batch: list[Document] = []
        gone: set[str] = set()
        done = seen = self._store.progress
        held = False
        for after, record in tail.read(self._lived.archive, done.mark):
            # What is in the window is read again next time, and so is all that follows it.
            held = held or memory_number(record) >= window
            document, seen = self._read(record or {}, seen, held=held)
            done = done if held else replace(seen, mark=after)
            if document is not None:
                batch.append(document)
            match record:
                case {"type": "undo", "id": int(number)}:
                    taken_back = f"summary:{number}"
                    batch = [each for each in batch if each.key != taken_back]
                    gone.add(taken_back)
            if len(batch) >= WORDS_BATCH:
                self._write(batch, done, gone)
                report(done.memories, window - 1)
                batch, gone = [], set()
        self._write(batch, done, gone)

    def _read(
        self, record: Record, progress: IndexProgress, *, held: bool
    ) -> tuple[Document | None, IndexProgress]:
        """The document that a line brings, if any, and the progress with it."""
        try:
            match record:
                case {"type": "memory", "n": int(number)} if not held:
                    memory = Memory.from_record(record)
                    done = replace(progress, memories=max(progress.memories, number))
                    if about_memory(memory) or memory.event in (FORGOTTEN, SCENE):
                        return None, done
                    return memory_document(memory, self._lived.agent), done
                case {"type": "compaction", "id": int(number), "recent": dict(recent)}:
                    summary = Summary.from_record(Tier.RECENT, recent)
                    if progress.summary[1:] == (summary.first, summary.last):
                        return None, progress  # only made shorter: the fuller text is there
                    known = replace(progress, summary=(number, summary.first, summary.last))
                    return summary_document(number, summary), known
                case {"type": "undo", "standing": int(number)}:
                    again = record["recent"] if number else None
                    summed = (number, int(again["from"]), int(again["to"])) if again else (0, 0, 0)
                    return None, replace(progress, summary=summed)
                case {"type": "edit", "tier": "recent", "text": str(text), "t": str(time)}:
                    number, first, last = progress.summary
                    edited = Summary(
                        Tier.RECENT, first, last, text, "", datetime.fromisoformat(time)
                    )
                    return summary_document(number, edited) if number else None, progress
        except (KeyError, ValueError, TypeError):
            pass  # a line that this code cannot read; `@memory-status` tells people of it
        return None, progress

    def _write(self, batch: Sequence[Document], progress: IndexProgress, gone: set[str]) -> None:
        kept = self._store.kept()
        if lost := [key for key in gone if key in kept and kept[key].digest]:
            self._store.remove(lost)
            self._store.keep(dict.fromkeys(lost, ""))
        newest = {document.key: document for document in batch}  # an edit comes after its summary
        digests = {
            key: digest(each)
            for key, each in newest.items()
            if each.kind is not DocumentKind.MEMORY
        }
        known = {key for key, each in digests.items() if key in kept and kept[key].digest == each}
        self._store.add([each for key, each in newest.items() if key not in known])
        if changed := {key: each for key, each in digests.items() if key not in known}:
            self._store.keep(changed)
        if progress != self._store.progress:
            self._store.save(progress)

    def follow_notes(self) -> bool:
        """Index the words of notes that are new, different or gone; whether any were."""
        if self._lived.notes is None:
            return False
        if self._notes is None:  # the file need not be opened each time that somebody looks
            self._notes = {
                key: each.digest
                for key, each in self._store.kept().items()
                if each.digest and key.startswith("note:")
            }
        changes = self._lived.notes.changed_since(self._notes)
        if changes.gone:
            self._store.remove(changes.gone)
        if changes.changed:
            self._store.add([note_document(note) for note in changes.changed])
        if changes.gone or changes.changed:
            self._notes = None
            digests = {note.key: note.digest for note in changes.changed}
            self._store.keep(digests | dict.fromkeys(changes.gone, ""))
        return bool(changes.gone or changes.changed)

    # -- vectors

    def recheck(self) -> None:
        """Count the vectors again at the next turn: the server was away, or has lost them."""
        self._checked = False
        if self._meaning is not None:
            self._meaning.ask_again()

    def follow_vectors(self, report: Report) -> None:
        """Embed what has words and no vector yet.

        Raises:
            IndexUnavailable: Chroma cannot be asked.
            ModelError: The embedder cannot.
        """
        if self._meaning is None:
            return
        try:
            vectors = self._own_collection(self._meaning)
            self._embed_all(vectors, self._meaning.embedder, report)
        except CollectionMissing:
            self._checked = False
            raise
        if not self._store.progress.complete:
            self._store.save(replace(self._store.progress, complete=True))
        self.vectors = vectors

    def _own_collection(self, meaning: Meaning) -> ChromaVectors:
        progress = self._store.progress
        if self._checked and self.vectors is not None:
            return self.vectors
        vectors = ChromaVectors(meaning.chroma, progress.collection)
        dimension = meaning.dimension()
        if reason := self._why_anew(vectors, meaning.embedder.model_name, dimension):
            if progress.collection:
                self._log(f"{self._lived.agent}: {reason}; making the vectors anew")
            vectors = self._new_collection(meaning, dimension)
        elif not progress.copied:
            self._copy(vectors)
        self._drop_former(meaning)
        self._checked, self.vectors = True, vectors
        return vectors

    def _copy(self, vectors: ChromaVectors) -> None:
        """Bring what Chroma keeps into a file that an earlier version made."""
        for keys, rows in vectors.pages():
            self._store.put_vectors(keys, rows)
        self._store.save(replace(self._store.progress, copied=True))

    def _why_anew(self, vectors: ChromaVectors, model: str, dimension: int) -> str:
        """Why the vectors that are there cannot be used; empty if they can."""
        progress = self._store.progress
        if not progress.collection:
            return "there are none"
        if (progress.model, progress.dimension) != (model, dimension):
            return (
                f"the vectors were made with {progress.model} ({progress.dimension} dimensions), "
                f"and {model} ({dimension} dimensions) is in use now"
            )
        kept = sum(1 for each in self._store.kept().values() if each.embedded)
        try:
            there = vectors.count()
        except CollectionMissing:
            return "Chroma has lost the vectors"
        wanted = progress.rows + kept
        return f"Chroma has lost {wanted - there} of {wanted} vectors" if there < wanted else ""

    def _new_collection(self, meaning: Meaning, dimension: int) -> ChromaVectors:
        """An empty collection; whatever this agent had before is deleted."""
        owner = {"home": meaning.owner, "agent": self._lived.agent}
        name, model = f"agent-{uuid.uuid4().hex}", meaning.embedder.model_name
        # Written down first: what no index names would stay for ever.
        self._store.forget_vectors(
            replace(
                self._store.progress,
                embedded=0,
                rows=0,
                complete=False,
                copied=True,
                collection=name,
                dropping=tuple(meaning.chroma.collections_of(owner)),
                model=model,
                dimension=dimension,
            )
        )
        vectors = ChromaVectors(meaning.chroma, name)
        vectors.create({**owner, "model": model, "dimension": dimension})
        return vectors

    def _drop_former(self, meaning: Meaning) -> None:
        """Delete the collections of before, but for one that still serves."""
        for each in self._store.progress.dropping:
            if each != self._spared:
                meaning.chroma.drop(each)
        left = tuple(each for each in self._store.progress.dropping if each == self._spared)
        if left != self._store.progress.dropping:
            self._store.save(replace(self._store.progress, dropping=left))

    def _embed_all(self, vectors: ChromaVectors, embedder: Embedder, report: Report) -> None:
        """Memories, and summaries and notes beside them: a call of Chroma costs more than a row."""
        progress = self._store.progress
        memories = batched(range(progress.embedded + 1, progress.memories + 1), VECTORS_BATCH)
        waiting = [each for each in self._store.kept().values() if each.digest != each.embedded]
        kept = batched(waiting, VECTORS_BATCH)
        for numbers, part in zip_longest(memories, kept, fillvalue=()):
            gone = [each for each in part if not each.digest]
            keys = [each.key for each in gone]
            vectors.remove(keys)
            self._store.remove_vectors(keys)
            # At once: as long as these count, Chroma seems to have lost what was taken out.
            self._store.embedded(gone)
            new = [each for each in part if each.digest]
            lived = list(self._store.get([f"memory:{number}" for number in numbers]).values())
            told = self._store.get([each.key for each in new]).values()
            self._embed(vectors, embedder, [*lived, *told])
            self._store.embedded(new)
            if numbers:
                rows = progress.rows + len(lived)
                progress = replace(progress, embedded=numbers[-1], rows=rows)
                self._store.save(progress)
                report(progress.embedded, progress.memories)

    def _embed(
        self, vectors: ChromaVectors, embedder: Embedder, documents: Sequence[Document]
    ) -> None:
        if documents:
            rows = embedder.embed([text_of(each, self._lived.agent) for each in documents])
            vectors.add(documents, rows)
            self._store.put_vectors([each.key for each in documents], rows)
