"""An agent's memory in the game: what happens goes in, what is in a prompt comes out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

from twisted.python.failure import Failure

from keepsake.agent.agent_log import (
    Complaints,
    compacted,
    log,
    logged,
    not_used,
    warn,
)
from keepsake.agent.memory.backlog import Backlog, WaitingMemory
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import Life
from keepsake.archive.integrity import IntegrityReport
from keepsake.archive.log import Archive
from keepsake.archive.privacy import NOBODY, Audience, PrivateWords
from keepsake.archive.records import Memory, MemoryFacts, MemoryKind
from keepsake.books.commitments import Commitments
from keepsake.books.files import Owner
from keepsake.books.persona import open_lines
from keepsake.errors import ArchiveError, CompactionError, CompactionRunning, KeepsakeError
from keepsake.events.types import Fault, MemoryChange
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.config import MemoryHost
from keepsake.memory.summarizer import ExtractiveSummarizer, ModelSummarizer, Summarizer
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import CompactionResult, CompactReason, MemoryContext, Undone

REOPEN_SECONDS = 10.0
LONGEST = 86_400.0
"""Seconds after which a compaction, or a check, is given up."""
COMMITMENTS = "noticed.md"
"""The file of promises and rules in an agent's folder."""
LATELY = 1000
"""Memories in which whose words are whose is looked up."""

type Watcher = Callable[[Memory], None]
"""Is given every memory once it is archived; quick."""
type Compacted = CompactionResult | CompactionError
"""How a compaction ended."""


class MemoryComponent:
    """The memory of one agent.

    It runs on the reactor thread, but for what is said to be asked from others. Compactions run in
    threads, one at a time.

    Args:
        life: Whose it is.
        services: What all agents run on.
        pins: Gives the pinned lines as a prompt shows them; in any thread.
        importance: Gives how much a memory matters, 1 to 10; in any thread.
        may_compact: Says whether the agent sleeps, so that its memory may be compacted earlier.

    Attributes:
        summaries: The folder of its summaries.
        watchers: Who looks at every new memory.
        problem: Why the archive cannot be written now; None if it can.
        newest: Number of the last memory that was archived since the server started; 0 for none.
        last_act: Number of the last act that was remembered since the server started; 0 for none.
        private: Which of its memories are private, and with whom they are shared.
        commitments: What it has promised, and the rules that it keeps to.
        compacting: Whether a compaction is under way, or waits for a thread.
        no_room: Why the last compaction at the emergency mark made no room; None if it did.
    """

    def __init__(
        self,
        life: Life,
        services: Runtime,
        *,
        pins: Callable[[], Sequence[str]],
        importance: Callable[[Memory], int],
        may_compact: Callable[[], bool],
    ) -> None:
        self.name, self.folder = life.name, life.folder
        self.summaries = SummaryFolder(life.folder / "summaries", life.name)
        self.watchers: Sequence[Watcher] = ()
        self.problem: KeepsakeError | None = None
        self.newest = self.last_act = 0
        self.private = PrivateWords()
        trouble, emit = Complaints(f"[Notes] {life.name}"), services.events.emit
        self.commitments = Commitments(life.folder / COMMITMENTS, Owner(life.name, trouble, emit))
        self.compacting = False
        self.no_room: CompactionError | None = None
        self._life, self._services, self._pins, self._importance = life, services, pins, importance
        self._may_compact = may_compact
        self._memory: AgentMemory | None = None
        self._opening = threading.RLock()
        self._closed = self._asleep = False
        self._backlog = Backlog(life.name, life.folder.name, services.spill)
        self._try_again_at = 0.0
        # names of people and places, and the first paragraph of the profile, for summaries
        self._known: tuple[frozenset[str], str] = (frozenset(), "")
        self._after: list[Callable[[], None]] = []  # what waits for the end of a compaction

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
        memory = WaitingMemory(text, kind, {**facts, "time": self._services.clock.now()})
        self._backlog.add(memory)
        if saved := self.save_backlog():
            self.compact_if_due()
        else:
            self._backlog.keep(memory)
        return saved

    def save_backlog(self) -> bool:
        """Archive what waits in RAM, in order; True if nothing waits any more."""
        if not self.open():
            return False
        waiting = self._backlog.waiting
        try:
            while waiting:
                self._save(waiting[0])
                waiting.popleft()
            self._backlog.brought(self.memory.archive)
        except ArchiveError as error:
            self._trouble(error)
            return False
        if self.problem is not None:
            dropped, self._backlog.dropped = self._backlog.dropped, 0
            lost = f"the oldest {dropped} memories were" if dropped else "nothing was"
            log(f"[Memory] {self.name}: The archive can be written again; {lost} lost")
            if dropped:
                change = MemoryChange(agent=self.name, op="lost", n=0, times=dropped)
                self._services.events.emit(change)
            self.problem = None
        return True

    def _save(self, waiting: WaitingMemory) -> None:
        memory = self.memory.append(waiting.text, waiting.kind, **waiting.about)
        self.newest = memory.number
        self.private.saw(memory)
        if memory.kind is MemoryKind.ACT:
            self.last_act = memory.number
        self._services.events.emit(
            MemoryChange(  # of the words only how many signs they have
                agent=self.name,
                op="append" if memory.repeats == 1 else "repeat",
                n=memory.number,
                of=memory.kind.value,
                size=len(memory.text),
                times=memory.repeats,
            )
        )
        for watcher in self.watchers:
            # Whatever breaks in one: it is in the archive, and must not be archived again.
            with logged(f"{self.name}: Memory {memory.number} was not looked at"):
                watcher(memory)

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
        """What is in the prompt now; see :attr:`memory` for errors."""
        return self.memory.context()

    def shown(self) -> MemoryContext:
        """What the prompt of the agents' model shows of it: recall finds what is before that."""
        context, lines = self.context(), self._services.shown_lines
        return replace(context, window=context.window[-lines:]) if lines else context

    def lately(self) -> Sequence[Memory]:
        """The newest :data:`LATELY` memories, however many of them are summed up; blocks."""
        archive = self.memory.archive
        return archive.read(max(archive.last_number - LATELY + 1, 1), archive.last_number)

    @property
    def waiting(self) -> int:
        """Memories that wait for the disk."""
        return len(self._backlog.waiting)

    def always_shown(self) -> tuple[str, ...]:
        """What is in every prompt, whatever is compacted: pins and promises; any thread."""
        return (*self._pins(), *self.noticed_for(NOBODY))

    def noticed_for(self, audience: Audience, before: int | None = None) -> tuple[str, ...]:
        """Promises and rules of before memory ``before``, as far as the audience may hear them."""
        may = partial(self.private.may_hear, audience=audience)
        return self.commitments.lines_before(before, may)

    # -- compaction

    def compact_if_due(self) -> None:
        """Start a compaction in the background when one is due."""
        if self._memory is None or self.compacting:
            return
        self._asleep = self._may_compact()
        if self._memory.may_be_due():
            self.compact(None)

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
            self.when_idle(lambda: self.make_room(done))
        else:
            if self.no_room is None:  # else it was said already
                load = memory.load()
                needs = f"{load.used:,} of {load.budget:,} tokens ({load.share:.0%})"
                told = f"The prompt needs {needs}; compacting before the thought"
                warn(f"[Memory] {self.name}: {told}")

            def room_made(outcome: Compacted) -> None:
                self.no_room = outcome if isinstance(outcome, CompactionError) else None
                done()

            self.compact(reason, room_made)

    def when_idle(self, call: Callable[[], None]) -> None:
        """Call that once no compaction is under way."""
        if self.compacting:
            self._after.append(call)
        else:
            call()

    def compact(
        self, reason: CompactReason | None, done: Callable[[Compacted], None] = lambda _: None
    ) -> None:
        """Compact; ``done`` is called on the reactor thread.

        ``reason``: None to compact for whatever reason there is, and only if that pays.
        """
        # A worker thread may not ask the world.
        body = self._life.body()
        page = str(body.db.profile or "") if body is not None else ""
        persona = " ".join(open_lines(page.strip().partition("\n\n")[0]))
        self._known = self._life.names(), persona
        why, emit = reason, self._services.events.emit

        def change(memory: AgentMemory) -> CompactionResult | None:
            nonlocal why
            why = reason or memory.next_turn()  # which makes a plan: that takes a while
            if why is None:
                return None
            return memory.compact(why)

        def ended(outcome: CompactionResult | CompactionError | None) -> None:
            if outcome is None:
                return
            if why is not None and not isinstance(outcome, CompactionRunning):  # logged elsewhere
                emit(compacted(self.name, why, outcome))
            if isinstance(outcome, CompactionResult):
                for event in not_used(self.name, outcome.refused):
                    emit(event)
            done(outcome)

        self._in_background(change, ended)

    def undo(self, done: Callable[[Undone | CompactionError], None]) -> None:
        """Take the last compaction back; ``done`` is called on the reactor thread."""

        def ended(outcome: Undone | CompactionError) -> None:
            change = MemoryChange(agent=self.name, op="undo", n=0, by="builder")
            if isinstance(outcome, CompactionError):
                change = replace(change, problem=str(outcome))
            else:
                change = replace(change, n=outcome.number)
            self._services.events.emit(change)
            done(outcome)

        self._in_background(lambda memory: memory.undo(), ended)

    def _in_background[T](
        self, change: Callable[[AgentMemory], T], done: Callable[[T | CompactionError], None]
    ) -> None:
        """Make a change in a thread of compactions."""
        memory, name = self.memory, self.name
        if self.compacting:
            what = f"a compaction of {name}'s memory is under way"
            done(CompactionRunning(what, "Wait for it to end"))
            return
        # From here on, not from when a thread is free: a second one that waited behind this
        # one would summarise the few memories that came meanwhile.
        self.compacting = True

        def ended(outcome: T | Failure) -> None:
            self.compacting = False
            waiting, self._after = self._after, []
            try:
                done(_error_of(name, outcome) if isinstance(outcome, Failure) else outcome)
            finally:
                for each in waiting:
                    each()

        pool = self._services.compactions
        self._services.in_thread(lambda: change(memory), LONGEST, pool).addBoth(ended)

    def check(self, done: Callable[[IntegrityReport | KeepsakeError], None]) -> None:
        """Check archive, tiers and files in the background; ``done`` on the reactor thread."""

        def failed(failure: Failure) -> None:
            error = failure.value
            told = f"the check could not read the vault ({error})"
            done(error if isinstance(error, KeepsakeError) else KeepsakeError(told))

        self._services.in_thread(self.memory.check, LONGEST).addCallbacks(done, failed)

    # -- opening and closing

    def close(self) -> None:
        """Bring everything to the disk and let go of the files, for good.

        A thread that still works on it finds it closed: to open it again would take the
        archive from whoever comes after, such as the same agent under another name.
        """
        if self._backlog.waiting or self._memory is not None:
            self.save_backlog()
        with self._opening:
            self._closed = True
        self._backlog.leave()
        if self._memory is not None:
            self._services.syncer.remove(self._memory.archive)
            try:
                self._memory.close()
            except ArchiveError as error:
                log(f"[Memory] {self.name}: {error}")
            self._memory = None

    def open(self) -> bool:
        """Open the archive, unless that failed a moment ago; whether it is open.

        Any thread may ask. It reads what is in the prompt; whatever else is to be made of
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
            # Whoever speaks in the same room must not suffer for it.
            archive.close()
            told = f"the archive in {self.folder} cannot be read ({error!r})"
            cure = "Mend its files; what happens meanwhile waits in the home"
            self._trouble(ArchiveError(told, cure))
            return False
        self._services.syncer.add(archive)
        self._backlog.leave_out(archive)
        if archive.torn:
            self._services.events.emit(
                MemoryChange(agent=self.name, op="mended", n=archive.last_number, size=archive.torn)
            )
        self._memory = memory  # last of all: from now on any thread may use it
        return True

    def _over(self, archive: Archive) -> AgentMemory:
        """The memory of that archive."""
        services = self._services
        host = MemoryHost(
            clock=services.clock,
            config=lambda: services.ladder,
            summarizer=self._summarizer,
            strategy=services.strategy,
            log=log,
            tokens=services.tokens,
            constraints=self.always_shown,
            promised=lambda: frozenset(item.number for item in self.commitments.items),
            asleep=lambda: self._asleep,
            importance=self._importance,
            ticks=services.seconds,
            emit=services.events.emit,
        )
        return AgentMemory(self.name, archive, self.summaries, host)

    def _summarizer(self) -> Summarizer:
        """The summarizer that the configuration names; called in a worker thread."""
        if (ask := self._services.asker(self._services.ladder.profile)) is None:
            return ExtractiveSummarizer()
        return ModelSummarizer(ask, self._services.prompts, *self._known)

    def _trouble(self, error: KeepsakeError) -> None:
        if str(error) != str(self.problem):
            log(f"[Memory] {self.name}: {error}")
            fault = Fault(level="error", text=str(error), agent=self.name)
            self._services.events.emit(fault)
        self.problem = error


def _error_of(name: str, failure: Failure) -> CompactionError:
    error = failure.value
    if isinstance(error, CompactionError):
        return error
    log(f"[Memory] {name}: Compaction broke off: {error!r}")
    return CompactionError(f"the compaction broke off ({error!r})")
