"""The cascade: window, short-term summary, long-term summary, like a waterfall.

Each cycle the short-term summary flows into the long-term one, and the memories outside
the immediate window become the new short-term summary. Between two cycles the window
grows, so nothing is invisible and the prompt grows only at its end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from game.mind.archive import Archive
from game.mind.compaction_config import CompactionConfig
from game.mind.cycle import Plan, result_of
from game.mind.errors import (
    ArchiveUnwritable,
    CompactionError,
    CompactionRunning,
    KeepsakeError,
)
from game.mind.memory import (
    CompactionResult,
    CompactReason,
    Load,
    MemoryContext,
    MemoryStatus,
    Outcome,
    Undone,
)
from game.mind.ports import Clock, Embedder, Tokens
from game.mind.records import Memory, MemoryKind, Position, Summary, Tier
from game.mind.roundtrip import Question, Rate
from game.mind.strategy import Strategy
from game.mind.summaries import SummaryFile, SummaryFolder
from game.mind.summarize import ExtractiveSummarizer, Summarizer
from game.mind.tiers import compaction_record, load_tiers
from game.mind.tokens import Heuristic

RETRY_SECONDS = 30.0
"""Wait after the first failed compaction; doubled with each further one."""
RETRY_LIMIT_SECONDS = 1800.0

Log = Callable[[str], None]


class CascadeMemory:
    """An agent's memory in three tiers; implements :class:`game.mind.memory.AgentMemory`.

    Args:
        agent: The agent's name, for log lines and prompts.
        archive: Where everything is kept.
        summaries: The folder of markdown summaries.
        config: Gives the sizes that hold now.
        summarizer: Gives the summarizer that holds now.
        clock: The present time.
        log: Takes one line for people.
        tokens: Knows what a line costs in a prompt.
        strategy: Gives the way of writing summaries that holds now; None for narrative.
        must_keep: Gives the constraints and open loops that have to stay in what the agent sees.
        standing: Gives the lines that stand in the prompt whatever is compacted, such as pins.
        embedder: Helps to find a constraint that a summary tells in other words.
        asleep: Whether the agent sleeps now.
        priced: Whether the summarizer calls a model, so that a compaction costs tokens.
    """

    def __init__(
        self,
        agent: str,
        archive: Archive,
        summaries: SummaryFolder,
        *,
        config: Callable[[], CompactionConfig],
        summarizer: Callable[[], Summarizer],
        clock: Clock,
        log: Log,
        tokens: Tokens | None = None,
        strategy: Callable[[], Strategy] | None = None,
        must_keep: Callable[[], Sequence[str]] = lambda: (),
        standing: Callable[[], Sequence[str]] = lambda: (),
        embedder: Embedder | None = None,
        asleep: Callable[[], bool] = lambda: False,
        priced: Callable[[], bool] = lambda: True,
    ) -> None:
        self.questions: tuple[Question, ...] = ()
        self._tokens = tokens or Heuristic()
        self._overhead = 0
        self.agent = agent
        self.archive = archive
        self.summaries = summaries
        self._config = config
        self._summarizer = summarizer
        self._clock = clock
        self._write_log = log
        # _lock guards the tiers and is held for moments; _compacting is held for the
        # length of a compaction, and nobody ever waits for it.
        self._lock = threading.Lock()
        self._compacting = threading.Lock()
        self._failures = 0
        self._retry_at: datetime | None = None
        self._last_failure = ""
        self._tiers = load_tiers(archive)
        for report in archive.reports:
            self._log(report)
        self._mend_files()

    # -- the interface

    def append(
        self,
        text: str,
        kind: MemoryKind = MemoryKind.PERCEPTION,
        *,
        place: str = "",
        source: str = "",
        reason: str = "",
        time: datetime | None = None,
    ) -> Memory:
        """Remember one line; see :meth:`game.mind.memory.AgentMemory.append`."""
        with self._lock:
            when = time or self._clock.now()
            if self._repeats(text, kind):
                return self._append_repeat(when)
            memory = Memory(
                number=self._tiers.last_number + 1,
                time=when,
                kind=kind,
                text=text,
                place=place,
                source=source,
                reason=reason,
            )
            self.archive.append_memory(memory)
            self._tiers.add(memory)
            return memory

    def context(self) -> MemoryContext:
        """What stands in the prompt now."""
        with self._lock:
            tiers = self._tiers
            return MemoryContext(tiers.longterm, tiers.recent, tuple(tiers.window))

    def weigh(self, overhead: int) -> None:
        """Take what the last prompt cost beside summaries and window."""
        self._overhead = max(overhead, 0)

    def load(self) -> Load:
        """What the prompt costs now."""
        context, of = self.context(), self._tokens.of
        summaries = sum(of(each.text) for each in (context.longterm, context.recent) if each)
        window = sum(of(memory.line) for memory in context.shown)
        return Load(self._overhead, summaries, window, self._config().budget)

    def before_thought(self) -> CompactReason | None:
        """EMERGENCY when the prompt is over its mark."""
        config = self._config()
        if config.on_emergency and self.load().share >= config.emergency:
            return CompactReason.EMERGENCY
        return None

    def undo(self) -> Undone:
        """Take the newest compaction back; see :meth:`game.mind.memory.AgentMemory.undo`."""
        raise CompactionError(f"{self.agent}'s memory has no compaction to take back")

    def record_rate(self, number: int, rate: Rate) -> None:
        """Keep what asking the questions of compaction ``number`` gave."""
        self.archive.append(
            {"type": "rate", "id": number, "t": self._clock.now().isoformat(), **rate.to_record()}
        )

    def next_turn(self) -> CompactReason | None:
        """Whether a compaction is due by count; None while one runs or is backing off."""
        if self._compacting.locked():
            return None
        if self._retry_at is not None and self._clock.now() < self._retry_at:
            return None
        return CompactReason.COUNT if self._tiers.last_number >= self._next_due() else None

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Make one cycle; see :meth:`game.mind.memory.AgentMemory.compact`."""
        if not self._compacting.acquire(blocking=False):
            raise CompactionRunning(
                f"a compaction of {self.agent}'s memory is under way",
                "Wait for it to end",
            )
        try:
            return self._compact(reason)
        except KeepsakeError as error:
            self._failed(error)
            raise CompactionError(error.what, error.cure) from error
        except Exception as error:
            # A fault of ours must back off like any other failure, not be tried each turn.
            self._failed(CompactionError(f"unexpected {error!r}"))
            raise
        finally:
            self._compacting.release()

    def clear(self) -> None:
        """Empty the prompt; the archive keeps everything and the numbers go on.

        Raises:
            ArchiveUnwritable: Nothing was cleared.
            CompactionRunning: A compaction is under way.
        """
        if not self._compacting.acquire(blocking=False):
            raise CompactionRunning(f"a compaction of {self.agent}'s memory is under way")
        try:
            with self._lock:
                tiers = self._tiers
                self.archive.append(
                    {
                        "type": "clear",
                        "n": tiers.last_number,
                        "t": self._clock.now().isoformat(),
                        "compactions": tiers.compactions,
                    }
                )
                tiers.clear(tiers.last_number)
            self._mend_files()
        finally:
            self._compacting.release()

    def is_empty(self) -> bool:
        """Whether nothing stands in the prompt."""
        tiers = self._tiers
        return not (tiers.window or tiers.recent or tiers.longterm)

    def status(self) -> MemoryStatus:
        """Figures about this memory."""
        with self._lock:
            tiers = self._tiers
            return MemoryStatus(
                total=tiers.last_number,
                window=len(tiers.window),
                next_due=self._next_due(),
                running=self._compacting.locked(),
                last_compaction=tiers.last_compaction,
                compactions=tiers.compactions,
                failures=self._failures,
                retry_at=self._retry_at,
                last_failure=self._last_failure,
            )

    def close(self) -> None:
        """Bring everything to the disk and let go of the files."""
        self.archive.close()

    # -- appending

    def _repeats(self, text: str, kind: MemoryKind) -> bool:
        window = self._tiers.window
        return (
            bool(window)
            and kind is not MemoryKind.ACT
            and window[-1].kind is kind
            and window[-1].text == text
        )

    def _append_repeat(self, when: datetime) -> Memory:
        last = self._tiers.window[-1]
        times = last.repeats + 1
        record = {"type": "repeat", "n": last.number, "t": when.isoformat(), "times": times}
        self.archive.append(record)
        return self._tiers.repeat_last(times)

    # -- compacting

    def _next_due(self) -> int:
        config, tiers = self._config(), self._tiers
        due = tiers.summarised + config.immediate_window + config.recent_window
        return due if tiers.recent else due + 1

    def _compact(self, reason: CompactReason) -> CompactionResult:
        began = time.perf_counter()
        self._adopt_edits()
        plan = self._plan(reason)
        if plan is None:
            return self._nothing(reason)
        self._log(
            f"Starting compaction ({self._tiers.last_number} memories, "
            f"{len(plan.staying)} immediate, {len(plan.leaving)} recent)"
        )
        longterm, recent = self._write_summaries(plan)
        seconds = time.perf_counter() - began
        position = self._commit(plan, longterm, recent, seconds)
        return result_of(plan, longterm, recent, seconds, position)

    def _plan(self, reason: CompactReason) -> Plan | None:
        with self._lock:
            tiers, size = self._tiers, self._config().immediate_window
            leaving = tuple(tiers.window[: max(len(tiers.window) - size, 0)])
            if not leaving:
                return None
            staying = tuple(tiers.window[len(leaving) :])
            return Plan(reason, tiers.longterm, tiers.recent, leaving, staying)

    def _nothing(self, reason: CompactReason) -> CompactionResult:
        window = len(self._tiers.window)
        return CompactionResult(
            reason,
            Outcome.NOTHING,
            f"all {window} memories that are not summarised yet stand in the immediate window "
            f"of {self._config().immediate_window}",
            kept=window,
        )

    def _write_summaries(self, plan: Plan) -> tuple[Summary | None, Summary]:
        """Have both summaries written side by side; both must succeed."""
        sources, summarizer = plan.sources(self.agent), self._choose_summarizer()
        with ThreadPoolExecutor(len(sources), thread_name_prefix="summary") as pool:
            drafts = list(pool.map(summarizer.summarize, sources))
        return plan.summaries(sources, drafts, self._clock.now())

    def _choose_summarizer(self) -> Summarizer:
        """The configured one, or after repeated failures the one that needs no model."""
        config = self._config()
        if config.fallback_after and self._failures >= config.fallback_after:
            self._log(f"No usable summary in {self._failures} tries; falling back to extractive")
            return ExtractiveSummarizer()
        return self._summarizer()

    def _commit(
        self, plan: Plan, longterm: Summary | None, recent: Summary, seconds: float
    ) -> Position:
        with self._lock:
            number = self._tiers.compactions + 1
            position = self.archive.append(
                compaction_record(
                    longterm,
                    recent,
                    number,
                    reason=plan.reason.value,
                    total=self._tiers.last_number,
                    kept=len(plan.staying),
                    seconds=round(seconds, 3),
                )
            )
            self._tiers.compacted(longterm, recent, number, recent.time)
        self._failures, self._retry_at, self._last_failure = 0, None, ""
        self._sync()
        if longterm is not None:
            self._log(f"Long-term summary updated ({len(longterm.text)} chars)")
            self._write_file(longterm, number, position)
        self._log(f"Short-term summary updated ({len(recent.text)} chars)")
        self._write_file(recent, number, position, keep=True)
        self._log(f"Compaction complete ({Outcome.WATERFALL if longterm else Outcome.FIRST})")
        return position

    def _sync(self) -> None:
        # The operating system has the line already; the background sync tries again.
        try:
            self.archive.sync()
        except ArchiveUnwritable as error:
            self._log(str(error))

    def _failed(self, error: KeepsakeError) -> None:
        self._failures += 1
        wait = min(RETRY_SECONDS * 2 ** (self._failures - 1), RETRY_LIMIT_SECONDS)
        self._retry_at = self._clock.now() + timedelta(seconds=wait)
        self._last_failure = str(error)
        self._log(f"Compaction failed: {error} (nothing was changed; next try in {wait:.0f} s)")

    # -- the files in the vault

    def adopt_edits(self) -> list[str]:
        """Take over summaries that a person changed in the vault.

        Returns:
            What was found, in words: adopted edits and files that cannot be read. Nothing
            while a compaction runs: it works on the texts of before, and sets an edit
            aside when it replaces the file.

        Raises:
            ArchiveUnwritable: The edit is there, but could not be archived.
        """
        if not self._compacting.acquire(blocking=False):
            return []
        try:
            return self._adopt_edits()
        finally:
            self._compacting.release()

    def _adopt_edits(self) -> list[str]:
        notes = [note for tier in Tier if (note := self._adopt_from_file(tier))]
        for note in notes:
            self._log(note)
        return notes

    def _adopt_from_file(self, tier: Tier) -> str | None:
        try:
            file = self.summaries.read(tier)
        except ValueError as error:
            return _left_alone(error)
        return self._adopt_edit(tier, file)

    def _adopt_edit(self, tier: Tier, file: SummaryFile | None) -> str | None:
        with self._lock:
            summary, tiers = self._tiers.summary(tier), self._tiers
            if file is None or summary is None or not file.edited:
                return None
            if file.compaction != tiers.compactions or not file.text:
                return f"{file.path} was edited, but is empty or belongs to another compaction"
            if file.text == summary.text.strip():
                return None
            now = self._clock.now()
            position = self.archive.append(
                {"type": "edit", "tier": tier.value, "text": file.text, "t": now.isoformat()}
            )
            tiers.edited(tier, file.text, now)
            changed, number = tiers.summary(tier), tiers.compactions
        if changed is not None:
            self._write_file(changed, number, position)
        return f"{file.path.name} was edited by hand and adopted ({len(file.text)} chars)"

    def _mend_files(self) -> None:
        """Take over edits, and write again what a crash, or a person, took from the vault."""
        # Each file is read once: its front matter is most of what opening an agent costs.
        for tier in Tier:
            try:
                self._mend_file(tier, self.summaries.read(tier))
            except ValueError as error:
                self._log(_left_alone(error))
            except (ArchiveUnwritable, OSError) as error:
                self._log(f"{self.summaries.path(tier).name} could not be mended: {error}")

    def _mend_file(self, tier: Tier, file: SummaryFile | None) -> None:
        if note := self._adopt_edit(tier, file):
            self._log(note)
        summary, compactions = self._tiers.summary(tier), self._tiers.compactions
        if summary is None:
            self.summaries.remove(tier)
        elif file is None or file.compaction != compactions:
            self._write_file(summary, compactions, None, keep=tier is Tier.RECENT)

    def _write_file(
        self, summary: Summary, number: int, position: Position | None, *, keep: bool = False
    ) -> None:
        # The archive has the summary already, so a vault that cannot be written costs
        # only the copy for people; the next start writes it.
        try:
            for note in self.summaries.write(summary, number, position, keep=keep):
                self._log(note)
        except OSError as error:
            self._log(f"{self.summaries.path(summary.tier)} could not be written: {error}")

    def _log(self, text: str) -> None:
        self._write_log(f"[Memory] {self.agent}: {text}")


def _left_alone(error: ValueError) -> str:
    return f"{error}; left alone, the archive's own text is used"
