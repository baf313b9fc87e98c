"""The cascade: window, short-term summary, long-term summary, like a waterfall.

Each cycle the short-term summary flows into the long-term one, and the memories outside
the immediate window become the new short-term summary. Between two cycles the window
grows, so nothing is invisible and the prompt grows only at its end. When a cycle is due is
decided in :mod:`game.mind.compaction.triggers`, how it is made in
:mod:`game.mind.compaction.ladder_run`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from game.mind.archive import history, integrity
from game.mind.archive.integrity import IntegrityReport
from game.mind.archive.log import Archive
from game.mind.archive.records import Memory, MemoryKind, Tier
from game.mind.archive.tiers import load_tiers
from game.mind.books.journal.importance import importance as by_rules
from game.mind.compaction.config import CompactionConfig
from game.mind.compaction.costs import TokenCounter
from game.mind.compaction.importance_cache import ImportanceCache
from game.mind.compaction.results import nothing_left
from game.mind.compaction.run import CompactionRun, Dependencies
from game.mind.compaction.triggers import Triggers
from game.mind.compaction.undo import Undoing
from game.mind.compaction.view import View
from game.mind.errors import CompactionError, CompactionRunning, KeepsakeError
from game.mind.events.types import MemoryChange
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
from game.mind.prompt.tokens import Heuristic
from game.mind.summaries.copies import VaultCopies
from game.mind.summaries.files import SummaryFolder
from game.mind.summaries.roundtrip import Rate, RoundtripQuestion
from game.mind.summaries.strategy import NARRATIVE, Layout, Strategy
from game.mind.summaries.summarizer import Summarizer

Log = Callable[[str], None]


class CascadeMemory:
    """An agent's memory in three tiers; implements :class:`game.mind.agent_memory.AgentMemory`.

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
        must_keep: Gives the constraints and open loops that have to stay in what the agent
            sees.
        standing: Gives the lines that stand in the prompt whatever is compacted, such as pins.
        embedder: Helps to find a constraint that a summary tells in other words.
        asleep: Whether the agent sleeps now.
        priced: Whether the summarizer calls a model, so that a compaction costs tokens.
        importance: How much a memory matters, 1 to 10: what matters stays longer, in the window
            and in summaries. Quick, as it is asked on the reactor thread, once for each memory
            and again when a compaction is made; None for rules alone.
        ticks: Seconds of any clock that never goes back, for how long a compaction takes.
        tell: Takes an event of what is done beside remembering and compacting: an edit, a rate,
            a clearing; quick, from any thread.
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
        importance: Callable[[Memory], int] | None = None,
        ticks: Callable[[], float] = time.perf_counter,
        tell: Callable[[MemoryChange], None] = lambda _: None,
    ) -> None:
        self.agent = agent
        self.archive = archive
        self.summaries = summaries
        self.questions: tuple[RoundtripQuestion, ...] = ()
        self._config = config
        self._strategy = strategy or (lambda: NARRATIVE)
        self._clock, self._ticks, self._tell = clock, ticks, tell
        self._write_log = log
        # _lock guards the tiers and is held for moments; _busy is held for the length of a
        # compaction, and nobody ever waits for it.
        self._lock = threading.Lock()
        self._busy = threading.Lock()
        self._tiers = load_tiers(archive)
        for report in archive.reports:
            self._log(report)
        scale = TokenCounter(agent, tokens or Heuristic())
        self._mattering = ImportanceCache(
            importance or (lambda memory: by_rules(memory, agent).score), self._log
        )
        self._view = View(self._tiers, scale, config, self._log, self._mattering)
        self._triggers = Triggers(
            self._tiers,
            self._view,
            config=config,
            strategy=self._strategy,
            asleep=asleep,
            priced=priced,
        )
        self._copies = VaultCopies(
            summaries,
            self._tiers,
            self._lock,
            archive,
            clock=clock,
            log=self._log,
            edited=self._edited,
        )
        self._compacting = CompactionRun(
            self._tiers,
            self._lock,
            archive,
            copies=self._copies,
            scale=scale,
            outside=Dependencies(
                summarizer, must_keep, standing, embedder, clock, ticks, self._log, self._mattering
            ),
        )
        self._undoing = Undoing(
            self._tiers,
            self._lock,
            archive,
            copies=self._copies,
            scale=scale,
            clock=clock,
            log=self._log,
        )
        self._copies.mend()

    # -- remembering

    def append(
        self,
        text: str,
        kind: MemoryKind = MemoryKind.PERCEPTION,
        *,
        place: str = "",
        source: str = "",
        reason: str = "",
        source_id: str = "",
        event: str = "",
        to: str = "",
        time: datetime | None = None,
    ) -> Memory:
        """Remember one line; see :meth:`game.mind.agent_memory.AgentMemory.append`."""
        with self._lock:
            when = time or self._clock.now()
            memory = Memory(
                number=self._tiers.last_number + 1,
                time=when,
                kind=kind,
                text=text,
                place=place,
                source=source,
                reason=reason,
                source_id=source_id,
                event=event,
                to=to,
            )
            if self._repeats(memory):
                return self._append_repeat(when)
            self.archive.append_memory(memory)
            self._tiers.add(memory)
            self._view.weight.added(memory)
            return memory

    def _repeats(self, memory: Memory) -> bool:
        window = self._tiers.window
        return bool(window) and window[-1].is_repeated_by(memory)

    def _append_repeat(self, when: datetime) -> Memory:
        last = self._tiers.window[-1]
        times = last.repeats + 1
        record = {"type": "repeat", "n": last.number, "t": when.isoformat(), "times": times}
        self.archive.append(record)
        again = self._tiers.repeat_last(times)
        self._view.weight.repeated(last, again)
        return again

    # -- what stands in the prompt

    def context(self) -> MemoryContext:
        """What stands in the prompt now."""
        with self._lock:
            return self._view.context()

    def weigh(self, overhead: int) -> None:
        """Take what the last prompt cost beside summaries and window, in tokens."""
        self._view.overhead = max(overhead, 0)

    def load(self) -> Load:
        """What the prompt costs now, added up anew."""
        with self._lock:
            self._view.weight.stale()
            return self._view.load()

    def is_empty(self) -> bool:
        """Whether nothing stands in the prompt."""
        tiers = self._tiers
        return not (tiers.window or tiers.recent or tiers.longterm)

    # -- when

    def next_turn(self) -> CompactReason | None:
        """Whether a compaction is due and pays; None while one runs or is backing off."""
        if self._busy.locked() or self._compacting.backing_off:
            return None
        with self._lock:
            return self._triggers.ordinary()

    def before_thought(self) -> CompactReason | None:
        """EMERGENCY when the prompt is over its mark and something can be done about it.

        Over the budget it is always EMERGENCY: such a prompt cannot be sent.
        """
        with self._lock:
            due = self._triggers.emergency(busy=self._busy.locked())
        return CompactReason.EMERGENCY if due else None

    # -- compacting

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Go up the ladder once; see :meth:`game.mind.agent_memory.AgentMemory.compact`."""
        config = self._config()
        if reason is CompactReason.AGENT and not config.on_agent:
            raise CompactionError(
                "agents may not ask for a compaction here",
                "Set on_agent in memory_compaction.md to let them",
            )
        strategy = self._strategy()
        if strategy.layout is Layout.SLIDING and reason is not CompactReason.EMERGENCY:
            detail = f"the strategy {strategy.name} makes no summaries"
            return CompactionResult(reason, Outcome.NOTHING, detail, kept=self.status().window)
        self._claim()
        try:
            if reason is CompactReason.EMERGENCY and self._exhausted(config):
                raise nothing_left(self.agent, self.load())
            began = self._ticks()
            with self._compacting.failing_safely():
                self._compacting.prepare()
                self._mattering.judge_anew(self.context().window)
                with self._lock:
                    self._view.mask_as_far_as_it_goes()
                    plan = self._triggers.plan(reason, config, strategy)
                result = self._compacting.run(plan, reason, config, strategy, began)
            return self._settled(result, config)
        finally:
            self._busy.release()

    def _exhausted(self, config: CompactionConfig) -> bool:
        with self._lock:
            return self._triggers.exhausted(config)

    def _settled(self, result: CompactionResult, config: CompactionConfig) -> CompactionResult:
        load = self.load()
        self._triggers.compacted(result.reason, config, load)
        if result.number:
            self.questions = self._compacting.questions
        elif result.reason is CompactReason.EMERGENCY and load.used > load.budget:
            raise nothing_left(self.agent, load)
        return result

    def undo(self) -> Undone:
        """Take the newest compaction back; see :meth:`game.mind.agent_memory.AgentMemory.undo`."""
        self._claim()
        try:
            try:
                undone = self._undoing.undo(history.standing(self.archive))
            except CompactionError:
                raise
            except KeepsakeError as error:
                raise CompactionError(error.what, error.cure) from error
            self._forget_figures()
            load = self.load()
            if load.used > load.budget:
                warning = "; with that the prompt is over its budget, so the next thought compacts"
                undone = replace(undone, detail=undone.detail + warning)
            return undone
        finally:
            self._busy.release()

    def record_rate(self, number: int, rate: Rate) -> None:
        """Keep what asking the questions of compaction ``number`` gave."""
        record = {"type": "rate", "id": number, "t": self._clock.now().isoformat()}
        with self._lock:
            self.archive.append(record | rate.to_record())
            if number == self._tiers.standing:
                self._tiers.rate = rate
        self._tell(
            MemoryChange(
                agent=self.agent,
                op="rate",
                n=number,
                asked=rate.asked,
                answered=rate.prompt,
                found=rate.recalled,
            )
        )

    def clear(self) -> None:
        """Empty the prompt; the archive keeps everything and the numbers go on.

        Raises:
            ArchiveUnwritable: Nothing was cleared.
            CompactionRunning: A compaction is under way.
        """
        self._claim()
        try:
            with self._lock:
                tiers = self._tiers
                self.archive.append(
                    {
                        "type": "clear",
                        "n": tiers.last_number,
                        "t": self._clock.now().isoformat(),
                        "compactions": tiers.compactions,
                        "step": tiers.step,
                    }
                )
                tiers.clear(tiers.last_number)
            self._tell(MemoryChange(agent=self.agent, op="clear", n=tiers.last_number))
            self._forget_figures()
            self._copies.mend()
        finally:
            self._busy.release()

    def adopt_edits(self) -> list[str]:
        """Take over summaries that a person changed in the vault.

        Returns:
            What was found, in words: adopted edits and files that cannot be read. Nothing
            while a compaction runs: it works on the texts of before, and sets an edit
            aside when it replaces the file.

        Raises:
            ArchiveUnwritable: The edit is there, but could not be archived.
        """
        if not self._busy.acquire(blocking=False):
            return []
        try:
            return self._copies.adopt_edits()
        finally:
            self._busy.release()

    def check(self) -> IntegrityReport:
        """Take over edits by hand, then compare archive, tiers and files; blocks.

        Raises:
            ArchiveUnwritable: An edit is there, but could not be archived.
        """
        self.adopt_edits()
        with self._copies.in_step:  # just after a commit the files are still those of before
            return integrity.check(self.archive, self.context(), self.summaries)

    def _claim(self) -> None:
        if not self._busy.acquire(blocking=False):
            raise CompactionRunning(
                f"a compaction of {self.agent}'s memory is under way", "Wait for it to end"
            )

    def _forget_figures(self) -> None:
        """What was known of the load holds no longer."""
        with self._lock:
            self._view.forget()
            self._triggers.forget()
        self.questions = ()

    # -- figures

    def status(self) -> MemoryStatus:
        """Figures about this memory."""
        with self._lock:
            tiers, tried = self._tiers, self._compacting
            return MemoryStatus(
                total=tiers.last_number,
                window=len(tiers.window),
                next_due=self._triggers.next_due() if self._config().on_count else None,
                running=self._busy.locked(),
                last_compaction=tiers.last_compaction,
                compactions=tiers.compactions,
                failures=tried.failures,
                retry_at=tried.retry_at,
                last_failure=tried.last_failure,
                last_number=tiers.standing,
                last_verdict=tiers.verdict,
                last_rate=tiers.rate,
            )

    def close(self) -> None:
        """Bring everything to the disk and let go of the files."""
        self.archive.close()

    def _edited(self, tier: Tier, compaction: int, size: int, problem: str) -> None:
        self._tell(
            MemoryChange(
                agent=self.agent,
                op="edit",
                n=compaction,
                of=tier.value,
                size=size,
                by="hand",
                problem=problem,
            )
        )

    def _log(self, text: str) -> None:
        self._write_log(f"[Memory] {self.agent}: {text}")
