"""Compacts the memory of one agent in the background, one compaction at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress

from keepsake.agent.agent_log import log, warn
from keepsake.agent.body import Life
from keepsake.agent.happenings import compacted, not_used, undone
from keepsake.agent.memory.owner import MemoryOwner
from keepsake.agent.runtime import Runtime
from keepsake.archive.integrity import IntegrityReport
from keepsake.books.persona import open_lines
from keepsake.errors import CompactionError, CompactionRunning, KeepsakeError
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import CompactionResult, CompactReason, Load, Undone

Compacted = CompactionResult | CompactionError
"""How a compaction ended."""


class BackgroundCompactor(ABC):
    """What compacts one agent's memory; on the reactor thread, the work itself in others.

    Attributes:
        compacting: Whether a compaction is under way, or waits for a thread.
        known_names: Those of people and places when the last compaction was begun.
        persona: The first paragraph of the agent's page at that time, without its secrets.
        no_room: Why the last compaction at the emergency mark made no room; None if it did.
    """

    def __init__(self, life: Life, owner: MemoryOwner, services: Runtime) -> None:
        self.name, self.folder = life.name, life.folder
        self.summaries = SummaryFolder(life.folder / "summaries", life.name)
        self.compacting = self._considering = False
        self.no_room: CompactionError | None = None
        self.known_names: frozenset[str] = frozenset()
        self.persona = ""
        self._owner, self._services, self._life = owner, services, life
        self._after: list[Callable[[], None]] = []

    @property
    @abstractmethod
    def memory(self) -> AgentMemory:
        """The memory itself.

        Raises:
            KeepsakeError: It could not be opened; says why.
        """

    def make_room(self, done: Callable[[], None]) -> None:
        """Call ``done`` when a thought may begin: at once, or after an emergency compaction.

        It is called in any case: whether the prompt fits is seen when it is built.
        """
        try:
            memory = self.memory
            reason = memory.before_thought()
        except KeepsakeError:  # the archive cannot be opened; the thought will say so
            done()
            return
        if reason is None:
            self.no_room = None
            done()
        elif self.compacting:
            self._after.append(lambda: self.make_room(done))
        else:
            if self.no_room is None:  # else it was said already
                load = _loaded(memory.load())
                warn(f"[Memory] {self.name}: {load}; compacting before the thought")
            self.compact(reason, lambda outcome: self._room_made(outcome, done))

    def _room_made(self, outcome: Compacted, done: Callable[[], None]) -> None:
        self.no_room = outcome if isinstance(outcome, CompactionError) else None
        done()

    def compact(self, reason: CompactReason, done: Callable[[Compacted], None]) -> None:
        """Compact; ``done`` is called on the reactor thread."""
        # A worker thread may not ask the world.
        self.known_names, self.persona = self._life.names(), _first_paragraph(self._life)

        def change(memory: AgentMemory) -> CompactionResult:
            self._owner.leaving(memory.context().window)
            return memory.compact(reason)

        def ended(outcome: Compacted) -> None:
            if not isinstance(outcome, CompactionRunning):  # which tells of itself
                self._services.events.emit(compacted(self.name, reason, outcome))
            if isinstance(outcome, CompactionResult):
                for event in not_used(self.name, outcome.refused):
                    self._services.events.emit(event)
                self._owner.compacted(outcome)
            done(outcome)

        self._in_background(change, ended)

    def consider(self) -> None:
        """Compact if one is due and pays, which takes a plan: that is made in a worker thread."""

        def decided(reason: CompactReason | CompactionError | None) -> None:
            self._considering = False
            if isinstance(reason, CompactReason):
                with suppress(KeepsakeError):  # it was closed meanwhile
                    self.compact(reason, lambda _: None)

        self._in_background(lambda memory: memory.next_turn(), decided)
        self._considering = True

    def undo(self, done: Callable[[Undone | CompactionError], None]) -> None:
        """Take the last compaction back; ``done`` is called on the reactor thread."""

        def ended(outcome: Undone | CompactionError) -> None:
            self._services.events.emit(undone(self.name, outcome))
            done(outcome)

        def change(memory: AgentMemory) -> Undone:
            return memory.undo()

        self._in_background(change, ended)

    def _in_background[T](
        self,
        change: Callable[[AgentMemory], T],
        done: Callable[[T | CompactionError], None],
    ) -> None:
        """Make a change in a worker thread."""
        memory = self.memory
        if self._considering:  # which takes a moment, and may be all there is
            self._after.append(lambda: self._in_background(change, done))
            return
        if self.compacting:
            what = f"a compaction of {self.name}'s memory is under way"
            done(CompactionRunning(what, "Wait for it to end"))
            return
        # From here on, not from when a thread is free: a second one that waited behind this
        # one would summarise the few memories that came meanwhile.
        self.compacting = True

        def work() -> None:
            outcome: T | CompactionError
            try:
                outcome = change(memory)
            except CompactionError as error:
                outcome = error
            except Exception as error:
                log(f"[Memory] {self.name}: Compaction broke off: {error!r}")
                outcome = CompactionError(f"the compaction broke off ({error!r})")
            self._services.post(lambda: self._ended(outcome, done))

        self._services.workers.submit(work)

    def _ended[T](self, outcome: T, done: Callable[[T], None]) -> None:
        self.compacting = False
        waiting, self._after = self._after, []
        try:
            done(outcome)
        finally:
            for each in waiting:
                each()

    def check(self, done: Callable[[IntegrityReport | KeepsakeError], None]) -> None:
        """Check archive, tiers and files in the background; ``done`` on the reactor thread."""
        memory = self.memory

        def work() -> None:
            report: IntegrityReport | KeepsakeError
            try:
                report = memory.check()
            except KeepsakeError as error:
                report = error
            except OSError as error:
                report = KeepsakeError(f"the check could not read the vault ({error})")
            self._services.post(lambda: done(report))

        self._services.workers.submit(work)


def _first_paragraph(life: Life) -> str:
    body = life.body()
    page = str(body.db.profile or "") if body is not None else ""
    return " ".join(open_lines(page.strip().partition("\n\n")[0]))


def _loaded(load: Load) -> str:
    return f"The prompt needs {load.used:,} of {load.budget:,} tokens ({load.share:.0%})"
