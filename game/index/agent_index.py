"""The index of one agent: words in a file of its own, vectors in a collection of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from game.index.current import CurrentVectors, CurrentWords, Gate
from game.index.follower import AgentSources, IndexFollower, Meaning, Report, Store
from game.index.tail import ArchiveChanged
from game.index.vectors import ChromaVectors
from game.index.words import Fts5Index
from game.mind.errors import IndexUnavailable, KeepsakeError, ModelError
from game.mind.recall.documents import VectorIndex, WordIndex


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Figures about an index.

    Attributes:
        agent: Whose.
        memories: Memories that can be found by words.
        embedded: Those that can be found by meaning.
        model: What the vectors were made with; empty without vectors.
        complete: Whether meaning is asked at all.
        problem: What the last try said; empty when it went well.
    """

    agent: str
    memories: int
    embedded: int
    model: str
    complete: bool
    problem: str


def no_report(done: int, total: int) -> None:
    """Report progress to nobody."""


class AgentIndex:
    """What one agent can find again; opens its files when they are first needed.

    Searching may be done from any thread that may block. :meth:`follow` and
    :meth:`rebuild` are for one worker thread.

    Args:
        folder: ``$KEEPSAKE_HOME/index/<folder>``.
        lived: Where the truth is.
        meaning: For vectors; None goes without.
        log: Takes lines for people.

    Attributes:
        words: Finds by words.
        vectors: Finds by meaning; None when the configuration wants none.
        window: Number of the oldest memory in the window, as last heard.
        on_lost: Called, from any thread, when the vectors turn out to be gone.
        on_anew: Told, from any thread, that it was made anew, and why if nobody asked for it.
        problem: Why the last :meth:`follow` did not go through; None when it did.
    """

    def __init__(
        self, folder: Path, lived: AgentSources, meaning: Meaning | None, log: Callable[[str], None]
    ) -> None:
        self.problem: KeepsakeError | None = None
        self.window = 1
        self.on_lost: Callable[[], None] = lambda: None
        self.on_anew: Callable[[str], None] = lambda _: None
        self._path = folder / "words.db"
        self._lived, self._meaning, self._log = lived, meaning, log
        self._store: Store | None = None
        self._follower: IndexFollower | None = None
        self._opening, self._working = threading.Lock(), threading.Lock()
        self._gate = Gate()
        self.words: WordIndex = CurrentWords(self._gate, self._words)
        self.vectors: VectorIndex | None = (
            CurrentVectors(self._vectors, self._vectors_lost) if meaning else None
        )

    @property
    def agent(self) -> str:
        """Whose index it is: the name of the agent's folder."""
        return self._lived.agent

    def follow(
        self,
        window_starts_at: int | None = None,
        report: Report = no_report,
        *,
        vectors: bool = True,
    ) -> None:
        """Catch up with archive and notes; what fails is kept in :attr:`problem`, and logged.

        Words come first; without the vectors they go on alone.

        Args:
            window_starts_at: Number of the oldest memory in the window; None takes it from
                the archive's last compaction.
            report: See :data:`game.index.follower.Report`.
            vectors: Whether to embed as well; False while Chroma's server is starting.
        """
        with self._working:
            self.window = window_starts_at or self.window
            with self._troubles():
                self._follow_words(window_starts_at, report)
                if vectors:
                    self._following().follow_vectors(report)

    def follow_notes(self, *, vectors: bool = True) -> None:
        """Catch up with the notes alone, which people change at any time; quick."""
        with self._working, self._troubles():
            if self._following().follow_notes() and vectors:
                self._following().follow_vectors(no_report)

    def recheck(self) -> None:
        """Count the vectors again at the next turn: their server was away."""
        if (follower := self._follower) is not None:
            follower.recheck()

    def rebuild(self, report: Report = no_report) -> None:
        """Make everything anew beside the old index, which serves until the new one does.

        Raises:
            IndexUnavailable: The disk or Chroma refused; the old index stays.
            ModelError: The embedder refused; the old index stays.
        """
        with self._working:
            window, old = self._known_window(), self._old_collection()
            fresh = self._path.with_name("words.new.db")
            _delete(fresh)
            store = Store(fresh)
            try:
                follower = IndexFollower(store, self._lived, self._meaning, self._log, spared=old)
                follower.follow_words(window, report)
                follower.follow_vectors(report)
            except BaseException:
                store.close()
                _delete(fresh)
                raise
            self._take_over(store)
            if old and self._meaning is not None:
                self._meaning.chroma.drop(old)
            self.problem = None
        self.on_anew("")

    def status(self) -> IndexStatus:
        """Figures, as of the last step that was finished."""
        progress = self._store.progress if self._store else None
        return IndexStatus(
            agent=self.agent,
            memories=progress.memories if progress else 0,
            embedded=progress.embedded if progress else 0,
            model=progress.model if progress else "",
            complete=bool(progress and progress.complete),
            problem=str(self.problem or ""),
        )

    def close(self) -> None:
        """Let go of the files, when a step that is under way is done."""
        with self._working, self._gate.alone():
            self._close_store()

    # -- the files

    def _follow_words(self, window: int | None, report: Report) -> None:
        try:
            self._following().follow_words(window, report)
        except ArchiveChanged as change:
            self._start_anew(f"the archive is not the one that was indexed ({change})")
        except IndexUnavailable as problem:
            if not self._broken():
                raise
            self._start_anew(problem.what)
        else:
            return
        self._following().follow_words(window or self.window, report)

    def _start_anew(self, reason: str) -> None:
        """Throw away an index that cannot be used or is wrong."""
        self._log(f"[Index] {self.agent}: {reason}; making the index anew")
        with self._gate.alone():
            self._close_store()
            _delete(self._path)
        self.on_anew(reason)

    def _broken(self) -> bool:
        """Whether the file itself is damaged, and not merely locked or the disk full."""
        try:
            store = Store(self._path)
        except IndexUnavailable as problem:
            return _is_damage(problem)
        try:
            store.words.check()
        except IndexUnavailable as problem:
            return _is_damage(problem)
        finally:
            store.close()
        return False

    def _following(self) -> IndexFollower:
        store = self._opened()
        if self._follower is None:
            self._follower = IndexFollower(
                store, self._lived, self._meaning, lambda line: self._log(f"[Index] {line}")
            )
        return self._follower

    def _opened(self) -> Store:
        with self._opening:
            if self._store is None:
                existed = self._path.exists()
                self._store = Store(self._path)
                if not existed and any(self._lived.archive.glob("[0-9]*.jsonl")):
                    self._log(f"[Index] {self.agent}: there is no index yet; making it")
            return self._store

    def _close_store(self) -> None:
        with self._opening:
            store, self._store, self._follower = self._store, None, None
        if store is not None:
            store.close()

    def _take_over(self, store: Store) -> None:
        """Put the new file in the old one's place."""
        path = store.path
        with self._gate.alone():
            store.close()
            self._close_store()
            _delete(self._path)
            path.rename(self._path)
            self._opened()

    def _words(self) -> Fts5Index:
        return self._opened().words

    def _vectors(self) -> ChromaVectors | None:
        """The collection, once it is whole and of the model that is in use."""
        if self._meaning is None:
            return None
        progress, follower = self._opened().progress, self._follower
        if not progress.complete or progress.model != self._meaning.embedder.model_name:
            return None
        if follower is not None and follower.vectors is not None:
            return follower.vectors
        return ChromaVectors(self._meaning.chroma, progress.collection)

    def _known_window(self) -> int | None:
        """The window as last heard; None if the index cannot say and nobody has told it."""
        with contextlib.suppress(IndexUnavailable):
            known = max(self.window, self._opened().progress.window)
            return known if known > 1 else None
        return self.window if self.window > 1 else None

    def _old_collection(self) -> str:
        with contextlib.suppress(IndexUnavailable):
            return self._opened().progress.collection
        return ""

    def _vectors_lost(self) -> None:
        self.recheck()
        self.on_lost()

    @contextlib.contextmanager
    def _troubles(self) -> Iterator[None]:
        """Keep what goes wrong, and tell of it once."""
        try:
            yield
        except (IndexUnavailable, ModelError) as problem:
            if str(problem) != str(self.problem or ""):
                self._log(f"[Index] {self.agent}: {problem}")
            self.problem = problem
        except OSError as error:  # the archive cannot be read just now
            self.problem = IndexUnavailable(f"{self._lived.archive} cannot be read ({error})")
            self._log(f"[Index] {self.agent}: {self.problem}")
        else:
            self.problem = None


_TROUBLES = ("locked", "full", "readonly", "unable to open", "disk i/o error", "out of memory")
"""What SQLite says when a file may be sound and cannot be used just now."""


def _is_damage(problem: IndexUnavailable) -> bool:
    cause = str(problem.__cause__).lower()
    return not any(trouble in cause for trouble in _TROUBLES)


def _delete(database: Path) -> None:
    """Remove a database with what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
