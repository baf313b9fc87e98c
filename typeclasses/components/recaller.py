"""An agent's recall in the game: opens its index, keeps it up to date, searches it.

Every call of an index or embedder runs in a worker thread; the reactor only hands over
texts and numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from game.mind.errors import KeepsakeError
from game.mind.notes import NoteBook
from game.mind.ports import Embedder
from game.mind.recall.documents import DocumentKind, Hit, VectorIndex, WordIndex
from game.mind.recall.recall import Recall
from game.mind.recall.related import Found
from typeclasses.components.in_time import in_time
from typeclasses.components.surroundings import known_names
from typeclasses.services import Services, log, report

if TYPE_CHECKING:
    from typeclasses.components.memory import MemoryComponent

SPARE = 3
"""Found beyond what a prompt takes, since some of it may stand there already."""


class OpenIndex(Protocol):
    """The index of one agent; see :mod:`game.index`."""

    @property
    def words(self) -> WordIndex:
        """Finds by words."""
        ...

    @property
    def vectors(self) -> VectorIndex | None:
        """Finds by meaning; None while that is not to be had."""
        ...

    def follow(self, window_starts_at: int | None = None) -> None:
        """Catch up with archive, summaries and notes; blocks."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...


class Recaller:
    """Searches what one agent has lived, summed up and noted.

    Args:
        name: The agent's name, for log lines.
        folder: ``vault/agents/<name>``.
        notes: Its notes.
        memory: Tells what the window holds.
        services: What all agents share.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        notes: NoteBook,
        memory: MemoryComponent,
        services: Services,
    ) -> None:
        self._name, self._folder, self._notes, self._memory = name, folder, notes, memory
        self._services = services
        self._lock = threading.Lock()
        self._index: OpenIndex | None = None
        self._recall: Recall | None = None
        self._vectors: VectorIndex | None = None
        self._names: frozenset[str] = frozenset()
        self._problem = ""
        self._following = self._again = self._closed = False

    # -- searching

    def search(
        self,
        text: str,
        done: Callable[[Found | None], None],
        *,
        before: int | None = None,
        scene: bool = False,
        seconds: float,
    ) -> None:
        """Search in a worker thread; ``done`` is called once, on the reactor thread.

        Args:
            text: A question, or what is going on.
            done: Gets what was found, None if nothing could be searched in time.
            before: Only memories with lower numbers, which the window does not show.
            scene: What is recent counts more.
            seconds: How long it may take.
        """
        if self._services.indexes is None or self._closed:
            done(None)
            return
        self._names = known_names(self._services)

        def work() -> Found | None:
            return self.find(text, before=before, scene=scene)

        in_time(self._services, work, seconds, done)

    def find(self, text: str, *, before: int | None = None, scene: bool = False) -> Found | None:
        """The same, for worker threads: blocks."""
        config = self._services.recall.current
        recall = self._opened()
        if recall is None:
            return None

        def hits(kind: DocumentKind, limit: int) -> tuple[Hit, ...]:
            found = recall.search(
                text, limit=limit + SPARE, kinds=(kind,), before=before, scene=scene
            )
            if found is None:
                raise _Unsearchable
            return tuple(found)

        try:
            return Found(
                notes=hits(DocumentKind.NOTE, config.notes),
                summaries=hits(DocumentKind.SUMMARY, config.summaries),
                memories=hits(DocumentKind.MEMORY, config.memories),
            )
        except _Unsearchable:
            return None

    def rank(self, text: str, limit: int) -> list[Hit] | None:
        """The best hits of all kinds with scores and reasons, window included; blocks."""
        recall = self._opened()
        return recall.search(text, limit=limit) if recall else None

    def window_starts_at(self) -> int | None:
        """Number of the oldest memory that the prompt shows; None for an empty window."""
        window = self._memory.context().window
        return window[0].number if window else None

    # -- the index

    @property
    def following(self) -> bool:
        """Whether the index is being brought up to date."""
        return self._following

    def follow(self) -> None:
        """Bring the index up to date in the background; any thread may ask, at any time."""
        with self._lock:
            self._again = True
            if self._following or self._closed or self._services.indexes is None:
                return
            self._following = True
        self._services.followers.submit(self._follow)

    def close(self) -> None:
        """Let go of the index, once it has taken in what it is at."""
        self._closed = True
        with self._lock:
            index, self._index, self._recall = self._index, None, None
        if index is not None:
            # Behind whatever follows now; when the world stops, the service closes them all.
            self._services.followers.submit(index.close)

    def _follow(self) -> None:
        while True:
            with self._lock:
                if not self._again or self._closed:
                    self._following = False
                    return
                self._again = False
            try:
                self._opened()
                if (index := self._index) is not None:
                    index.follow(self.window_starts_at())
            except KeepsakeError as error:
                self._trouble(error)
            except Exception as error:
                # Whatever the index's libraries raise: recall goes on with what it holds.
                log(f"[Recall] {self._name}: The index cannot follow: {error!r}")

    def _opened(self) -> Recall | None:
        """The recall over the index as it is now; None if that cannot be opened."""
        with self._lock:
            if self._closed or self._services.indexes is None:
                return None
            try:
                if self._index is None:
                    archive = self._folder / "archive"
                    self._index = self._services.indexes.open(
                        self._folder.name, archive, self._notes
                    )
            except KeepsakeError as error:
                self._trouble(error)
                return None
            self._problem = ""
            # Vectors come and go while they are made anew; words serve meanwhile.
            if self._recall is None or self._vectors is not self._index.vectors:
                self._vectors = self._index.vectors
                self._recall = self._over(self._index.words, self._vectors)
            return self._recall

    def _over(self, words: WordIndex, vectors: VectorIndex | None) -> Recall:
        embedder = self._services.embedder
        return Recall(
            words,
            vectors,
            _OnceEach(embedder) if embedder else None,
            names=lambda: self._names,
            clock=self._services.clock,
            complain=report,
        )

    def _trouble(self, error: KeepsakeError) -> None:
        if str(error) != self._problem:
            log(f"[Recall] {self._name}: {error}")
        self._problem = str(error)


class _Unsearchable(Exception):
    """Recall could not be asked."""


class _OnceEach:
    """An embedder that remembers its last text: one question is asked of several kinds."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._last: tuple[tuple[str, ...], list[list[float]]] = ((), [])

    @property
    def model_name(self) -> str:
        return self._embedder.model_name

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        wanted = tuple(texts)
        known, vectors = self._last  # one read: another thread may replace it meanwhile
        if known != wanted:
            vectors = self._embedder.embed(texts)
            self._last = (wanted, vectors)
        return vectors
