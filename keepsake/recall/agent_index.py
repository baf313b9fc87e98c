"""The index of one agent: its words in a file of its own, its vectors in a collection of its own.

Archive and notes are the source of truth. Words are updated before each search, vectors in the
background, some dozens at a time. A broken file or collection is rebuilt.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import batched, islice
from pathlib import Path

from keepsake.books.notes import NoteBook
from keepsake.errors import (
    BadAnswer,
    IndexUnavailable,
    KeepsakeError,
    ModelError,
    ModelFailed,
    ModelRejected,
)
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import PROBE, Embedder, as_word_embedder, is_same_model
from keepsake.recall.documents import (
    Document,
    DocumentKind,
    ReadPosition,
    changes,
    digest,
    note_document,
    passage_key,
    passages_in,
)
from keepsake.recall.index.index_file import IndexDamaged
from keepsake.recall.index.words import IndexCounts, WordIndex
from keepsake.recall.ranking.word_vectors import signs
from keepsake.recall.stores import Collected, Nearest, VectorsSilent, VectorStore, VectorsUnusable

log = get_logger(Subsystem.INDEX)

WORDS = "words.db"
WORDS_BATCH = 256
"""Changes of archive and notes that are indexed by words in one transaction."""
VECTORS_BATCH = 64
"""Documents whose vectors are made and stored at once; between batches the thread pauses."""
SAVE_AFTER = 500
"""New memories after which the position in the archive is saved; the next start reads the rest."""
MOST_SILENT = 3
"""Requests in a row that Chroma takes and does not answer, after which its store counts as broken.
In a damaged graph a search goes round for ever, while the server answers its health checks. Each
waits ten seconds, which no healthy search needs on any machine."""
_PROBE_KEPT = "probe"
"""The name under which the vector of :data:`PROBE` by the model of an index is stored."""
_DIGITS = 5
"""Decimals of the numbers of the stored vector."""
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


class StoreDamaged(IndexUnavailable):
    """Chroma cannot create a collection: its store is broken."""


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
        self._chroma = chroma
        self._embedder = embedder
        self._reading = threading.Lock()
        self._reset()
        self._counts = IndexCounts(0, 0, 0, 0)
        self._problems: dict[str, KeepsakeError | None] = {}  # by part: "words", "vectors"
        self._loss = ""  # why the vectors must be rebuilt
        self._rebuild_asked = False
        self._closed = False

    def _reset(self) -> None:
        self._position = ReadPosition()
        self._saved = self._position
        self._notes: dict[str, str] | None = None  # digests by key; None before they are read
        self._noted = -1  # the version of the notes that was read last
        self._collection: Collected | None = None  # None until it is complete
        self._refused: set[int] = set()  # waiting documents that the embedder cannot embed
        self._silent = 0  # requests to Chroma in a row that got no answer

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
        if self._collection is None:
            raise IndexUnavailable(
                "The vectors are being made", "Recall uses words alone until they are ready"
            )
        try:
            found = self._collection.query(vector, limit)
        except VectorsSilent:
            self._silent += 1
            raise
        except VectorsUnusable as problem:
            self._loss = problem.what
            self._collection = None
            raise
        self._silent = 0
        return found

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
                log.warning(f"{reason}; rebuilding the index", agent=self.name)
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
        problem: KeepsakeError | None = None
        try:
            if self._silent >= MOST_SILENT:
                self._silent = 0
                self._collection = None
                raise StoreDamaged(f"it did not answer {MOST_SILENT} requests in a row")
            if self._chroma is not None and not self._closed:
                self._embed_waiting(self._chroma, pause)
        except (IndexUnavailable, ModelError) as error:
            problem = error
            self._silent += isinstance(error, VectorsSilent)
            if isinstance(error, VectorsUnusable):
                self._loss = error.what
                self._collection = None
        self._note_problem("vectors", problem)

    def _embed_waiting(self, chroma: VectorStore, pause: Callable[[], object]) -> None:
        vectors = self._collection or self._opened(chroma)
        while not self._closed and (waiting := self._next_waiting()):
            found = self.words.get(waiting)
            gone = waiting.keys() - found.keys()
            made = self._embedded([*found.values()])
            if not self._is_known(self._embedder.embed([PROBE])[0]):
                self._collection = None  # no search compares vectors of two models
                vectors = self._opened(chroma)
                continue  # now all documents wait
            # First what is no longer true, then the numbers of passages, then their vectors: after
            # a crash at any line the document still waits, and no vector is left unknown.
            passages = dict.fromkeys(gone, 0) | {each.key: len(own) for each, own in made}
            if surplus := _surplus(self.words.embeddings.passages(passages), passages):
                vectors.remove(surplus)
            self.words.embeddings.save_passages(passages)
            if made:
                vectors.add(made)
            self.words.embeddings.save_signs(self._signs([each for each, _ in made]))
            done = gone | {each.key for each, _ in made}
            self._refused |= {waiting[key] for key in waiting.keys() - done}
            self.words.embeddings.embedded([waiting[key] for key in done])
            self._counts = self.words.counts()
            pause()
        self._collection = None if self._closed else vectors

    def _next_waiting(self) -> dict[str, int]:
        """Return the next documents that wait for their vectors, without those refused before."""
        waiting = self.words.embeddings.waiting(VECTORS_BATCH + len(self._refused))
        left = [(key, each) for key, each in waiting.items() if each not in self._refused]
        return dict(left[:VECTORS_BATCH])

    def _embedded(
        self, documents: Sequence[Document], *, works: bool = False
    ) -> list[tuple[Document, Sequence[Sequence[float]]]]:
        """Embed the passages of documents, without documents that the embedder refuses.

        Those wait until a restart. One text at fault must not keep all others from being found by
        meaning: some models make no vector of some texts.

        ``works``: Whether the embedder is known to embed other texts.

        Raises:
            ModelError: The embedder embeds nothing now.
        """
        passages = [passages_in(each, self._agent) for each in documents]
        texts = [text for each in passages for text in each]
        try:
            vectors = iter(self._embedder.embed(texts) if texts else ())
            return [
                (document, [*islice(vectors, len(own))])
                for document, own in zip(documents, passages, strict=True)
            ]
        except (ModelRejected, ModelFailed, BadAnswer) as error:
            if not works:
                # A text that any embedder can embed, and that is in no cache.
                self._embedder.embed([f"Good day. It is {time.time_ns()}."])
            if len(documents) == 1:
                what = f"{documents[0].key} is not found by meaning: {error}"
                log.warning(what, agent=self.name, subsystem=Subsystem.EMBEDDING)
                return []
        middle = len(documents) // 2
        parts = documents[:middle], documents[middle:]
        return [each for part in parts for each in self._embedded(part, works=True)]

    def _signs(self, documents: Sequence[Document]) -> Mapping[str, bytes]:
        """Return the signs of the words of documents of one passage, by key."""
        by_words = as_word_embedder(self._embedder)
        if by_words is None:
            return {}
        passages = {each.key: passages_in(each, self._agent) for each in documents}
        short = {key: own[0] for key, own in passages.items() if len(own) == 1}
        found = by_words.embed_words([*short.values()])
        return dict.fromkeys(passages, b"") | dict(zip(short, map(signs, found), strict=True))

    def _opened(self, chroma: VectorStore) -> Collected:
        """Open the current model's collection; create one if it is missing or incomplete.

        Raises:
            ModelError: The embedder does not answer.
        """
        name = self.words.embeddings.collection
        reason = self._loss
        model = self._embedder.model_name
        probe = self._embedder.embed([PROBE])[0]
        try:
            vectors = chroma.open(name)
            counts = self.words.counts()
            lost = counts.vectors - vectors.count()
            if vectors.model != model:
                reason = f"they were made with {vectors.model}, and {model} is in use now"
            elif lost > 0:
                reason = f"Chroma has lost {lost} of them"
            elif not self._is_known(probe):
                reason = f"another model answers under the name {model} now"
            if not reason:
                if not self.words.kept(_PROBE_KEPT):  # an index of an earlier version
                    self._keep(probe)
                return vectors
        except VectorsUnusable as problem:
            reason = problem.what
        if name:
            log.info(f"rebuilding the vectors: {reason}", agent=self.name)
        try:
            vectors = chroma.create(self._agent, model, name)
        except VectorsUnusable as problem:
            raise StoreDamaged(problem.what, problem.cure) from problem
        self.words.embeddings.save(vectors.name)
        self._keep(probe)
        self._loss = ""
        return vectors

    def _is_known(self, probe: Sequence[float]) -> bool:
        """Whether a vector of :data:`PROBE` is that of the model that made the stored vectors."""
        kept = self.words.kept(_PROBE_KEPT)
        if not kept:
            return True
        before: list[float] = json.loads(kept)
        return is_same_model(before, probe)

    def _keep(self, probe: Sequence[float]) -> None:
        """Store the vector of :data:`PROBE` by the model that makes the stored vectors."""
        numbers = [round(number, _DIGITS) for number in probe]
        self.words.keep(_PROBE_KEPT, json.dumps(numbers))

    # -- the files

    def status(self) -> IndexStatus:
        """Return figures, as of the last round of the indexing thread."""
        return IndexStatus(
            agent=self._agent,
            memories=self._counts.memories,
            waiting=self._counts.waiting,
            by_meaning=self._collection is not None,
            problem=str(self.problem or ""),
        )

    def close(self) -> None:
        """Close the file when the current step is done."""
        self._closed = True
        with self._reading:
            self.words.close()

    def _note_problem(self, part: str, problem: KeepsakeError | None) -> None:
        """Keep the problem of a part of the index, and log it once."""
        before = self._problems.get(part)
        self._problems[part] = problem
        if problem is not None and str(problem) != str(before):
            subsystem = Subsystem.INDEX if part == "words" else Subsystem.EMBEDDING
            log.warning(str(problem), agent=self.name, subsystem=subsystem, exc_info=problem)


def _surplus(before: Mapping[str, int], now: Mapping[str, int]) -> list[str]:
    """Return the keys of passages that documents had and have no longer.

    Args:
        before: The numbers of passages by key; one if it is not there.
        now: The numbers of passages by key, 0 for a document that is gone.
    """
    return [
        passage_key(key, number)
        for key, count in now.items()
        for number in range(count, before.get(key, 1))
    ]
