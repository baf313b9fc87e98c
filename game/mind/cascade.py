"""The cascade: window, short-term summary, long-term summary, like a waterfall.

Each cycle the short-term summary flows into the long-term one, and the memories outside
the immediate window become the new short-term summary. Between two cycles the window
grows, so nothing is invisible and the prompt grows only at its end. When a cycle is due is
decided in :mod:`game.mind.ladder`, how it is made in :mod:`game.mind.rungs`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime

from game.mind import exchange, history, ladder, masking
from game.mind.archive import Archive
from game.mind.compacting import Compacting, Outside
from game.mind.compaction_config import CompactionConfig
from game.mind.copies import VaultCopies
from game.mind.cycle import Plan, Snapshot, make_plan
from game.mind.errors import CompactionError, CompactionRunning, KeepsakeError
from game.mind.ladder import Streak
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
from game.mind.records import Memory, MemoryKind
from game.mind.roundtrip import Question, Rate
from game.mind.strategy import NARRATIVE, Layout, Strategy
from game.mind.summaries import SummaryFolder
from game.mind.summarize import Summarizer
from game.mind.tiers import load_tiers
from game.mind.tokens import Heuristic
from game.mind.weights import RunningWeight, Scale

ASK_AGAIN_AFTER = 4
"""Memories after which a compaction that did not pay is thought over again."""

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
        must_keep: Gives the constraints and open loops that have to stay in what the agent
            sees.
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
        self.agent = agent
        self.archive = archive
        self.summaries = summaries
        self.questions: tuple[Question, ...] = ()
        self._config = config
        self._strategy = strategy or (lambda: NARRATIVE)
        self._asleep, self._priced = asleep, priced
        self._clock = clock
        self._write_log = log
        self._scale = Scale(agent, tokens or Heuristic())
        self._weight = RunningWeight(self._scale)
        self._mask = masking.Mask(self._log)
        self._masked_through = 0
        self._overhead = 0
        self._streak = Streak()
        self._declined: dict[CompactReason, int] = {}
        # _lock guards the tiers and is held for moments; _busy is held for the length of a
        # compaction, and nobody ever waits for it.
        self._lock = threading.Lock()
        self._busy = threading.Lock()
        self._tiers = load_tiers(archive)
        for report in archive.reports:
            self._log(report)
        self._copies = VaultCopies(
            summaries, self._tiers, self._lock, archive, clock=clock, log=self._log
        )
        self._compacting = Compacting(
            self._tiers,
            self._lock,
            archive,
            copies=self._copies,
            scale=self._scale,
            outside=Outside(summarizer, must_keep, standing, embedder, clock, self._log),
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
            self._weight.added(memory)
            return memory

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
        again = self._tiers.repeat_last(times)
        self._weight.repeated(last, again)
        return again

    # -- what stands in the prompt

    def context(self) -> MemoryContext:
        """What stands in the prompt now."""
        with self._lock:
            return self._context()

    def _context(self) -> MemoryContext:
        tiers, masked = self._tiers, None
        if self._config().mask:
            masked = self._mask.view(tiers.window, self._mask_boundary())
        return MemoryContext(tiers.longterm, tiers.recent, tuple(tiers.window), masked)

    def _mask_boundary(self) -> int:
        """Up to where old results are masked; it goes back only when memories come back."""
        tiers, config = self._tiers, self._config()
        preserved = max(config.preserve_memories, self._newest_within_share(config))
        through = masking.boundary(tiers.last_number, preserved)
        self._masked_through = max(self._masked_through, through)
        return self._masked_through

    def _newest_within_share(self, config: CompactionConfig) -> int:
        room, count = int(config.preserve_share * config.budget), 0
        for memory in reversed(self._tiers.window):
            if (room := room - self._scale.memory(memory)) < 0:
                break
            count += 1
        return count

    def weigh(self, overhead: int) -> None:
        """Take what the last prompt cost beside summaries and window, in tokens."""
        self._overhead = max(overhead, 0)

    def load(self) -> Load:
        """What the prompt costs now, added up anew."""
        with self._lock:
            self._weight.stale()
            return self._load()

    def _load(self) -> Load:
        tiers = self._tiers
        window = self._weight.value(lambda: self._scale.memories(self._context().shown))
        summaries = self._scale.summaries(tiers.longterm, tiers.recent)
        return Load(self._overhead, summaries, window, self._config().budget)

    def is_empty(self) -> bool:
        """Whether nothing stands in the prompt."""
        tiers = self._tiers
        return not (tiers.window or tiers.recent or tiers.longterm)

    # -- when

    def next_turn(self) -> CompactReason | None:
        """Whether a compaction is due and pays; None while one runs or is backing off."""
        if self._busy.locked() or self._compacting.backing_off:
            return None
        config = self._config()
        with self._lock:
            load = self._load()
            full = self._tiers.last_number >= self._next_due()
            reasons = ladder.wanted(config, load, full=full, asleep=self._asleep)
            if not reasons or self._sliding or self._held:
                return None
            return next((r for r in reasons if self._worth_it(r, config, load)), None)

    def before_thought(self) -> CompactReason | None:
        """EMERGENCY when the prompt is over its mark and something can be done about it.

        Over the budget it is always EMERGENCY: such a prompt cannot be sent.
        """
        config, load = self._config(), self.load()
        if not ladder.urgent(config, load):
            return None
        if load.used > load.budget:
            return CompactReason.EMERGENCY
        if self._busy.locked():
            return None
        with self._lock:
            due = not self._held and self._worth_it(CompactReason.EMERGENCY, config, load)
        return CompactReason.EMERGENCY if due else None

    @property
    def _held(self) -> bool:
        """Whether a compaction was taken back just now: it is not made again at once."""
        since = self._tiers.undone_at
        return since is not None and self._tiers.last_number < since + self._config().recent_window

    @property
    def _sliding(self) -> bool:
        return self._strategy().layout is Layout.SLIDING

    def _worth_it(self, reason: CompactReason, config: CompactionConfig, load: Load) -> bool:
        """Whether a compaction pays; thought over only every few memories."""
        if self._streak.blocks(config, load):
            return False
        last = self._tiers.last_number
        if last < self._declined.get(reason, 0):
            return False
        plan = self._plan(reason, config)
        if plan is not None and plan.worth.pays(config, priced=self._priced()):
            return True
        self._declined[reason] = last + ASK_AGAIN_AFTER
        return False

    def _next_due(self) -> int:
        config, tiers = self._config(), self._tiers
        due = tiers.summarised + config.immediate_window + config.recent_window
        return due if tiers.recent else due + 1

    def _plan(self, reason: CompactReason, config: CompactionConfig) -> Plan | None:
        return make_plan(reason, self._strategy().layout, config, self._snapshot())

    def _snapshot(self) -> Snapshot:
        tiers, scale, context = self._tiers, self._scale, self._context()
        weights = {memory.number: scale.memory(memory) for memory in context.shown}
        return Snapshot(
            longterm=tiers.longterm,
            recent=tiers.recent,
            window=context.window,
            shown=context.shown,
            weights=tuple(weights.get(memory.number, 0) for memory in context.window),
            plain=scale.memories(context.window),
            longterm_tokens=scale.summaries(tiers.longterm),
            recent_tokens=scale.summaries(tiers.recent),
            overhead=self._overhead,
            open_from=exchange.open_exchange(context.window, self.agent),
        )

    # -- compacting

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Go up the ladder once; see :meth:`game.mind.memory.AgentMemory.compact`."""
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
            began = time.perf_counter()
            with self._compacting.failing_safely():
                self._compacting.prepare()
                with self._lock:
                    self._mask_as_far_as_it_goes(config)
                    plan = make_plan(reason, strategy.layout, config, self._snapshot())
                result = self._compacting.run(plan, reason, config, strategy, began)
            return self._settled(result, config)
        finally:
            self._busy.release()

    def _mask_as_far_as_it_goes(self, config: CompactionConfig) -> None:
        """The first rung, without its steps: the prompt changes anyhow."""
        if config.mask:
            preserved = max(config.preserve_memories, self._newest_within_share(config))
            through = max(self._tiers.last_number - preserved, 0)
            self._masked_through = max(self._masked_through, through)
        self._weight.stale()

    def _settled(self, result: CompactionResult, config: CompactionConfig) -> CompactionResult:
        load = self.load()
        self._declined.clear()
        self.questions = self._compacting.questions
        self._streak = self._streak.after(result.reason, config, load)
        if result.reason is CompactReason.EMERGENCY:
            self._nothing_left(result, load)
        return result

    def _nothing_left(self, result: CompactionResult, load: Load) -> None:
        """Say plainly that nothing helps, once nothing was changed and the prompt is too large.

        Raises:
            CompactionError: That is so.
        """
        if result.number or load.used <= load.budget:
            return
        parts = {
            "what stands in the prompt beside memories": load.overhead,
            "the summaries": load.summaries,
            "the newest memories": load.window,
        }
        largest = max(parts, key=lambda part: parts[part])
        raise CompactionError(
            f"{self.agent}'s prompt needs {load.used} tokens and may have {load.budget}, and "
            f"nothing is left to compact; {largest} alone cost {parts[largest]}",
            "Raise context_tokens in memory_compaction.md if the model can look at more; or "
            "shorten the profile, the pinned lines or the template in prompt.md",
        )

    def undo(self) -> Undone:
        """Take the newest compaction back; see :meth:`game.mind.memory.AgentMemory.undo`."""
        self._claim()
        try:
            try:
                undone = self._compacting.undo(history.standing(self.archive), self._overhead)
            except CompactionError:
                raise
            except KeepsakeError as error:
                raise CompactionError(error.what, error.cure) from error
            self._forget_figures()
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

    def _claim(self) -> None:
        if not self._busy.acquire(blocking=False):
            raise CompactionRunning(
                f"a compaction of {self.agent}'s memory is under way", "Wait for it to end"
            )

    def _forget_figures(self) -> None:
        """What was known of the load holds no longer."""
        with self._lock:
            self._masked_through = 0
            self._weight.stale()
        self._streak, self.questions = Streak(), ()
        self._declined.clear()

    # -- figures

    def status(self) -> MemoryStatus:
        """Figures about this memory."""
        with self._lock:
            tiers, tried = self._tiers, self._compacting
            return MemoryStatus(
                total=tiers.last_number,
                window=len(tiers.window),
                next_due=self._next_due() if self._config().on_count else None,
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

    def _log(self, text: str) -> None:
        self._write_log(f"[Memory] {self.agent}: {text}")
