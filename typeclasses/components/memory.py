"""An agent's memory in the game: opens it, feeds it, compacts it in the background."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from game.llm.profiles import EXTRACTIVE
from game.mind import integrity
from game.mind.archive import Archive
from game.mind.cascade import CascadeMemory
from game.mind.compaction_config import CompactionConfig
from game.mind.errors import (
    ArchiveError,
    CompactionError,
    CompactionRunning,
    ConfigError,
    KeepsakeError,
)
from game.mind.integrity import IntegrityReport
from game.mind.memory import (
    AgentMemory,
    CompactionResult,
    CompactReason,
    Load,
    MemoryContext,
    Undone,
)
from game.mind.ports import Generation
from game.mind.records import MemoryKind
from game.mind.sliding import SlidingMemory
from game.mind.strategy import Layout
from game.mind.summaries import SummaryFolder
from game.mind.summarize import ExtractiveSummarizer, ModelSummarizer, Summarizer
from typeclasses.components.noticing import Noticing
from typeclasses.services import Services, log, warn

Compacted = CompactionResult | CompactionError
"""How a compaction ended."""

BACKLOG_LIMIT = 10_000
"""Memories that wait in RAM for a disk that cannot be written; the oldest go first."""
REOPEN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Unsaved:
    """A memory that could not be archived yet."""

    text: str
    kind: MemoryKind
    place: str
    source: str
    reason: str
    time: datetime


class MemoryComponent:
    """The memory of one agent.

    Everything but the compaction itself runs on the reactor thread.

    Args:
        name: The agent's name, for prompts and log lines.
        folder: ``vault/agents/<name>``.
        services: What all agents share.

    Attributes:
        problem: Why the archive cannot be written now; None if it can.
        no_room: Why the last compaction at the emergency mark made no room; None if it did.
        noticed: What it was told as a rule, and what it promised.
        pins: The pinned lines as a prompt shows them; asked from worker threads too.
        sleeps: Whether the agent sleeps now; asked on the reactor thread.
        moved: Called in a worker thread when memories have left the window, or come back.
        compacted: Called on the reactor thread with what a compaction did.
    """

    def __init__(self, name: str, folder: Path, services: Services) -> None:
        self.name = name
        self.folder = folder
        self.problem: KeepsakeError | None = None
        self.no_room: CompactionError | None = None
        self.noticed = Noticing(name, folder, services)
        self.pins: Callable[[], Sequence[str]] = lambda: ()
        self.sleeps: Callable[[], bool] = lambda: False
        self.moved: Callable[[], None] = lambda: None
        self.compacted: Callable[[CompactionResult], None] = lambda _: None
        self._services = services
        self.summaries = SummaryFolder(folder / "summaries", name)
        self._memory: AgentMemory | None = None
        self._dropped = 0
        self._compacting = self._closed = False
        self._asleep = self._slid = False
        self._after: list[Callable[[], None]] = []
        self._backlog: deque[Unsaved] = deque(maxlen=BACKLOG_LIMIT)
        self._try_again_at = services.clock.now()
        self._slid = self._slides()
        self._open()

    # -- remembering

    def remember(
        self,
        text: str,
        kind: MemoryKind = MemoryKind.PERCEPTION,
        *,
        place: str = "",
        source: str = "",
        reason: str = "",
    ) -> bool:
        """Remember one line, and start a compaction when one is due.

        Returns:
            Whether it is in the archive; if not, it waits in RAM and :attr:`problem`
            says why.
        """
        self._dropped += len(self._backlog) == BACKLOG_LIMIT
        now = self._services.clock.now()
        self._backlog.append(Unsaved(text, kind, place, source, reason, now))
        saved = self.save_backlog()
        if saved:
            self.compact_if_due()
        return saved

    def save_backlog(self) -> bool:
        """Archive what waits in RAM, in order; True if nothing waits any more."""
        if self._memory is None and not self._open():
            return False
        while self._backlog:
            waiting = self._backlog[0]
            try:
                self._save(waiting)
            except ArchiveError as error:
                self._trouble(error)
                return False
            self._backlog.popleft()
        self._relieved()
        return True

    def _save(self, waiting: Unsaved) -> None:
        if self._memory is not None:
            memory = self._memory.append(
                waiting.text,
                waiting.kind,
                place=waiting.place,
                source=waiting.source,
                reason=waiting.reason,
                time=waiting.time,
            )
            self.noticed.saw(memory)

    @property
    def memory(self) -> AgentMemory:
        """The memory itself.

        Raises:
            KeepsakeError: It could not be opened; says why.
        """
        if self._memory is None and not self._open():
            raise self.problem or KeepsakeError(f"{self.name}'s memory is closed")
        assert self._memory is not None
        return self._memory

    def context(self) -> MemoryContext:
        """What stands in the prompt now; see :attr:`memory` for errors."""
        return self.memory.context()

    @property
    def waiting(self) -> int:
        """Memories that wait in RAM for the disk."""
        return len(self._backlog)

    def always_shown(self) -> tuple[str, ...]:
        """What stands in every prompt, whatever is compacted: pins and what was noticed."""
        return (*self.pins(), *self.noticed.lines)

    # -- compacting

    def compact_if_due(self) -> None:
        """Start a compaction in the background when one is due."""
        if self._memory is None or self._compacting:
            return
        self._follow_strategy()
        self._asleep = self.sleeps()
        if reason := self._memory.next_turn():
            self.compact(reason, lambda _: None)

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
        elif self._compacting:
            self._after.append(lambda: self.make_room(done))
        else:
            if self.no_room is None:  # else it was said already
                warn(
                    f"[Memory] {self.name}: {_loaded(memory.load())}; compacting before the thought"
                )
            self.compact(reason, lambda outcome: self._room_made(outcome, done))

    def _room_made(self, outcome: Compacted, done: Callable[[], None]) -> None:
        self.no_room = outcome if isinstance(outcome, CompactionError) else None
        done()

    def compact(self, reason: CompactReason, done: Callable[[Compacted], None]) -> None:
        """Compact in the background; ``done`` is called on the reactor thread."""

        def ended(outcome: CompactionResult | CompactionError) -> None:
            if isinstance(outcome, CompactionResult):
                self.compacted(outcome)
            done(outcome)

        self._in_background(lambda memory: memory.compact(reason), ended)

    def undo(self, done: Callable[[Undone | CompactionError], None]) -> None:
        """Take the last compaction back, in the background; ``done`` on the reactor thread."""
        self._in_background(lambda memory: memory.undo(), done)

    def _in_background[T](
        self, change: Callable[[AgentMemory], T], done: Callable[[T | CompactionError], None]
    ) -> None:
        memory = self.memory
        if self._compacting:
            done(
                CompactionRunning(
                    f"a compaction of {self.name}'s memory is under way", "Wait for it to end"
                )
            )
            return
        # From here on, not from when a thread is free: a second one that waited behind this
        # one would summarise the few memories that came meanwhile.
        self._compacting = True

        def work() -> None:
            outcome: T | CompactionError
            try:
                outcome = change(memory)
                self.moved()
            except CompactionError as error:
                outcome = error
            except Exception as error:
                log(f"[Memory] {self.name}: Compaction broke off: {error!r}")
                outcome = CompactionError(f"the compaction broke off ({error!r})")
            self._services.post(lambda: finished(outcome))

        def finished(outcome: T | CompactionError) -> None:
            self._compacting = False
            waiting, self._after = self._after, []
            try:
                done(outcome)
            finally:
                for each in waiting:
                    each()

        self._services.workers.submit(work)

    def check(self, done: Callable[[IntegrityReport | KeepsakeError], None]) -> None:
        """Check archive, tiers and files in the background; ``done`` on the reactor thread."""
        memory = self.memory

        def work() -> None:
            report: IntegrityReport | KeepsakeError
            try:
                if isinstance(memory, CascadeMemory):
                    report = memory.check()
                else:
                    report = integrity.check(
                        memory.archive, memory.context(), self.summaries, cascade=False
                    )
            except KeepsakeError as error:
                report = error
            except OSError as error:
                report = KeepsakeError(f"the check could not read the vault ({error})")
            self._services.post(lambda: done(report))

        self._services.workers.submit(work)

    # -- opening and closing

    def close(self) -> None:
        """Bring everything to the disk and let go of the files, for good.

        A thread that still works on it finds it closed: to open it again would take the
        archive from whoever comes after, such as the same agent under another name.
        """
        self.save_backlog()
        self._closed = True
        if self._backlog:
            log(f"[Memory] {self.name}: {len(self._backlog)} memories could not be written")
        if self._memory is not None:
            self._services.syncer.remove(self._memory.archive)
            try:
                self._memory.close()
            except ArchiveError as error:
                log(f"[Memory] {self.name}: {error}")
            self._memory = None

    def _open(self) -> bool:
        now = self._services.clock.now()
        if self._closed or now < self._try_again_at:
            return False
        self._try_again_at = now + timedelta(seconds=REOPEN_SECONDS)
        try:
            archive = Archive(self.folder / "archive")
        except ArchiveError as error:
            self._trouble(error)
            return False
        try:
            self._memory = self._built(archive)
        except Exception as error:
            # Not even a window can be read: what happens waits in RAM, and whoever speaks
            # in the same room must not suffer for it.
            archive.close()
            self._trouble(_unreadable(self.folder, error))
            return False
        self._services.syncer.add(archive)
        self.noticed.catch_up(self._memory.context().window)
        return True

    def _built(self, archive: Archive) -> AgentMemory:
        """The memory that the configuration names; the plain one if that cannot be built."""
        if self._slides():
            return self._sliding(archive)
        try:
            return self._cascade(archive)
        except Exception as error:
            # Whatever an archive holds that this code cannot read: the agent lives on with
            # its newest memories, and the log says what to look at.
            log(f"[Memory] {self.name}: The tiers cannot be read ({error!r}); sliding window only")
            return self._sliding(archive)

    def _sliding(self, archive: Archive) -> SlidingMemory:
        return SlidingMemory(
            archive,
            self._config.immediate_window,
            self._services.clock,
            agent=self.name,
            config=lambda: self._config,
            tokens=self._services.tokens,
        )

    def _cascade(self, archive: Archive) -> CascadeMemory:
        return CascadeMemory(
            self.name,
            archive,
            self.summaries,
            config=lambda: self._config,
            summarizer=self._summarizer,
            clock=self._services.clock,
            log=log,
            tokens=self._services.tokens,
            strategy=self._services.strategy,
            must_keep=self.always_shown,
            standing=self.always_shown,
            embedder=self._services.embedder,
            asleep=lambda: self._asleep,
            priced=self._priced,
        )

    def _follow_strategy(self) -> None:
        """Change over when the configuration wants summaries, or none, that it did not want."""
        memory, slides = self._memory, self._slides()
        if memory is None or slides is self._slid:
            return
        self._slid = slides
        how = "a sliding window, without summaries" if slides else "summaries"
        log(f"[Memory] {self.name}: The strategy has changed to {how}")
        self._memory = self._built(memory.archive)

    def _slides(self) -> bool:
        """Whether the strategy makes no summaries."""
        return self._services.strategy().layout is Layout.SLIDING

    def _trouble(self, error: KeepsakeError) -> None:
        if str(error) != str(self.problem):
            log(f"[Memory] {self.name}: {error}")
        self.problem = error

    def _relieved(self) -> None:
        if self.problem is not None:
            lost = f"the oldest {self._dropped} memories were" if self._dropped else "nothing was"
            log(f"[Memory] {self.name}: The archive can be written again; {lost} lost")
        self.problem, self._dropped = None, 0

    @property
    def _config(self) -> CompactionConfig:
        return self._services.compaction.current

    def _priced(self) -> bool:
        """Whether summaries cost calls of a model."""
        try:
            profile = self._services.gateway.profiles.get(self._config.profile)
        except ConfigError:  # the compaction itself says so
            return True
        return profile.provider != EXTRACTIVE

    def _summarizer(self) -> Summarizer:
        """The summarizer that the configuration names; called in a worker thread."""
        profile_name, gateway = self._config.profile, self._services.gateway
        profile = gateway.profiles.get(profile_name)
        if profile.provider == EXTRACTIVE:
            return ExtractiveSummarizer()

        def generate(prompt: str, stop: tuple[str, ...]) -> Generation:
            return gateway.generate(
                profile_name, lambda current: current.request(prompt, stop=stop)
            )

        return ModelSummarizer(generate, context_tokens=profile.context_tokens or 4096)


def _loaded(load: Load) -> str:
    return f"The prompt needs {load.used:,} of {load.budget:,} tokens ({load.share:.0%})"


def _unreadable(folder: Path, error: Exception) -> ArchiveError:
    return ArchiveError(
        f"the archive in {folder} cannot be read ({error!r})",
        "Mend its files; what happens meanwhile is kept in memory",
    )
