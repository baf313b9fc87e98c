"""One memory that is open: its archive, books and index, and the threads that tend them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from keepsake.agent.memory.shelf import Reader, Shelf
from keepsake.archive.log import Archive
from keepsake.archive.privacy import PrivateWords
from keepsake.archive.privacy_cache import AT_ONCE_BYTES, PrivacyCache
from keepsake.archive.records import Memory
from keepsake.books.persona import open_lines
from keepsake.errors import ArchiveInUse, CompactionError, KeepsakeError, ModelMissing
from keepsake.events.types import Events
from keepsake.events.values import CompactReason
from keepsake.files import OWN
from keepsake.language.tokens import Heuristic
from keepsake.library.background import Background
from keepsake.library.models import Answerer
from keepsake.library.settings import MemorySettings
from keepsake.logs import Subsystem, get_logger
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.config import CompactionConfig
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.summary_text import Summarizer, extractive
from keepsake.memory.types import CompactionRequest, CompactionResult, UndoResult
from keepsake.memory.window import MemoryHost
from keepsake.ports import Clock, Embedder
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.finding import Finder
from keepsake.recall.stores import VectorStore

log = get_logger(Subsystem.ARCHIVE)

INDEX = "index"
"""The folder of the index, among what a program keeps beside a memory."""
INDEX_SECONDS = 10.0
"""Seconds that a search waits at most for new memories to be indexed: an index of 50,000 memories
that is made anew takes as long, and meanwhile what is indexed is found."""
READY_SECONDS = 60.0
"""Seconds that a prompt waits at most until it is known which memories are private. An archive of
100,000 memories takes one; until then all count as private."""


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """Who the agent of a memory is.

    Attributes:
        name: Its name.
        persona: Who it is, as a prompt begins.
        examples: Lines that show its voice, for a model that continues text: ``Mira: Sit down.``
    """

    name: str
    persona: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """What a memory works with.

    Attributes:
        answerer: What answers for the agent.
        embedder: Makes the vectors; None for recall by words alone.
        vectors: Keeps the vectors; None with no embedder.
        events: Takes the events.
    """

    answerer: Answerer
    settings: MemorySettings
    clock: Clock
    embedder: Embedder | None
    vectors: VectorStore | None
    events: Events


class WordsAlone:
    """Stands for the embedder of a memory without one. Nothing asks it."""

    model_name = "none"

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Raise ModelMissing."""
        raise ModelMissing("There is no embedder", 'Open the memory with embedder="embedded"')


class OpenMemory:
    """The files of one memory, open; safe for threads.

    It costs as much to open a memory of a million lines as an empty one: a thread of its own reads
    what needs the whole archive.

    Raises:
        ArchiveInUse: Another process, or this one, has the memory open.
        ArchiveUnwritable: The folder cannot be created or written.

    Attributes:
        private: Which memories are private, and with whom they are shared.
        index: The index; made anew from the archive if it is missing, behind or broken.
        finder: Finds memories in the index.
        tokens: Counts tokens; learns from the counts of the model's server.
    """

    def __init__(self, folder: Path, agent: AgentProfile, parts: Parts) -> None:
        self.folder = folder
        self.agent = agent
        self.parts = parts
        self.tokens = Heuristic()
        self.prompt_tokens = parts.answerer.target.prompt_tokens
        self.archive = _opened(folder)
        try:
            self.shelf = Shelf(
                agent.name, folder, clock=parts.clock, tokens=self.tokens, emit=parts.events.emit
            )
            self.memory = AgentMemory(
                agent.name,
                self.archive,
                SummaryFolder(folder / "summaries", agent.name),
                self._host(),
            )
        except BaseException:
            self.archive.close()
            raise
        self.shelf.record = self.archive.append
        self.private = PrivateWords(unread=self.archive.last_number)
        self._known = threading.Event()
        self._compacting = threading.Lock()
        self._cache = PrivacyCache(self.archive, folder / OWN / "private.json")
        self.index = AgentIndex(
            folder / OWN / INDEX / agent.name,
            self.archive.folder,
            self.shelf.notes,
            chroma=parts.vectors,
            embedder=parts.embedder or WordsAlone(),
            name=agent.name,
        )
        self.finder = Finder(
            agent.name,
            self.index,
            parts.embedder,
            names=self.names,
            private=lambda: self.private,
            clock=parts.clock,
            complain=self._complain,
        )
        if self.archive.size() <= AT_ONCE_BYTES:
            self._read_private()
        self.files = Background("keepsake-files", self._tend)
        self._compactor = Background("keepsake-compaction", self._compact_if_due)
        if self.archive.last_number:
            self.files.wake()

    def names(self) -> frozenset[str]:
        """Return the names of all people whom the agent knows; quick."""
        window = self.memory.context().window
        known = self.shelf.people.known.values()
        found = {name for page in known for name in page.names}
        return frozenset(found.union(each.source for each in window if each.source))

    def reader(self) -> Reader:
        """Return for whom a prompt chooses lines from the books."""
        context = self.memory.context()
        return Reader(self.private, context.shown_from(), self.prompt_tokens, context.masked)

    @property
    def limits(self) -> CompactionConfig:
        """The compaction settings, fitted to the model."""
        return self.parts.settings.compaction.fitted(self.prompt_tokens)

    # -- writing

    def add(self, memory: Memory) -> Memory:
        """Archive a memory under the next number, or as one more repeat of the newest.

        Raises:
            ArchiveUnwritable: Nothing was remembered.
        """
        added = self.memory.add(memory)
        self.private.add(added)
        self.files.wake()
        if self.memory.may_be_due():
            self._compactor.wake()
        return added

    # -- reading

    def read_up(self) -> None:
        """Read what a prompt is made from; blocks for a moment after opening.

        Pages of people get what is new in the background. Only what has left the window already
        is added here: the prompt would not have it otherwise.
        """
        shown = self.memory.context().window
        if shown and self.shelf.people.through < shown[0].number - 1:
            self.shelf.update_people(self.archive)
        self.shelf.read_for_thoughts()
        # All that was perceived is found, even if another thread indexes now.
        self.index.refresh(patience=INDEX_SECONDS)
        if not self._known.wait(READY_SECONDS):
            log.warning("It is not known yet which memories are private", agent=self.agent.name)

    # -- compactions

    def request(self, reason: CompactReason | None) -> CompactionRequest:
        """Return what a compaction needs to know."""
        paragraph = self.agent.persona.strip().partition("\n\n")[0]
        return CompactionRequest(
            reason=reason,
            limits=self.limits,
            names=self.names(),
            persona=" ".join(open_lines(paragraph)),
        )

    def compact(self, reason: CompactReason | None) -> CompactionResult:
        """Make a compaction, after one that runs; blocks. It raises CompactionError."""
        with self._compacting:
            return self.memory.compact(self.request(reason))

    def undo(self) -> UndoResult:
        """Take the last compaction back, after one that runs; blocks. It raises CompactionError."""
        with self._compacting:
            return self.memory.undo()

    def make_room(self) -> None:
        """Compact first if the next prompt would be over its budget; blocks.

        A compaction that fails, or that another thread makes, is no error: the prompt then shows
        fewer lines.
        """
        if (reason := self.memory.before_thought()) is not None:
            try:
                self.compact(reason)
            except CompactionError as error:
                log.warning(str(error), agent=self.agent.name, subsystem=Subsystem.COMPACTION)

    def _compact_if_due(self) -> None:
        if self.memory.may_be_due():
            try:
                self.compact(None)
            except CompactionError as error:
                log.warning(str(error), agent=self.agent.name, subsystem=Subsystem.COMPACTION)

    def _summarizer(self, request: CompactionRequest) -> Summarizer:
        if not self.parts.answerer.name:
            return extractive
        # A memory without a model needs no templates.
        from keepsake.library.templates import templates  # noqa: PLC0415 - slow to import
        from keepsake.tasks.summarizer import ModelSummarizer  # noqa: PLC0415 - as above

        ask = self.parts.answerer.ask
        return ModelSummarizer(ask, templates(), request.names, request.persona)

    def _host(self) -> MemoryHost:
        return MemoryHost(
            clock=self.parts.clock,
            config=lambda: self.limits,
            summarizer=self._summarizer,
            tokens=self.tokens,
            constraints=lambda: self.shelf.constraints(self.private),
            importance=self.shelf.importance_of,
            emit=self.parts.events.emit,
        )

    def _complain(self, problem: KeepsakeError) -> None:
        log.warning(str(problem), agent=self.agent.name, subsystem=Subsystem.RECALL)

    # -- in the background

    def _tend(self) -> None:
        """Write to the disk, and index what is new."""
        if not self._known.is_set():
            self._read_private()
        self.archive.sync()
        self.shelf.update_people(self.archive)
        self.index.refresh(self._pause)
        self.index.embed(self._pause)

    def _pause(self) -> None:
        if self.files.is_ending:
            raise _Ending

    def _read_private(self) -> None:
        self.private.learn(self._cache.read())
        self._known.set()

    def close(self) -> None:
        """End the threads, write everything to the disk, and close the files.

        Raises:
            ArchiveUnwritable: The disk refused. The files are closed.
        """
        self.shelf.closed = True
        self.files.close()
        self._compactor.close()
        self.index.close()
        if self.parts.vectors is not None:
            self.parts.vectors.close()
        self.memory.close()


class _Ending(Exception):
    """Interrupts a long step. What is done is kept; the rest is done after the next opening."""


def requests_of(folder: Path) -> Path:
    """Return the folder of requests to forget somebody that are not done yet."""
    return folder / OWN / "forgetting"


def _opened(folder: Path) -> Archive:
    """Open the archive of a memory."""
    try:
        return Archive(folder / "archive")
    except ArchiveInUse as error:
        raise ArchiveInUse(
            f"The memory {folder} is open already, in this process or another",
            "Close it there first (use `with Memory(…)`), or let one process serve it to the "
            "others with `keepsake serve`",
        ) from error
