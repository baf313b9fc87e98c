"""An agent's memory in the game: what happens goes in, what stands in a prompt comes out."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from keepsake.agent.agent_log import Complaints, log, logged
from keepsake.agent.body import Life
from keepsake.agent.happenings import remembered
from keepsake.agent.memory.compactor import BackgroundCompactor, Compacted
from keepsake.agent.memory.opening import Opener
from keepsake.agent.memory.owner import MemoryOwner
from keepsake.agent.runtime import Runtime
from keepsake.archive.log import Archive
from keepsake.archive.privacy import NOBODY, Audience, PrivateWords
from keepsake.archive.records import Memory, MemoryFacts, MemoryKind
from keepsake.archive.spill import Line, not_yet_in
from keepsake.books.commitments import Commitments
from keepsake.errors import ArchiveError, KeepsakeError
from keepsake.events.types import Fault, MemoryChange
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.host import MemoryHost
from keepsake.memory.protocol import OURS
from keepsake.memory.types import MemoryContext

__all__ = ["BACKLOG_LIMIT", "Compacted", "MemoryComponent"]

BACKLOG_LIMIT = 10_000
"""Memories that wait for a disk that cannot be written; the oldest go first."""
REOPEN_SECONDS = 10.0
COMMITMENTS = "noticed.md"
"""The file of promises and rules in an agent's folder."""
LATELY = 1000
"""Memories in which whose words are whose is looked up."""


class MemoryComponent(BackgroundCompactor):
    """The memory of one agent.

    It runs on the reactor thread, but for what is said to be asked from others.

    Attributes:
        problem: Why the archive cannot be written now; None if it can.
        newest: Number of the last memory that was archived since the server started; 0 for none.
        last_act: Number of the last act that was remembered since the server started; 0 for none.
        private: Which of its memories are private, and with whom they are shared.
        commitments: What it has promised, and the rules that it keeps to.
    """

    def __init__(self, life: Life, owner: MemoryOwner, services: Runtime) -> None:
        super().__init__(life, owner, services)
        self.problem: KeepsakeError | None = None
        self.newest = self.last_act = 0
        self.private = PrivateWords()
        trouble, tell = Complaints(f"[Notes] {life.name}"), services.events.emit
        self.commitments = Commitments(life.folder / COMMITMENTS, trouble, life.name, tell)
        self._memory: AgentMemory | None = None
        self._opening = threading.RLock()
        self._dropped = 0
        self._closed = self._asleep = False
        self._backlog = deque(map(_entry, services.spill.of(self.folder.name)))
        self._from_before = len(self._backlog)
        self._unkept: list[Line] = []
        self._try_again_at = 0.0
        of_the_agent = partial(
            MemoryHost,
            constraints=self.always_shown,
            promised=self.promised,
            asleep=lambda: self._asleep,
            importance=owner.importance,
        )
        self._opener = Opener(
            life.name,
            self.summaries,
            services,
            of_the_agent,
            lambda: (self.known_names, self.persona),
            plugged=life.memory not in OURS,
        )

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
        self._backlog.append((text, kind, about))
        saved = self.save_backlog()
        if saved:
            self.compact_if_due()
        else:
            self._keep(_line(text, kind, about))
            self._bound()
        return saved

    def _keep(self, line: Line) -> None:
        """Write down what waits, so that no end of this process loses it."""
        if not self._services.spill.keep(self.folder.name, line):
            self._unkept.append(line)

    def _bound(self) -> None:
        while len(self._backlog) > BACKLOG_LIMIT:
            self._backlog.popleft()
            self._from_before = max(self._from_before - 1, 0)
            self._dropped += 1

    def save_backlog(self) -> bool:
        """Archive what waits in RAM, in order; True if nothing waits any more."""
        if not self.open():
            return False
        while self._backlog:
            try:
                self._save(*self._backlog[0])
            except ArchiveError as error:
                self._trouble(error)
                return False
            self._backlog.popleft()
        self._brought()
        self._relieved()
        return True

    def _brought(self) -> None:
        """What waited in the home is in the archive: it need not wait any more."""
        self._unkept.clear()
        if not self._services.spill.of(self.folder.name) or self._memory is None:
            return
        try:
            self._memory.archive.sync()
        except ArchiveError as error:
            self._trouble(error)
            return
        self._services.spill.done(self.folder.name)
        log(f"[Memory] {self.name}: What waited in the home is in the archive")

    def _save(self, text: str, kind: MemoryKind, about: dict[str, Any]) -> None:
        if self._memory is not None:
            memory = self._memory.append(text, kind, **about)
            self.newest = memory.number
            self.private.saw(memory)
            if memory.kind is MemoryKind.ACT:
                self.last_act = memory.number
            self._services.events.emit(remembered(self.name, memory))
            self._watched(memory)

    def _watched(self, memory: Memory) -> None:
        """Let the watchers look at a memory; what breaks in one of them stays in it."""
        for watcher in self._owner.watchers:
            # Whatever somebody said: it is in the archive, and must not be archived again.
            with logged(f"{self.name}: Memory {memory.number} was not looked at"):
                watcher(memory)

    @property
    def memory(self) -> AgentMemory:
        """The memory itself; see :class:`BackgroundCompactor`."""
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
        """What stands in every prompt, whatever is compacted: pins and promises."""
        return (*self._owner.pins(), *self.noticed_for(NOBODY))

    def noticed_for(self, audience: Audience, before: int | None = None) -> tuple[str, ...]:
        """Promises and rules of before memory ``before``, as far as the audience may hear them."""
        may = partial(self.private.may_hear, audience=audience)
        return self.commitments.lines_before(before, may)

    def promised(self) -> frozenset[int]:
        """The numbers of the memories on which open promises and rules rest; in any thread."""
        return frozenset(item.number for item in self.commitments.items)

    def compact_if_due(self) -> None:
        """Start a compaction in the background when one is due."""
        if self._memory is None or self.compacting:
            return
        self._memory = self._opener.followed(self._memory)
        self._asleep = self._owner.may_compact()
        if self._memory.may_be_due():
            self.consider()

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
            memory = self._opener.opened(archive)
        except Exception as error:
            # Not even a window can be read: what happens waits in RAM, and whoever speaks
            # in the same room must not suffer for it.
            archive.close()
            self._trouble(_unreadable(self.folder, error))
            return False
        self._services.syncer.add(archive)
        self._skip_what_is_there(archive)
        if archive.torn:
            self._services.events.emit(
                MemoryChange(agent=self.name, op="mended", n=archive.last_number, size=archive.torn)
            )
        self._memory = memory  # last of all: from now on any thread may use it
        return True

    def _skip_what_is_there(self, archive: Archive) -> None:
        """Of what waited since before this process, an earlier one may have brought a part."""
        waited = [_line(*self._backlog.popleft()) for _ in range(self._from_before)]
        self._from_before = 0
        self._backlog.extendleft(map(_entry, reversed(not_yet_in(archive, waited))))

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
