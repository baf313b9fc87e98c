"""An agent's memory in the game: it archives events, and returns the context for a prompt."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Unpack

from keepsake.agent.body import AgentRef
from keepsake.agent.memory.books import Books
from keepsake.agent.memory.present import present_talk
from keepsake.agent.runtime import Runtime
from keepsake.archive.log import Archive
from keepsake.archive.privacy import PrivateWords
from keepsake.archive.privacy_cache import AT_ONCE_BYTES, PrivacyCache
from keepsake.archive.records import Memory, MemoryFacts
from keepsake.archive.spill import Line, not_yet_in, time_in
from keepsake.errors import ArchiveError, KeepsakeError
from keepsake.events.types import MemoryChange
from keepsake.events.values import CompactReason, MemoryOp
from keepsake.happening import What
from keepsake.logs import Subsystem, get_logger, logged
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.summary_text import Summarizer, extractive
from keepsake.memory.types import CompactionRequest, MemoryContext
from keepsake.memory.window import MemoryHost
from keepsake.models.tickets import Priority
from keepsake.tasks.summarizer import ModelSummarizer

log = get_logger(Subsystem.ARCHIVE)

REOPEN_SECONDS = 10.0
"""Seconds after a failure to open the archive in which it is not tried again."""
PRIVATE = "private.json"
"""The file in an agent's index folder that keeps which of its memories are private."""
ALL = sys.maxsize
"""Larger than the number of any memory."""


class MemoryComponent:
    """The memory of one agent. Use it on the reactor thread, unless a method says otherwise.

    Memories that cannot be archived wait in RAM and in the home's :class:`Spill`.

    Args:
        books: Its pins, promises and journal, which summaries must respect.

    Attributes:
        problem: Why the archive cannot be written now; None if it can.
        newest: Number of the last memory that was archived since the server started; 0 for none.
        considered: Number of the newest memory in a prompt that a model has answered since the
            server started; 0 for none.
        private: Which memories are private, and with whom they are shared.
        commitments: Its promises, and the rules that it follows.
        waiting: The memories that wait for the disk, in order.
        passed_over: The numbers of what people said to the agent that no model answered, and that
            gets no answer any more: its speaker has gone on, or left. A restart forgets them.
    """

    def __init__(self, ref: AgentRef, books: Books, services: Runtime) -> None:
        self.name = ref.name
        self.folder = ref.folder
        self.summaries = SummaryFolder(ref.folder / "summaries", ref.name)
        self.problem: KeepsakeError | None = None
        self.newest = 0
        self.considered = 0
        self.private = PrivateWords(unread=ALL)  # until the archive is opened
        self.commitments = books.commitments
        self.waiting: deque[Line] = deque(services.spill.of(ref.folder.name))
        self.passed_over: set[int] = set()
        self._books = books
        self._services = services
        self._spilled = bool(self.waiting)
        self._inherited = len(self.waiting)  # the first of them, which an earlier process left
        self._memory: AgentMemory | None = None
        self._private_cache: PrivacyCache | None = None  # None before the archive is opened
        self._opening = threading.RLock()
        self._closed = False
        self._try_again_at = 0.0

    # -- remembering

    def remember(self, what: What, **facts: Unpack[MemoryFacts]) -> int:
        """Add what happened to the archive. ``facts``: other fields of a :class:`Memory`.

        Returns:
            Its number in the archive; 0 if it waits, and :attr:`problem` says why.
        """
        memory = Memory(0, self._services.clock.now(), what, **facts)
        line: Line = memory.to_line()
        with self._opening:  # a thread that opens the archive puts another deque in its place
            self.waiting.append(line)
        if self.save_backlog():
            return self.newest
        if self._services.spill.keep(self.folder.name, line):  # so that a stop does not lose it
            self._spilled = True
        else:
            told = "A memory is only in RAM: free disk space before a restart"
            error = self._services.spill.problem
            log.error(told, agent=self.name, subsystem=Subsystem.WAITING, exc_info=error)
        return 0

    def save_backlog(self) -> bool:
        """Archive the memories that wait, in order. Return True if none waits any more."""
        if self._memory is None and not self.open():
            return False
        try:
            while self.waiting:
                waited = self.waiting[0]
                record = {**waited, "n": 0, "t": time_in(waited)}
                memory = self.memory.add(Memory.from_record(record))
                self.waiting.popleft()
                self.newest = memory.number
                self.private.add(memory)
                self._services.events.emit(
                    MemoryChange(  # only the length of the text, not its words
                        agent=self.name,
                        op=MemoryOp.APPEND if memory.repeats == 1 else MemoryOp.REPEAT,
                        n=memory.number,
                        of=memory.kind.value,
                        size=len(memory.text),
                        times=memory.repeats,
                    )
                )
            if self._spilled:
                self.memory.archive.sync()
                self._services.spill.done(self.folder.name)
                self._spilled = False
        except ArchiveError as error:
            self._set_problem(error)
            return False
        if self.problem is not None:
            log.info("The archive can be written again; nothing was lost", agent=self.name)
            self.problem = None
        return True

    # -- reading

    @property
    def memory(self) -> AgentMemory:
        """The opened memory.

        Raises:
            KeepsakeError: It could not be opened; the message says why.
        """
        if self._memory is None and not self.open():
            raise self.problem or KeepsakeError(f"{self.name}'s memory is closed")
        assert self._memory is not None
        return self._memory

    def context(self) -> MemoryContext:
        """Return what is in the prompt now. It raises the errors of :attr:`memory`."""
        return self.memory.context()

    @property
    def usable(self) -> Sequence[Memory]:
        """The window as far as the agent may use it: with ``memory: no`` only the present talk.

        It raises the errors of :attr:`memory`.
        """
        window = self.context().window
        if self._services.thinking.current.memory:
            return window
        return present_talk(window, self._services.clock.now())

    def number_of(self, happening: str) -> int:
        """Return the number of the memory in the window with that id; 0 if there is none."""
        if self._memory is None:
            return 0
        window = reversed(self._memory.context().window)
        return next((each.number for each in window if each.happening == happening), 0)

    # -- opening and closing

    def close(self) -> None:
        """Write everything to disk, and close the files for good.

        A thread that still uses the memory cannot open it again. That would take the archive from
        its next owner, such as the same agent under another name.
        """
        if self.waiting or self._memory is not None:
            self.save_backlog()
        with self._opening:
            self._closed = True
        if self.waiting:
            spill = self._services.spill
            spill.sync()
            told = f"Memories wait in {spill.path}, not yet in the archive"
            log.warning(
                told, agent=self.name, subsystem=Subsystem.WAITING, waiting=len(self.waiting)
            )
        if self._memory is not None:
            self._services.syncer.syncs.discard(self._memory.archive.sync)
            try:
                self._memory.close()
            except ArchiveError as error:
                log.error(str(error), agent=self.name, exc_info=error)
            self._memory = None

    def open(self) -> bool:
        """Open the archive, unless that failed a moment ago. Return whether it is open.

        May be called from any thread. Its time does not grow with the archive: it reads what is in
        the prompt, and worker threads read the rest.
        """
        with self._opening:
            return self._memory is not None or self._open()

    def _open(self) -> bool:
        now = self._services.seconds()
        if self._closed or now < self._try_again_at:
            return False
        self._try_again_at = now + REOPEN_SECONDS
        try:
            archive = Archive(self.folder / "archive")
        except ArchiveError as error:
            self._set_problem(error)
            return False
        try:
            memory = AgentMemory(self.name, archive, self.summaries, self._host())
        except Exception as error:
            # The error must not reach others in the same room, whose line is being delivered.
            archive.close()
            told = f"the archive in {self.folder} cannot be read ({error!r})"
            cure = "Fix its files; new memories are kept in KEEPSAKE_HOME until then"
            log.error("The archive cannot be read", agent=self.name, exc_info=error)
            self._set_problem(ArchiveError(told, cure))
            return False
        self._services.syncer.syncs.add(archive.sync)
        self._begin_private(archive)
        self._drop_archived(archive)
        self._books.record = archive.append
        self._memory = memory  # last, because from now on any thread may use it
        return True

    def _drop_archived(self, archive: Archive) -> None:
        """Let those memories wait no more that an earlier process archived before it ended.

        Newer ones are in no archive, and need not be searched there.
        """
        waiting = list(self.waiting)
        inherited = waiting[: self._inherited]
        newer = waiting[self._inherited :]
        self.waiting = deque([*not_yet_in(archive, inherited), *newer])
        self._inherited = 0

    def _begin_private(self, archive: Archive) -> None:
        """Find out which memories are private: at once in a small archive, else in a thread."""
        path = self._services.places.index / self.folder.name / PRIVATE
        self._private_cache = PrivacyCache(archive, path)
        self.private = PrivateWords(unread=archive.last_number)
        if archive.size() <= AT_ONCE_BYTES:
            self.read_private()
        else:
            # Not before this call returns: two busy threads would slow each other down.
            workers = self._services.workers
            self._services.post(lambda: _submit(workers, self.read_private))

    def read_private(self) -> None:
        """Read which memories are private, unless that is known; blocks, and never raises.

        Until it succeeds, all memories of the archive count as private. It is called again every
        minute.
        """
        private = self.private
        cache = self._private_cache
        if private.is_known or cache is None:
            return
        with logged(log, "The private memories could not be read", agent=self.name):
            private.learn(cache.read())

    def _host(self) -> MemoryHost:
        services = self._services
        return MemoryHost(
            clock=services.clock,
            config=lambda: services.compaction_config,
            summarizer=self._summarizer,
            tokens=services.tokens,
            constraints=lambda: self._books.constraints(self.private),
            importance=self._books.importance_of,
            emit=services.events.emit,
        )

    def _summarizer(self, request: CompactionRequest) -> Summarizer:
        """Return the summarizer that the settings name; called in a worker thread."""
        # A thought waits for an emergency compaction: its calls give way to nobody.
        waits = request.reason is CompactReason.EMERGENCY
        priority = Priority.EVENT if waits else Priority.COMPACTION
        ask = self._services.asker(request.limits.profile, priority)
        if ask is None:
            return extractive
        return ModelSummarizer(ask, self._services.prompts, request.names, request.persona)

    def _set_problem(self, error: KeepsakeError) -> None:
        if str(error) != str(self.problem):
            log.error(str(error), agent=self.name, exc_info=error)
        self.problem = error


def _submit(workers: Executor, work: Callable[[], object]) -> None:
    """Run work in a worker thread, unless the runtime has ended meanwhile."""
    with suppress(RuntimeError):
        workers.submit(work)
