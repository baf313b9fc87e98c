"""The index of one agent: its words in a file of its own, its vectors in a collection of its own.

Archive and notes are the source of truth. Words are updated before each search, vectors in the
background, some dozens at a time. A broken file or collection is rebuilt.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from itertools import batched
from pathlib import Path

from keepsake.books.notes import NoteBook
from keepsake.errors import (
    IndexUnavailable,
    KeepsakeError,
    ModelError,
)
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import Embedder
from keepsake.recall.documents import (
    Document,
    DocumentKind,
    ReadPosition,
    changes,
    digest,
    note_document,
)
from keepsake.recall.index.index_file import IndexDamaged
from keepsake.recall.index.words import IndexCounts, WordIndex
from keepsake.recall.meaning import MeaningIndex
from keepsake.recall.stores import Nearest, VectorStore

log = get_logger(Subsystem.INDEX)

WORDS = "words.db"
WORDS_BATCH = 256
"""Changes of archive and notes that are indexed by words in one transaction."""
SAVE_AFTER = 500
"""New memories after which the position in the archive is saved; the next start reads the rest."""
LOCK_SECONDS = 0.05
"""Seconds that a search waits for another thread that reads the archive. After that it uses the
index as it is."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Figures about an index."""

    agent: str  # the agent's name
    memories: int  # memories that can be found by words
    waiting: int  # documents that cannot be found by meaning yet
    by_meaning: bool  # whether search by meaning works now
    problem: str  # why the last step failed; empty if it did not


class ArchiveChanged(Exception):
    """The archive is not the one that was indexed: a restored backup, or a person was erased."""

    def __str__(self) -> str:
        return "the archive is not the one that was indexed"


class AgentIndex:
    """The search index of one agent.

    Any thread that may block can search; only one thread may call :meth:`embed`.

    Args:
        folder: ``$KEEPSAKE_HOME/index/<folder>``; its name is the agent's name.
        notes: The agent's notes; None if it keeps none.
        chroma: Stores the vectors; None for no vectors.
        embedder: Makes the vectors.
        name: The agent's name, for the log; the folder's if empty.

    Attributes:
        name: The agent's name, for the log.
        words: Searches by words.
        vectors: Searches by meaning; None if there is no ``chroma``.
        on_rebuild: Called from any thread when the index is rebuilt, with the reason.
    """

    def __init__(
        self,
        folder: Path,
        archive: Path,
        notes: NoteBook | None,
        *,
        chroma: VectorStore | None,
        embedder: Embedder,
        name: str = "",
    ) -> None:
        self.on_rebuild: Callable[[str], None] = lambda _: None
        self.words = WordIndex(folder / WORDS)
        self.vectors = self if chroma else None
        self._agent = folder.name
        self._archive = archive
        self._book = notes
        self.name = name or folder.name
        self._meaning = MeaningIndex(
            self.words, chroma, embedder, agent=self._agent, name=self.name
        )
        self._reading = threading.Lock()
        self._reset()
        self._counts = IndexCounts(0, 0, 0, 0)
        self._problems: dict[str, KeepsakeError | None] = {}  # by part: "words", "vectors"
        self._rebuild_asked = False
        self._closed = False

    def _reset(self) -> None:
        self._position = ReadPosition()
        self._saved = self._position
        self._notes: dict[str, str] | None = None  # digests by key; None before they are read
        self._noted = -1  # the version of the notes that was read last
        self._meaning.reset()

    def request_rebuild(self) -> None:
        """Have the next refresh delete the index and make it again, vectors included."""
        self._rebuild_asked = True

    @property
    def problem(self) -> KeepsakeError | None:
        """Why the last step failed; None if it did not."""
        return next(filter(None, self._problems.values()), None)

    def query(self, vector: Sequence[float], limit: int) -> Nearest:
        """Return keys and cosine similarities of the nearest documents, best first.

        Raises:
            IndexUnavailable: The vectors are being made, or Chroma does not answer.
        """
        return self._meaning.query(vector, limit)

    # -- words

    def refresh(
        self, pause: Callable[[], object] | None = None, patience: float = LOCK_SECONDS
    ) -> None:
        """Index the words of new archive lines and notes.

        Args:
            pause: Pauses the indexing thread between batches. None in other threads, which do
                not look for notes that were edited by hand.
            patience: Seconds to wait for another thread that reads the archive.

        A failure is logged and kept in :attr:`problem`.
        """
        if self._closed or not self._reading.acquire(timeout=patience):
            return  # another thread is reading
        problem: KeepsakeError | None = None
        try:
            try:
                if self.words.damage:
                    raise IndexDamaged(self.words.damage)
                if self._rebuild_asked:
                    self._rebuild_asked = False
                    log.info("Rebuilding the index on request", agent=self.name)
                    self.words.delete()
                    self._reset()
                    self.on_rebuild("somebody asked for it")
                self._read(pause)
            except (ArchiveChanged, IndexDamaged) as reason:
                tell = log.info if self.words.is_outdated else log.warning  # no fault
                what = reason.what if isinstance(reason, IndexDamaged) else reason
                tell(f"{what}; rebuilding the index", agent=self.name)
                self.words.delete()
                self._reset()
                self.on_rebuild(str(reason))
                self._read(pause)
        except IndexUnavailable as error:
            problem = error
        except OSError as error:
            problem = IndexUnavailable(f"{self._archive} cannot be read ({error})")
        finally:
            self._reading.release()
        if problem or self._problems:
            self._note_problem("words", problem)

    def _read(self, pause: Callable[[], object] | None) -> None:
        """Read the rest of the archive, and the notes if they may have changed."""
        position = self._position
        others = dict[str, Document | None]()
        known = 0
        if first := not position.segment:
            known = self.words.counts().memories
            position = self._resume()
        for batch in batched(changes(self._archive, self._agent, position), WORDS_BATCH):
            position = batch[-1][0]
            memories = [d for _, _, d in batch if d and d.kind is DocumentKind.MEMORY]
            others |= {k: d for _, k, d in batch if k and not (d and d.kind is DocumentKind.MEMORY)}
            if self.words.add(memories) and known:
                raise ArchiveChanged
            if pause is not None:
                pause()
        if position.memories < known:
            raise ArchiveChanged
        if others:
            self.words.add(document for document in others.values() if document is not None)
            self.words.remove([key for key, document in others.items() if document is None])
        self._position = position
        book = self._book
        if first or position.memories >= self._saved.memories + SAVE_AFTER:
            self._save_position()
        if book is not None and (pause is not None or book.store.version != self._noted):
            self._read_notes(book)
        if pause is not None:
            self._counts = self.words.counts()

    def _read_notes(self, book: NoteBook) -> None:
        if self._notes is None:
            self._notes = dict.fromkeys(self.words.notes(), "")
        changed, gone = book.changed_since(self._notes)
        self._noted = book.store.version
        self.words.add(map(note_document, changed))
        self.words.remove(gone)
        kept = {key: text for key, text in self._notes.items() if key not in gone}
        self._notes = kept | {note.key: note.digest for note in changed}

    def _resume(self) -> ReadPosition:
        """Return the saved position if the archive up to it is unchanged, else its beginning."""
        if saved := self.words.kept("position"):
            hashed, segment, offset, summary, memories = json.loads(saved)
            position = ReadPosition(segment, offset, tuple(summary), memories)
            whole = memories <= self.words.counts().memories
            if whole and digest(self._archive, position) == hashed:
                self._saved = position
                return position
        return ReadPosition()

    def _save_position(self) -> None:
        """Save how far the archive was read, so that the next process need not read it again."""
        if self._position != self._saved:
            self._saved = self._position
            hashed = digest(self._archive, self._saved)
            self.words.keep("position", json.dumps([hashed, *astuple(self._saved)]))

    # -- vectors

    def embed(self, pause: Callable[[], object] = lambda: None) -> None:
        """Make the missing vectors; ``pause`` is called between batches.

        A failure is logged and kept in :attr:`problem`; recall then uses words alone.
        """

        def end_batch() -> None:
            """Count, and pause."""
            self._counts = self.words.counts()
            pause()

        problem: KeepsakeError | None = None
        try:
            self._meaning.embed(end_batch)
        except (IndexUnavailable, ModelError) as error:
            problem = error
        self._note_problem("vectors", problem)

    # -- the files

    def status(self) -> IndexStatus:
        """Return figures, as of the last round of the indexing thread."""
        return IndexStatus(
            agent=self._agent,
            memories=self._counts.memories,
            waiting=self._counts.waiting,
            by_meaning=self._meaning.is_complete,
            problem=str(self.problem or ""),
        )

    def close(self) -> None:
        """Close the file when the current step is done."""
        self._closed = True
        self._meaning.closed = True
        with self._reading:
            self.words.close()

    def _note_problem(self, part: str, problem: KeepsakeError | None) -> None:
        """Keep the problem of a part of the index, and log it once."""
        before = self._problems.get(part)
        self._problems[part] = problem
        if problem is not None and str(problem) != str(before):
            subsystem = Subsystem.INDEX if part == "words" else Subsystem.EMBEDDING
            log.warning(str(problem), agent=self.name, subsystem=subsystem, exc_info=problem)
