"""The compactions of one agent's memory: when they run; one at a time, in worker threads."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred, DeferredLock, succeed
from twisted.python.failure import Failure

from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import AgentRef
from keepsake.books.persona import open_lines
from keepsake.errors import CompactionError, CompactionRunning, KeepsakeError
from keepsake.events.types import Compaction, Guard, MemoryChange
from keepsake.logs import Subsystem, get_logger
from keepsake.memory.types import CompactionResult, CompactReason, UndoResult

log = get_logger(Subsystem.COMPACTION)

COMPACTION_TIMEOUT = 86_400.0
"""Seconds after which a compaction times out: one day."""

type CompactionOutcome = CompactionResult | CompactionError
"""The outcome of a compaction."""


class Compactions:
    """Runs the compactions of one memory; on the reactor thread.

    Attributes:
        no_room: Why the last emergency compaction made no room; None if it did.
    """

    def __init__(self, ref: AgentRef, memory: MemoryComponent, services: Runtime) -> None:
        self.no_room: CompactionError | None = None
        self._ref = ref
        self._memory = memory
        self._services = services
        self._lock = DeferredLock()

    @property
    def compacting(self) -> bool:
        """Whether a compaction runs or waits for a thread."""
        return bool(self._lock.locked)

    def compact_if_due(self, *, asleep: bool = False) -> None:
        """Start a compaction in the background if one is due; when asleep, it is due earlier."""
        if not self.compacting:
            self._memory.asleep = asleep
            if self._memory.memory.may_be_due():
                self.compact(None)

    async def make_room(self) -> None:
        """Wait for an emergency compaction, if a thought needs one before it can begin.

        Whether the prompt fits afterwards is checked when it is built.
        """
        try:
            while (reason := self._memory.memory.before_thought()) is not None and self.compacting:
                await self._lock.run(lambda: None)  # wait until the running one has ended
        except KeepsakeError:  # the archive cannot be opened; the thought reports it
            return
        if reason is None:
            self.no_room = None
            return
        if self.no_room is None:  # log it only once
            load = self._memory.memory.load()
            needs = f"{load.used:,} of {load.budget:,} tokens ({load.share:.0%})"
            told = f"The prompt needs {needs}; compacting before the thought"
            log.warning(told, agent=self._memory.name)
        outcome = await self.compact(reason)
        self.no_room = outcome if isinstance(outcome, CompactionError) else None

    def compact(self, reason: CompactReason | None) -> Deferred[CompactionOutcome]:
        """Compact the memory. If ``reason`` is None, only if a compaction is due and pays.

        Returns:
            The outcome, on the reactor thread.

        Raises:
            KeepsakeError: The memory cannot be opened.
        """
        memory = self._memory.memory
        emit = self._services.events.emit
        name = self._memory.name
        # Read the game's objects here, because worker threads must not.
        body = self._ref.body()
        page = str(body.db.profile or "") if body is not None else ""
        persona = " ".join(open_lines(page.strip().partition("\n\n")[0]))
        self._memory.known = self._ref.names(), persona
        why = reason

        def change() -> CompactionOutcome:
            nonlocal why
            why = reason or memory.next_turn()  # slow, because it makes a plan
            return memory.compact(why) if why else CompactionError("no compaction is due")

        def emit_events(outcome: CompactionOutcome) -> CompactionOutcome:
            if why is not None and not isinstance(outcome, CompactionRunning):  # logged elsewhere
                emit(_event_of(name, why, outcome))
            if isinstance(outcome, CompactionResult):
                for task, answer, why_not in outcome.refused:
                    emit(Guard(agent=name, task=task, op="refused", before=answer, reason=why_not))
            return outcome

        return self._in_thread(change).addCallback(emit_events)

    def undo(self) -> Deferred[UndoResult | CompactionError]:
        """Undo the last compaction; see :meth:`compact`."""

        def emit_events(outcome: UndoResult | CompactionError) -> UndoResult | CompactionError:
            problem = str(outcome) if isinstance(outcome, CompactionError) else ""
            number = 0 if isinstance(outcome, CompactionError) else outcome.number
            name = self._memory.name
            emit = self._services.events.emit
            emit(MemoryChange(agent=name, op="undo", n=number, by="builder", problem=problem))
            return outcome

        return self._in_thread(self._memory.memory.undo).addCallback(emit_events)

    def _in_thread[T](self, change: Callable[[], T]) -> Deferred[T | CompactionError]:
        """Run a change in a thread of the compaction pool."""
        name = self._memory.name
        services = self._services
        # Lock now, not when a thread is free. Otherwise a second compaction could wait behind
        # this one, and would then summarise only the few memories that came meanwhile.
        if self.compacting:
            what = f"a compaction of {name}'s memory is under way"
            return succeed(CompactionRunning(what, "Wait for it to end"))

        def failed(failure: Failure) -> CompactionError:
            if isinstance(failure.value, CompactionError):
                return failure.value
            log.error("The compaction or its undo failed", agent=name, exc_info=failure.value)
            return CompactionError(f"the compaction failed ({failure.value!r})")

        ended = self._lock.run(services.in_thread, change, COMPACTION_TIMEOUT, services.compactions)
        return ended.addErrback(failed)


def _event_of(name: str, reason: CompactReason, outcome: CompactionOutcome) -> Compaction:
    """Return the event of a compaction, successful or not."""
    if isinstance(outcome, CompactionError):
        return Compaction(agent=name, reason=reason.value, outcome="failed", problem=str(outcome))
    first, last = outcome.covered or (0, 0)
    return Compaction(
        agent=name,
        reason=outcome.reason.value,
        outcome=outcome.outcome.value,
        number=outcome.number,
        first=first,
        last=last,
        kept=outcome.kept,
        tokens_before=outcome.tokens_before,
        tokens_after=outcome.tokens_after,
        seconds=round(outcome.seconds, 6),
        calls=outcome.calls,
        prompt_tokens=outcome.prompt_tokens,
        completion_tokens=outcome.completion_tokens,
        model=outcome.model,
    )
