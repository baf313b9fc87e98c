"""Compacts the memory of one agent in the background, one compaction at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from keepsake.agent.agent_log import log, warn
from keepsake.agent.body import Life
from keepsake.agent.happenings import compacted, not_used, undone
from keepsake.agent.runtime import Runtime
from keepsake.archive.integrity import IntegrityReport
from keepsake.archive.records import Memory
from keepsake.books.persona import open_lines
from keepsake.errors import CompactionError, CompactionRunning, KeepsakeError
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.types import CompactionResult, CompactReason, Undone

Compacted = CompactionResult | CompactionError
"""How a compaction ended."""


class BackgroundCompactor:
    """What compacts one agent's memory; on the reactor thread, the work itself in others.

    Args:
        memory: Gives the memory; raises a KeepsakeError that says why it cannot be opened.
        leaving: Takes the window before a compaction, in a worker thread.

    Attributes:
        busy: Whether a compaction is under way, or waits for a thread.
        known_names: Those of people and places when the last compaction was begun.
        persona: The first paragraph of the agent's page at that time, without its secrets.
        no_room: Why the last compaction at the emergency mark made no room; None if it did.
    """

    def __init__(
        self,
        life: Life,
        services: Runtime,
        *,
        memory: Callable[[], AgentMemory],
        leaving: Callable[[Sequence[Memory]], None],
    ) -> None:
        self.busy = False
        self.no_room: CompactionError | None = None
        self.known_names: frozenset[str] = frozenset()
        self.persona = ""
        self._life, self._services, self._memory = life, services, memory
        self._leaving = leaving
        self._after: list[Callable[[], None]] = []

    def make_room(self, done: Callable[[], None]) -> None:
        """Call ``done`` when a thought may begin: at once, or after an emergency compaction.

        It is called in any case: whether the prompt fits is seen when it is built.
        """
        try:
            memory = self._memory()
            reason = memory.before_thought()
        except KeepsakeError:  # the archive cannot be opened; the thought will say so
            done()
            return
        if reason is None:
            self.no_room = None
            done()
        elif self.busy:
            self._after.append(lambda: self.make_room(done))
        else:
            if self.no_room is None:  # else it was said already
                load = memory.load()
                needs = f"{load.used:,} of {load.budget:,} tokens ({load.share:.0%})"
                name = self._life.name
                warn(f"[Memory] {name}: The prompt needs {needs}; compacting before the thought")

            def room_made(outcome: Compacted) -> None:
                self.no_room = outcome if isinstance(outcome, CompactionError) else None
                done()

            self.compact(reason, room_made)

    def compact(self, reason: CompactReason, done: Callable[[Compacted], None]) -> None:
        """Compact; ``done`` is called on the reactor thread."""
        self._compact(lambda _: reason, done)

    def compact_if_due(self) -> None:
        """Compact if one is due and pays; that takes a plan, which is made in a worker thread."""
        self._compact(lambda memory: memory.next_turn(), lambda _: None)

    def _compact(
        self,
        why: Callable[[AgentMemory], CompactReason | None],
        done: Callable[[Compacted], None],
    ) -> None:
        # A worker thread may not ask the world.
        self.known_names, self.persona = self._life.names(), _first_paragraph(self._life)
        reasons: list[CompactReason] = []

        def change(memory: AgentMemory) -> CompactionResult | None:
            if (reason := why(memory)) is None:
                return None
            reasons.append(reason)
            self._leaving(memory.context().window)
            return memory.compact(reason)

        def ended(outcome: CompactionResult | CompactionError | None) -> None:
            if outcome is None:
                return
            if reasons and not isinstance(outcome, CompactionRunning):  # which is logged elsewhere
                self._services.events.emit(compacted(self._life.name, reasons[0], outcome))
            if isinstance(outcome, CompactionResult):
                for event in not_used(self._life.name, outcome.refused):
                    self._services.events.emit(event)
            done(outcome)

        self._in_background(change, ended)

    def undo(self, done: Callable[[Undone | CompactionError], None]) -> None:
        """Take the last compaction back; ``done`` is called on the reactor thread."""

        def ended(outcome: Undone | CompactionError) -> None:
            self._services.events.emit(undone(self._life.name, outcome))
            done(outcome)

        self._in_background(lambda memory: memory.undo(), ended)

    def _in_background[T](
        self, change: Callable[[AgentMemory], T], done: Callable[[T | CompactionError], None]
    ) -> None:
        """Make a change in a worker thread."""
        memory, name = self._memory(), self._life.name
        if self.busy:
            what = f"a compaction of {name}'s memory is under way"
            done(CompactionRunning(what, "Wait for it to end"))
            return
        # From here on, not from when a thread is free: a second one that waited behind this
        # one would summarise the few memories that came meanwhile.
        self.busy = True

        def work() -> None:
            outcome: T | CompactionError
            try:
                outcome = change(memory)
            except CompactionError as error:
                outcome = error
            except Exception as error:
                log(f"[Memory] {name}: Compaction broke off: {error!r}")
                outcome = CompactionError(f"the compaction broke off ({error!r})")
            self._services.post(lambda: finish(outcome))

        def finish(outcome: T | CompactionError) -> None:
            self.busy = False
            waiting, self._after = self._after, []
            try:
                done(outcome)
            finally:
                for each in waiting:
                    each()

        self._services.compactions.submit(work)

    def check(self, done: Callable[[IntegrityReport | KeepsakeError], None]) -> None:
        """Check archive, tiers and files in the background; ``done`` on the reactor thread."""
        memory = self._memory()

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
