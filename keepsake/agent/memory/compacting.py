"""The compactions of one agent's memory: when they run; one at a time, in worker threads."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred, DeferredLock, succeed
from twisted.python.failure import Failure

from keepsake.agent.body import AgentRef
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.books.persona import open_lines
from keepsake.errors import CompactionError, CompactionRunning, KeepsakeError, NoRoom
from keepsake.events.types import Compaction, Guard, MemoryChange
from keepsake.events.values import (
    Author,
    CompactionOutcome,
    CompactReason,
    GuardOp,
    MemoryOp,
    known,
)
from keepsake.logs import Subsystem, get_logger
from keepsake.memory.types import CompactionRequest, CompactionResult, UndoResult

log = get_logger(Subsystem.COMPACTION)

COMPACTION_TIMEOUT = 86_400.0
"""Seconds after which a compaction times out: one day."""

type CompactionEnd = CompactionResult | CompactionError
"""What a compaction gives when it ends: its result, or why it failed."""


class Compactions:
    """Runs the compactions of one memory; on the reactor thread.

    Attributes:
        no_room: Why the prompt has no room for memories, or the last emergency compaction made
            none; None if all is well.
    """

    def __init__(self, ref: AgentRef, memory: MemoryComponent, services: Runtime) -> None:
        self.no_room: CompactionError | None = None
        self._ref = ref
        self._memory = memory
        self._services = services
        self._lock = DeferredLock()
        # the number of the newest memory at the start, if the window was full by count then; 0 if
        # it was not, or if that does not matter any more
        self._full_at = 0

    @property
    def compacting(self) -> bool:
        """Whether a compaction runs or waits for a thread."""
        return bool(self._lock.locked)

    def opened(self) -> None:
        """Take note of a window that is full at the start; see :meth:`_waits_after_start`."""
        try:
            memory = self._memory.memory
        except KeepsakeError:  # the memory reports itself that it cannot be opened
            return
        due = memory.next_due()
        newest = memory.tiers.last_number
        if due is not None and newest >= due:
            self._full_at = newest
            held = newest - memory.tiers.state.summarised
            told = "The window is full at the start: it is summarised after a talk with a player"
            log.info(told, agent=self._memory.name, memories=held)

    def when_due(self) -> str:
        """Return in words when a due compaction will begin; empty if at once, or if none is due.

        Without a model it begins at the same time: its summary quotes sentences.
        """
        if not self._full_at:
            return ""
        limit = self._full_at + self._services.compaction.current.recent_window
        return f"after the next talk with a player, or at memory {limit:,}"

    def compact_if_due(self, *, asleep: bool = False, in_talk: bool = False) -> None:
        """Start a compaction in the background if one is due.

        Args:
            asleep: Whether the agent sleeps; then it is due earlier.
            in_talk: Whether an agent in its room talks with a player; then it waits for a pause,
                as long as there is room. A compaction changes the beginning of the prompt, so
                the next answer reads all of it anew.
        """
        if self.compacting:
            return
        memory = self._memory.memory
        no_room = memory.no_room()
        if no_room is not None or isinstance(self.no_room, NoRoom):
            self._set_no_room(no_room)
        if self._waits_after_start(in_talk=in_talk):
            return
        if memory.may_be_due(asleep=asleep, in_talk=in_talk):
            self.compact(None, asleep=asleep, in_talk=in_talk)

    def _waits_after_start(self, *, in_talk: bool) -> bool:
        """Whether a window that was full at the start waits, because nobody needs it smaller yet.

        With another model, or without one, the limits are others than before, and a start must not
        summarise what people only want to look at. So the window stays until a prompt was made, a
        player talks with an agent in its room, or as many memories have come as the window may
        grow by.
        """
        if not self._full_at:
            return False
        memory = self._memory.memory
        grown = memory.tiers.last_number - self._full_at
        enough = grown >= self._services.compaction.current.recent_window
        if in_talk or enough or memory.window.is_overhead_known:
            self._full_at = 0
        return self._full_at > 0

    async def make_room(self) -> None:
        """Wait for an emergency compaction, if a thought needs one before it can begin.

        Whether the prompt fits afterwards is checked when it is built.
        """
        try:
            memory = self._memory.memory
            while (reason := memory.before_thought()) is not None and self.compacting:
                await self._lock.run(lambda: None)  # wait until the running one has ended
        except KeepsakeError:  # the archive cannot be opened; the thought reports it
            return
        if reason is None:
            self._set_no_room(memory.no_room())
            return
        if self.no_room is None:  # log it only once
            load = memory.load()
            needs = f"{load.used:,} of {load.budget:,} tokens ({load.share:.0%})"
            told = f"The prompt needs {needs}; compacting before the thought"
            log.warning(told, agent=self._memory.name)
        outcome = await self.compact(reason)
        self._set_no_room(outcome if isinstance(outcome, CompactionError) else None)

    def _set_no_room(self, problem: CompactionError | None) -> None:
        """Take note of a problem, and report it to builders when it begins and when it ends."""
        name = self._memory.name
        before = self.no_room
        self.no_room = problem
        if problem is not None and before is None:
            log.error(str(problem), agent=name)  # makes a Fault event, too
        elif problem is None and before is not None:
            log.info("The prompt has room for memories again; nothing was lost", agent=name)

    def compact(
        self, reason: CompactReason | None, *, asleep: bool = False, in_talk: bool = False
    ) -> Deferred[CompactionEnd]:
        """Compact the memory. If ``reason`` is None, only if a compaction is due and pays.

        Returns:
            The outcome, on the reactor thread.

        Raises:
            KeepsakeError: The memory cannot be opened.
        """
        memory = self._memory.memory
        request = self._request(reason, asleep=asleep, in_talk=in_talk)
        emit = self._services.events.emit
        name = self._memory.name

        def emit_events(outcome: CompactionEnd) -> CompactionEnd:
            if not isinstance(outcome, CompactionRunning):  # the running one has its own events
                emit_event_of(outcome)
            if isinstance(outcome, CompactionResult):
                for task, answer, why_not in outcome.refused:
                    emit(
                        Guard(
                            agent=name, task=task, op=GuardOp.REFUSED, before=answer, reason=why_not
                        )
                    )
            return outcome

        def emit_event_of(outcome: CompactionEnd) -> None:
            if isinstance(outcome, CompactionError):
                trigger = known(CompactReason, outcome.trigger)
            else:
                trigger = outcome.reason
            trigger = trigger or reason
            if trigger:  # else nothing was due
                emit(_event_of(name, trigger, outcome))

        return self._in_thread(lambda: memory.compact(request)).addCallback(emit_events)

    def _request(
        self, reason: CompactReason | None, *, asleep: bool, in_talk: bool
    ) -> CompactionRequest:
        """Return a request with all that a compaction needs of the game.

        It reads the game's objects here, on the reactor thread, because worker threads must not.
        """
        body = self._ref.body()
        page = str(body.db.profile or "") if body is not None else ""
        paragraph = page.strip().partition("\n\n")[0]
        return CompactionRequest(
            reason=reason,
            limits=self._services.compaction_config,
            asleep=asleep,
            in_talk=in_talk,
            names=self._ref.names(),
            persona=" ".join(open_lines(paragraph)),
        )

    def undo(self) -> Deferred[UndoResult | CompactionError]:
        """Undo the last compaction; see :meth:`compact`."""

        def emit_events(outcome: UndoResult | CompactionError) -> UndoResult | CompactionError:
            problem = str(outcome) if isinstance(outcome, CompactionError) else ""
            number = 0 if isinstance(outcome, CompactionError) else outcome.number
            name = self._memory.name
            emit = self._services.events.emit
            emit(
                MemoryChange(
                    agent=name, op=MemoryOp.UNDO, n=number, by=Author.BUILDER, problem=problem
                )
            )
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


def _event_of(name: str, trigger: CompactReason, outcome: CompactionEnd) -> Compaction:
    """Return the event of a compaction, successful or not."""
    if isinstance(outcome, CompactionError):
        return Compaction(
            agent=name, reason=trigger, outcome=CompactionOutcome.FAILED, problem=str(outcome)
        )
    first, last = outcome.covered or (0, 0)
    return Compaction(
        agent=name,
        reason=trigger,
        outcome=outcome.outcome,
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
