"""The index of one agent: its words in a file of its own, its vectors in a collection of its own.

Archive and notes are the truth. Words are brought up to date before each search, vectors in the
background, some dozens at a time. What does not open or answer any more is made anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path

from keepsake.books.notes import NoteBook
from keepsake.errors import IndexUnavailable, KeepsakeError, ModelError
from keepsake.ports import Embedder
from keepsake.recall.chroma import AgentVectors, Chroma, VectorsUnusable
from keepsake.recall.documents import (
    Document,
    DocumentKind,
    ReadPosition,
    changes,
    note_document,
    text_of,
)
from keepsake.recall.words import IndexCounts, IndexDamaged, WordIndex

WORDS = "words.db"
WORDS_BATCH, VECTORS_BATCH = 256, 64
LOCK_SECONDS = 0.05
"""So long a search waits for somebody else who reads the archive; then it takes what is there."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Figures about an index."""

    agent: str  # whose
    memories: int  # memories that can be found by words
    waiting: int  # documents that cannot be found by meaning yet
    by_meaning: bool  # whether meaning is asked now
    problem: str  # what the last try said; empty when it went well


class StoreDamaged(IndexUnavailable):
    """Chroma cannot make a collection: its store is broken."""


class ArchiveChanged(Exception):
    """The archive is not the one that was indexed: a backup, or somebody was forgotten."""


class AgentIndex:
    """What one agent can find again.

    Searches come from any thread that may block; :meth:`embed` from one.

    Args:
        folder: ``$KEEPSAKE_HOME/index/<folder>``; it bears the agent's name.
        archive: The folder of its archive.
        notes: Its notes; None if it keeps none.
        chroma: Keeps the vectors; None goes without.
        embedder: Makes them.
        log: Takes lines for people.

    Attributes:
        words: What finds by words.
        vectors: What finds by meaning; None when no vectors are wanted.
        on_anew: Called, from any thread, when it is made anew, with the reason.
    """

    def __init__(
        self,
        folder: Path,
        archive: Path,
        notes: NoteBook | None,
        *,
        chroma: Chroma | None,
        embedder: Embedder,
        log: Callable[[str], None],
    ) -> None:
        self.on_anew: Callable[[str], None] = lambda _: None
        self.words = WordIndex(folder / WORDS)
        self.vectors = self if chroma else None
        self._agent, self._archive, self._book, self._log = folder.name, archive, notes, log
        self._chroma, self._embedder = chroma, embedder
        self._reading = threading.Lock()
        self._begin_anew()
        self._counts = IndexCounts(0, 0, 0)
        self._problems: dict[str, KeepsakeError | None] = {}  # of words and vectors
        self._loss = ""  # why the vectors are to be made anew
        self._closed = False

    def _begin_anew(self) -> None:
        self._position = ReadPosition()
        self._notes: dict[str, str] | None = None  # digests by key; None before they were read
        self._noted = -1  # the version of the notes that was read
        self._collection: AgentVectors | None = None  # once it is whole

    @property
    def problem(self) -> KeepsakeError | None:
        """Why the last step failed; None when it did not."""
        return next(filter(None, self._problems.values()), None)

    def query(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Keys and cosine similarities of the nearest documents, best first.

        Raises:
            IndexUnavailable: The vectors are being made, or Chroma cannot be asked.
        """
        if self._collection is None:
            raise IndexUnavailable(
                "The vectors are being made", "Recall goes on with words until they are there"
            )
        try:
            return self._collection.query(vector, limit)
        except VectorsUnusable as problem:
            self._loss, self._collection = problem.what, None
            raise

    # -- words

    def refresh(self, breathe: Callable[[], object] | None = None) -> None:
        """Index the words of what is new in archive and notes.

        Args:
            breathe: Called now and then by the thread that follows, which also looks for notes
                that were written by hand.

        What fails is kept in :attr:`problem`, and logged.
        """
        if self._closed or not self._reading.acquire(timeout=LOCK_SECONDS):
            return  # somebody else is at it
        problem: KeepsakeError | None = None
        try:
            try:
                if self.words.damage:
                    raise IndexDamaged(self.words.damage)
                self._read(breathe)
            except (ArchiveChanged, IndexDamaged) as reason:
                self._log(f"[Index] {self._agent}: {reason}; making the index anew")
                self.words.delete()
                self._begin_anew()
                self.on_anew(str(reason))
                self._read(breathe)
        except IndexUnavailable as error:
            problem = error
        except OSError as error:
            problem = IndexUnavailable(f"{self._archive} cannot be read ({error})")
        finally:
            self._reading.release()
        if problem or self._problems:
            self._note_problem("words", problem)

    def _read(self, breathe: Callable[[], object] | None) -> None:
        """Read the archive on, and the notes if somebody may have changed them."""
        position, seen, others = self._position, 0, dict[str, Document | None]()
        known = 0 if position.segment else self.words.counts().memories
        for batch in batched(changes(self._archive, self._agent, position), WORDS_BATCH):
            position = batch[-1][0]
            memories = [d for _, _, d in batch if d and d.kind is DocumentKind.MEMORY]
            others |= {k: d for _, k, d in batch if k and not (d and d.kind is DocumentKind.MEMORY)}
            seen += len(memories)
            if self.words.add(memories) and known:
                seen = -1
                break
            if breathe is not None:
                breathe()
        if seen < known:
            raise ArchiveChanged("the archive is not the one that was indexed")
        if others:
            self.words.add(document for document in others.values() if document is not None)
            self.words.remove([key for key, document in others.items() if document is None])
        self._position, notes = position, self._book
        if notes is not None and (breathe is not None or notes.store.version != self._noted):
            if self._notes is None:
                self._notes = dict.fromkeys(self.words.notes(), "")
            changed, gone = notes.changed_since(self._notes)
            self._noted = notes.store.version
            self.words.add(map(note_document, changed))
            self.words.remove(gone)
            kept = {key: text for key, text in self._notes.items() if key not in gone}
            self._notes = kept | {note.key: note.digest for note in changed}
        if breathe is not None:
            self._counts = self.words.counts()

    # -- vectors

    def embed(self, breathe: Callable[[], object] = lambda: None) -> None:
        """Make the vectors of what has words and none yet; ``breathe`` is called now and then.

        What fails is kept in :attr:`problem`, and logged; words go on alone.
        """
        problem: KeepsakeError | None = None
        try:
            if self._chroma is not None and not self._closed:
                self._embed_waiting(self._chroma, breathe)
        except (IndexUnavailable, ModelError) as error:
            problem = error
            if isinstance(error, VectorsUnusable):
                self._loss, self._collection = error.what, None
        self._note_problem("vectors", problem)

    def _embed_waiting(self, chroma: Chroma, breathe: Callable[[], object]) -> None:
        vectors = self._collection or self._opened(chroma)
        while not self._closed and (waiting := self.words.waiting(VECTORS_BATCH)):
            found = self.words.get(waiting)
            if gone := waiting.keys() - found.keys():
                vectors.remove(gone)
            if found:
                texts = [text_of(each, self._agent) for each in found.values()]
                vectors.add([*found.values()], self._embedder.embed(texts))
            self.words.embedded(waiting.values())
            self._counts = self.words.counts()
            breathe()
        self._collection = None if self._closed else vectors

    def _opened(self, chroma: Chroma) -> AgentVectors:
        """The collection of the present model, an empty one where there is none that is whole."""
        name, reason, model = self.words.collection, self._loss, self._embedder.model_name
        try:
            vectors, counts = chroma.open(name), self.words.counts()
            lost = counts.documents - counts.waiting - vectors.count()
            if vectors.model != model:
                reason = f"they were made with {vectors.model}, and {model} is in use now"
            elif lost > 0:
                reason = f"Chroma has lost {lost} of them"
            if not reason:
                return vectors
        except VectorsUnusable as problem:
            reason = problem.what
        if name:
            self._log(f"[Index] {self._agent}: making the vectors anew: {reason}")
        try:
            vectors = chroma.create(self._agent, model, name)
        except VectorsUnusable as problem:
            raise StoreDamaged(problem.what, problem.cure) from problem
        self.words.save(vectors.name)
        self._loss = ""
        return vectors

    # -- the files

    def status(self) -> IndexStatus:
        """Figures, as of the last round of the thread that follows."""
        return IndexStatus(
            agent=self._agent,
            memories=self._counts.memories,
            waiting=self._counts.waiting,
            by_meaning=self._collection is not None,
            problem=str(self.problem or ""),
        )

    def close(self) -> None:
        """Let go of the file, when a step that is under way is done."""
        self._closed = True
        with self._reading:
            self.words.close()

    def _note_problem(self, part: str, problem: KeepsakeError | None) -> None:
        """Keep what went wrong, and tell of it once."""
        before, self._problems[part] = self._problems.get(part), problem
        if problem is not None and str(problem) != str(before):
            self._log(f"[Index] {self._agent}: {problem}")
