"""An agent's memory in the game: what happens goes in, what stands in a prompt comes out."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from keepsake.agent.agent_log import Complaints, log, logged
from keepsake.agent.body import Life
from keepsake.agent.happenings import remembered
from keepsake.agent.memory.compactor import BackgroundCompactor
from keepsake.agent.runtime import Runtime
from keepsake.archive.log import Archive
from keepsake.archive.privacy import NOBODY, Audience, PrivateWords
from keepsake.archive.records import Memory, MemoryFacts, MemoryKind
from keepsake.archive.spill import Line, not_yet_in
from keepsake.books.commitments import Commitments
from keepsake.errors import ArchiveError, KeepsakeError
from keepsake.events.types import Fault, MemoryChange
from keepsake.memory.agent_memory import AgentMemory, SlidingMemory
from keepsake.memory.cascade import CascadeMemory
from keepsake.memory.config import CompactionConfig
from keepsake.memory.host import MemoryHost
from keepsake.memory.protocol import OURS
from keepsake.memory.source import Summarizer
from keepsake.memory.strategy import Layout
from keepsake.memory.summarizer import ExtractiveSummarizer, ModelSummarizer
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import MemoryContext

BACKLOG_LIMIT = 10_000
"""Memories that wait for a disk that cannot be written; the oldest go first."""
REOPEN_SECONDS = 10.0
COMMITMENTS = "noticed.md"
"""The file of promises and rules in an agent's folder."""
LATELY = 1000
"""Memories in which whose words are whose is looked up."""

type Watcher = Callable[[Memory], None]
"""Is given every memory once it is archived; quick."""


class MemoryComponent:
    """The memory of one agent.

    It runs on the reactor thread, but for what is said to be asked from others.

    Args:
        pins: Gives the pinned lines as a prompt shows them; in any thread.
        importance: Gives how much a memory matters, 1 to 10; in any thread.
        may_compact: Says whether the agent sleeps, so that its memory may be compacted earlier.
        leaving: As :class:`BackgroundCompactor` has them.

    Attributes:
        compactor: What compacts it.
        kind: The name of the memory that the agent has; empty for ours.
        summaries: The folder of its summaries.
        watchers: Who looks at every new memory.
        problem: Why the archive cannot be written now; None if it can.
        newest: Number of the last memory that was archived since the server started; 0 for none.
        last_act: Number of the last act that was remembered since the server started; 0 for none.
        private: Which of its memories are private, and with whom they are shared.
        commitments: What it has promised, and the rules that it keeps to.
    """

    def __init__(
        self,
        life: Life,
        services: Runtime,
        *,
        pins: Callable[[], Sequence[str]],
        importance: Callable[[Memory], int],
        may_compact: Callable[[], bool],
        leaving: Callable[[Sequence[Memory]], None],
    ) -> None:
        self.name, self.folder = life.name, life.folder
        self.summaries = SummaryFolder(life.folder / "summaries", life.name)
        self.compactor = BackgroundCompactor(
            life, services, memory=lambda: self.memory, leaving=leaving
        )
        self.watchers: Sequence[Watcher] = ()
        self.problem: KeepsakeError | None = None
        self.newest = self.last_act = 0
        self.private = PrivateWords()
        trouble, emit = Complaints(f"[Notes] {life.name}"), services.events.emit
        self.commitments = Commitments(life.folder / COMMITMENTS, trouble, life.name, emit)
        self._services, self._pins, self._importance = services, pins, importance
        self.kind, self._may_compact = life.memory, may_compact
        self._memory: AgentMemory | None = None
        self._opening = threading.RLock()
        self._dropped = 0
        self._closed = self._asleep = self._slid = False
        self._backlog = deque(map(_entry, services.spill.of(self.folder.name)), BACKLOG_LIMIT)
        self._unkept: list[Line] = []
        self._try_again_at = 0.0

    # -- remembering

    def remember(
        self,
        text: str,
        kind: MemoryKind = MemoryKind.PERCEPTION,
        **facts: Unpack[MemoryFacts],
    ) -> bool:
        """Remember one line, and start a compaction when one is due.

        ``source_id`` and ``to_id`` say who that is, whatever they are called (:func:`identity_of`),
        ``event`` what kind of message it was (``say``, ``give`` …), ``importance`` how much it
        matters, 1 to 10, if the world says so, ``chain`` of hearsay whose memories it rests on.

        Returns:
            Whether it is in the archive; if not, it waits, in RAM and in the home's
            :class:`Spill`, and :attr:`problem` says why.
        """
        about = {**facts, "time": self._services.clock.now()}
        self._dropped += len(self._backlog) == BACKLOG_LIMIT
        self._backlog.append((text, kind, about))
        if saved := self.save_backlog():
            self.compact_if_due()
        else:
            self._keep(_line(text, kind, about))
        return saved

    def _keep(self, line: Line) -> None:
        """Write down what waits, so that no end of this process loses it."""
        if not self._services.spill.keep(self.folder.name, line):
            self._unkept.append(line)

    def save_backlog(self) -> bool:
        """Archive what waits in RAM, in order; True if nothing waits any more."""
        if not self.open():
            return False
        try:
            while self._backlog:
                self._save(*self._backlog[0])
                self._backlog.popleft()
            self._brought()
        except ArchiveError as error:
            self._trouble(error)
            return False
        self._relieved()
        return True

    def _brought(self) -> None:
        """What waited in the home is in the archive: it need not wait any more."""
        self._unkept.clear()
        if self._services.spill.of(self.folder.name):
            self.memory.archive.sync()
            self._services.spill.done(self.folder.name)
            log(f"[Memory] {self.name}: What waited in the home is in the archive")

    def _save(self, text: str, kind: MemoryKind, about: dict[str, Any]) -> None:
        memory = self.memory.append(text, kind, **about)
        self.newest = memory.number
        self.private.saw(memory)
        if memory.kind is MemoryKind.ACT:
            self.last_act = memory.number
        self._services.events.emit(remembered(self.name, memory))
        for watcher in self.watchers:
            # Whatever breaks in one: it is in the archive, and must not be archived again.
            with logged(f"{self.name}: Memory {memory.number} was not looked at"):
                watcher(memory)

    def compact_if_due(self) -> None:
        """Start a compaction in the background when one is due."""
        if self._memory is None or self.compactor.busy:
            return
        if self._slides is not self._slid:
            how = "summaries" if self._slid else "a sliding window, without summaries"
            log(f"[Memory] {self.name}: The strategy has changed to {how}")
            self._memory = self._over(self._memory.archive)
        self._asleep = self._may_compact()
        if self._memory.may_be_due():
            self.compactor.compact_if_due()

    # -- what it holds

    @property
    def memory(self) -> AgentMemory:
        """The memory itself.

        Raises:
            KeepsakeError: It could not be opened; says why.
        """
        if not self.open():
            raise self.problem or KeepsakeError(f"{self.name}'s memory is closed")
        assert self._memory is not None
        return self._memory

    def context(self) -> MemoryContext:
        """What stands in the prompt now; see :attr:`memory` for errors."""
        return self.memory.context()

    def lately(self) -> Sequence[Memory]:
        """The newest :data:`LATELY` memories, however many of them are summed up; blocks."""
        archive = self.memory.archive
        return archive.read(max(archive.last_number - LATELY + 1, 1), archive.last_number)

    @property
    def waiting(self) -> int:
        """Memories that wait for the disk."""
        return len(self._backlog)

    @property
    def unkept(self) -> int:
        """How many of them are in RAM alone, as the home cannot be written either."""
        return len(self._unkept)

    def always_shown(self) -> tuple[str, ...]:
        """What stands in every prompt, whatever is compacted: pins and promises; any thread."""
        return (*self._pins(), *self.noticed_for(NOBODY))

    def noticed_for(self, audience: Audience, before: int | None = None) -> tuple[str, ...]:
        """Promises and rules of before memory ``before``, as far as the audience may hear them."""
        may = partial(self.private.may_hear, audience=audience)
        return self.commitments.lines_before(before, may)

    def promised(self) -> frozenset[int]:
        """The numbers of the memories on which open promises and rules rest; in any thread."""
        return frozenset(item.number for item in self.commitments.items)

    # -- opening and closing

    def close(self) -> None:
        """Bring everything to the disk and let go of the files, for good.

        A thread that still works on it finds it closed: to open it again would take the
        archive from whoever comes after, such as the same agent under another name.
        """
        if self._backlog or self._memory is not None:
            self.save_backlog()
        with self._opening:
            self._closed = True
        if self._backlog:
            self._leave_waiting()
        if self._memory is not None:
            self._services.syncer.remove(self._memory.archive)
            try:
                self._memory.close()
            except ArchiveError as error:
                log(f"[Memory] {self.name}: {error}")
            self._memory = None

    def open(self) -> bool:
        """Open the archive, unless that failed a moment ago; whether it is open.

        Any thread may ask. It reads what stands in the prompt; whatever else is to be made of
        that is left to workers.
        """
        if self._memory is not None:
            return True
        with self._opening:
            return self._memory is not None or self._open()

    def prepare(self) -> None:
        """Open it, and weigh it: all that would take long on the reactor thread; blocks."""
        if self.open():
            with logged(f"{self.name}: The memory could not be weighed"):
                self.memory.load()

    def _open(self) -> bool:
        now = self._services.seconds()
        if self._closed or now < self._try_again_at:
            return False
        self._try_again_at = now + REOPEN_SECONDS
        try:
            archive = Archive(self.folder / "archive")
        except ArchiveError as error:
            self._trouble(error)
            return False
        try:
            self.private = PrivateWords.of(archive)
            memory = self._over(archive)
        except Exception as error:
            # Not even a window can be read: what happens waits in RAM, and whoever speaks
            # in the same room must not suffer for it.
            archive.close()
            self._trouble(_unreadable(self.folder, error))
            return False
        self._services.syncer.add(archive)
        # Of what waited since before this process, an earlier one may have brought a part.
        waited = [_line(*self._backlog.popleft()) for _ in range(len(self._backlog))]
        self._backlog.extendleft(map(_entry, reversed(not_yet_in(archive, waited))))
        if archive.torn:
            self._services.events.emit(
                MemoryChange(agent=self.name, op="mended", n=archive.last_number, size=archive.torn)
            )
        self._memory = memory  # last of all: from now on any thread may use it
        return True

    def _over(self, archive: Archive) -> AgentMemory:
        """The memory that the configuration names; the plain one if that cannot be read."""
        services = self._services
        host = MemoryHost(
            clock=services.clock,
            config=lambda: self._config,
            summarizer=self._summarizer,
            strategy=services.strategy,
            log=log,
            tokens=services.tokens,
            constraints=self.always_shown,
            promised=self.promised,
            asleep=lambda: self._asleep,
            importance=self._importance,
            ticks=services.seconds,
            emit=services.events.emit,
        )
        self._slid = self._slides
        if not self._slid:
            try:
                return CascadeMemory(self.name, archive, self.summaries, host)
            except Exception as error:
                # Whatever an archive holds that this code cannot read: the agent lives on with
                # its newest memories, and the log says what to look at.
                told = f"The tiers cannot be read ({error!r}); sliding window only"
                log(f"[Memory] {self.name}: {told}")
        return SlidingMemory(self.name, archive, self.summaries, host)

    @property
    def _slides(self) -> bool:
        """Whether no summaries are made: by the strategy, or as another memory does the rest."""
        return self.kind not in OURS or self._services.strategy().layout is Layout.SLIDING

    @property
    def _config(self) -> CompactionConfig:
        config = self._services.ladder
        if self.kind in OURS:
            return config
        return replace(config, immediate_window=max(config.preserve_memories, 1))

    def _summarizer(self) -> Summarizer:
        """The summarizer that the configuration names; called in a worker thread."""
        if (ask := self._services.asker(self._config.profile)) is None:
            return ExtractiveSummarizer()
        names, persona = self.compactor.known_names, self.compactor.persona
        return ModelSummarizer(ask, self._services.prompts, names, persona)

    def _leave_waiting(self) -> None:
        """The process ends, and the archive still cannot be written."""
        unkept, self._unkept = self._unkept, []
        for line in unkept:
            self._keep(line)
        spill, kept = self._services.spill, len(self._backlog) - len(self._unkept)
        spill.sync()
        log(f"[Memory] {self.name}: {kept} memories wait in {spill.path} for the archive")
        if self._unkept:
            lost = f"{len(self._unkept)} memories could be written nowhere and are lost"
            log(f"[Error] {self.name}: {lost}")

    def _trouble(self, error: KeepsakeError) -> None:
        if str(error) != str(self.problem):
            log(f"[Memory] {self.name}: {error}")
            fault = Fault(level="error", text=str(error), agent=self.name)
            self._services.events.emit(fault)
        self.problem = error

    def _relieved(self) -> None:
        if self.problem is not None:
            lost = f"the oldest {self._dropped} memories were" if self._dropped else "nothing was"
            log(f"[Memory] {self.name}: The archive can be written again; {lost} lost")
            if self._dropped:
                self._services.events.emit(
                    MemoryChange(agent=self.name, op="lost", n=0, times=self._dropped)
                )
        self.problem, self._dropped = None, 0


def _line(text: str, kind: MemoryKind, about: dict[str, Any]) -> Line:
    """A memory that waits, as it is kept in the home."""
    return {"text": text, "kind": kind.value} | about | {"time": about["time"].isoformat()}


def _entry(line: Line) -> tuple[str, MemoryKind, dict[str, Any]]:
    """What :func:`_line` made it from."""
    about = dict(line)
    text, kind = str(about.pop("text")), MemoryKind(about.pop("kind"))
    return text, kind, about | {"time": datetime.fromisoformat(about["time"])}


def _unreadable(folder: Path, error: Exception) -> ArchiveError:
    return ArchiveError(
        f"the archive in {folder} cannot be read ({error!r})",
        "Mend its files; what happens meanwhile waits in the home",
    )
