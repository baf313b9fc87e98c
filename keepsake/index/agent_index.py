"""The index of one agent: a file of its own, and a collection of its own in Chroma."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from keepsake.errors import IndexUnavailable, KeepsakeError, ModelError
from keepsake.index.follower import AgentSources, IndexFollower, Meaning, Report
from keepsake.index.open_files import OpenFiles
from keepsake.index.state import IndexFile
from keepsake.index.tail import ArchiveChanged
from keepsake.recall.documents import VectorIndex


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Figures about an index."""

    agent: str  # whose
    memories: int  # memories that can be found by words
    embedded: int  # those that can be found by meaning
    model: str  # what the vectors were made with; empty without vectors
    complete: bool  # whether meaning is asked at all
    problem: str  # what the last try said; empty when it went well


def stale_mark(folder: Path) -> Path:
    """The file that says, in an agent's folder of the index, that what is there must go."""
    return folder / "stale"


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
        open_files: Says when to let go of files for a while.

    Attributes:
        words: Finds by words.
        vectors: Finds by meaning; None when the configuration wants none.
        window: Number of the oldest memory in the window, as last heard.
        on_anew: Told, from any thread, that it was made anew, and why if nobody asked for it.
        problem: Why the last :meth:`follow` did not go through; None when it did.
    """

    def __init__(
        self,
        folder: Path,
        lived: AgentSources,
        meaning: Meaning | None,
        log: Callable[[str], None],
        open_files: OpenFiles | None = None,
    ) -> None:
        self.problem: KeepsakeError | None = None
        self.window = 1
        self.on_anew: Callable[[str], None] = lambda _: None
        self._open_files = open_files or OpenFiles()
        model = meaning.embedder.model_name if meaning else ""
        self.words = IndexFile(folder / "words.db", self._open_files, model)
        self._stale = stale_mark(folder)
        self.words.distrusted = self._stale.exists()
        self._lived, self._meaning, self._log = lived, meaning, log
        self._follower: IndexFollower | None = None
        self._working = threading.Lock()
        self.vectors: VectorIndex | None = self.words if meaning else None

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
            report: See :data:`keepsake.index.follower.Report`.
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
            fresh = IndexFile(self.words.path.with_name("words.new.db"))
            fresh.delete()
            try:
                follower = IndexFollower(fresh, self._lived, self._meaning, self._log, spared=old)
                follower.follow_words(window, report)
                follower.follow_vectors(report)
            except BaseException:
                fresh.delete()
                raise
            self._follower = None
            self.words.become(fresh)
            self._trust()
            if old and self._meaning is not None:
                self._meaning.chroma.drop(old)
            self.problem = None
        self.on_anew("")

    def status(self) -> IndexStatus:
        """Figures, as of the last step that was finished."""
        progress = self.words.progress
        return IndexStatus(
            agent=self.agent,
            memories=progress.memories,
            embedded=progress.embedded,
            model=progress.model,
            complete=progress.complete,
            problem=str(self.problem or ""),
        )

    def close(self) -> None:
        """Let go of the files, when a step that is under way is done."""
        with self._working:
            self._follower = None
            self.words.close()
            self._open_files.forget(self.words)

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
        self._log(f"[Index] {self.agent}: {reason}; making the index anew")
        self._follower = None
        self.words.delete()
        self._trust()
        self.on_anew(reason)

    def _trust(self) -> None:
        self._stale.unlink(missing_ok=True)
        self.words.distrusted = False

    def _broken(self) -> bool:
        """Whether the file itself is damaged, and not merely locked or the disk full."""
        try:
            self.words.check()
        except IndexUnavailable as problem:
            return _is_damage(problem)
        return False

    def _following(self) -> IndexFollower:
        if self.words.distrusted:
            self._start_anew("somebody was forgotten")
        if self._follower is None:
            existed = self.words.path.exists()
            self.words.opened()
            if not existed and any(self._lived.archive.glob("[0-9]*.jsonl")):
                self._log(f"[Index] {self.agent}: there is no index yet; making it")
            self._follower = IndexFollower(
                self.words, self._lived, self._meaning, lambda line: self._log(f"[Index] {line}")
            )
        return self._follower

    def _known_window(self) -> int | None:
        """The window as last heard; None if the index cannot say and nobody has told it."""
        with contextlib.suppress(IndexUnavailable):
            known = max(self.window, self.words.opened().window)
            return known if known > 1 else None
        return self.window if self.window > 1 else None

    def _old_collection(self) -> str:
        with contextlib.suppress(IndexUnavailable):
            return self.words.opened().collection
        return ""

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
