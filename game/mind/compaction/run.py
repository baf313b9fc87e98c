"""One compaction from its plan to the archive, and what happens when it fails.

The archive line is the commit point: before it nothing has changed, after it everything
has, and the files in the vault follow.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from game.mind.archive.log import Archive
from game.mind.archive.records import Memory, Position
from game.mind.archive.tier_lines import Compacted
from game.mind.archive.tiers import Tiers
from game.mind.compaction import importance_cache
from game.mind.compaction.config import CompactionConfig
from game.mind.compaction.costs import TokenCounter
from game.mind.compaction.importance_cache import ImportanceCache, picked
from game.mind.compaction.ladder_run import LadderRun, PreparedCompaction
from game.mind.compaction.planning import CompactionPlan
from game.mind.compaction.results import details_of, result_of
from game.mind.errors import ArchiveError, ArchiveUnwritable, CompactionError, KeepsakeError
from game.mind.memory import CompactionResult, CompactReason, Outcome
from game.mind.ports import Clock, Embedder
from game.mind.summaries import roundtrip
from game.mind.summaries.copies import VaultCopies
from game.mind.summaries.roundtrip import RoundtripQuestion
from game.mind.summaries.strategy import Layout, Strategy
from game.mind.summaries.summarizer import ExtractiveSummarizer, Summarizer
from game.mind.summaries.writing import SummaryWriter

RETRY_SECONDS = 30.0
"""Wait after the first failed compaction; doubled with each further one."""
RETRY_LIMIT_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What a compaction needs from outside.

    See :class:`game.mind.compaction.cascade.CascadeMemory`.
    """

    summarizer: Callable[[], Summarizer]
    must_keep: Callable[[], Sequence[str]]
    standing: Callable[[], Sequence[str]]
    embedder: Embedder | None
    clock: Clock
    ticks: Callable[[], float]
    log: Callable[[str], None]
    mattering: ImportanceCache


class CompactionRun:
    """Compactions of one memory, one at a time; the caller sees to that.

    Args:
        tiers: What is compacted.
        lock: Guards the tiers.
        archive: Gets a line for each compaction.
        copies: The files in the vault.
        scale: Weighs.
        outside: Models, clock, and what must be kept.
    """

    def __init__(
        self,
        tiers: Tiers,
        lock: threading.Lock,
        archive: Archive,
        *,
        copies: VaultCopies,
        scale: TokenCounter,
        outside: Dependencies,
    ) -> None:
        self.failures = 0
        """Failed tries since the last success."""
        self.retry_at: datetime | None = None
        """No automatic try before this time."""
        self.last_failure = ""
        self.questions: tuple[RoundtripQuestion, ...] = ()
        self._unwritten = 0
        self._past: dict[int, Memory] = {}
        self._tiers, self._lock, self._archive = tiers, lock, archive
        self._copies, self._scale, self._outside = copies, scale, outside

    @property
    def backing_off(self) -> bool:
        """Whether the last try failed so shortly ago that none is made by itself."""
        return self.retry_at is not None and self._outside.clock.now() < self.retry_at

    @contextmanager
    def failing_safely(self) -> Iterator[None]:
        """Within it a failure is counted, logged, and told as a :class:`CompactionError`."""
        try:
            yield
        except KeepsakeError as error:
            self._failed(error)
            raise CompactionError(error.what, error.cure) from error
        except Exception as error:
            # A fault of ours must back off like any other failure, not be tried each turn.
            self._failed(CompactionError(f"unexpected {error!r}"))
            raise

    def prepare(self) -> None:
        """Bring what was lived to the disk, and take over what people have edited.

        Raises:
            ArchiveUnwritable: The archive cannot be written, so nothing may be compacted.
        """
        self._archive.sync()
        self._copies.adopt_edits()

    def run(
        self,
        plan: CompactionPlan | None,
        reason: CompactReason,
        config: CompactionConfig,
        strategy: Strategy,
        began: float,
    ) -> CompactionResult:
        """Carry ``plan`` out, begun at those ticks; None does nothing and says so.

        Raises:
            KeepsakeError: Nothing was changed; says why.
        """
        made = None if plan is None else self._made(plan, config, strategy)
        if plan is None or made is None:
            return self._nothing(reason, config)
        seconds = self._outside.ticks() - began
        result = result_of(plan, made, self._scale, seconds)
        with self._copies.in_step:
            position, number = self._commit(plan, made, result, strategy)
        return replace(result, number=number, position=position)

    def _made(
        self, plan: CompactionPlan, config: CompactionConfig, strategy: Strategy
    ) -> PreparedCompaction | None:
        outside = self._outside
        self._announce(plan)
        self.questions = roundtrip.draw(plan.leaving)
        writer = SummaryWriter(
            summarizer=self._summarizer(plan, config, strategy),
            forgiving=plan.reason is CompactReason.EMERGENCY,
            must_keep=tuple(outside.must_keep()),
            standing=tuple(outside.standing()),
            embedder=outside.embedder,
            log=outside.log,
        )
        now = outside.clock.now()
        mattered = self._mattered(plan)
        return LadderRun(
            plan, config, strategy, self._scale, writer, now, outside.mattering, mattered
        ).make()

    def _mattered(self, plan: CompactionPlan) -> list[Memory]:
        """The memories that matter, of those that both summaries of before still tell."""
        both = (plan.before.longterm, plan.before.recent)
        numbers = sorted({number for each in both if each for number in each.mattered})
        known = self._past | self._read([n for n in numbers if n not in self._past])
        leaving = importance_cache.remembered(plan.leaving, self._outside.mattering.of)
        self._past = {n: known[n] for n in numbers if n in known}
        mattered = list(self._past.values())
        # The next compaction asks for these: what leaves now is at hand without the archive.
        self._past |= {memory.number: memory for memory in leaving}
        return mattered

    def _read(self, numbers: Sequence[int]) -> dict[int, Memory]:
        """Memories from the archive, which after a restart alone knows them."""
        try:
            read = picked(self._archive.read, numbers)
        except (OSError, KeyError, ValueError) as error:
            # Summaries are as good as they were before anything was known to matter.
            self._outside.log(f"What mattered in the summaries cannot be looked up ({error!r})")
            return {}
        return {memory.number: memory for memory in read}

    def _announce(self, plan: CompactionPlan) -> None:
        log = self._outside.log
        warning = "Emergency: " if plan.reason is CompactReason.EMERGENCY else ""
        log(
            f"{warning}Starting compaction ({self._tiers.last_number} memories, "
            f"{len(plan.staying)} immediate, {len(plan.leaving)} recent)"
        )
        if plan.squeezed:
            log(
                f"The newest {plan.squeezed} memories do not fit into the budget word for word; "
                f"{len(plan.staying)} of them stay"
            )

    def _summarizer(
        self, plan: CompactionPlan, config: CompactionConfig, strategy: Strategy
    ) -> Summarizer:
        """The configured one, or the one that needs no model where that one keeps failing."""
        if config.fallback_after and self._unwritten >= config.fallback_after:
            self._outside.log(
                f"No usable summary in {self._unwritten} tries; falling back to extractive"
            )
            return ExtractiveSummarizer()
        if strategy.layout is Layout.SLIDING or self._in_haste(plan, config):
            return ExtractiveSummarizer()
        try:
            return self._outside.summarizer()
        except KeepsakeError as error:
            if plan.reason is not CompactReason.EMERGENCY:
                raise
            self._outside.log(f"{error}; a summary without a model stands in")
            return ExtractiveSummarizer()

    def _in_haste(self, plan: CompactionPlan, config: CompactionConfig) -> bool:
        """Whether a thought waits, and a model would keep it waiting for too long.

        One that has just failed would; so would any where more is to be read than fits into
        a prompt, as it reads that part by part.
        """
        if plan.reason is not CompactReason.EMERGENCY:
            return False
        failed = self.backing_off and bool(self._unwritten)
        return failed or plan.worth.leaving > config.context_tokens

    def _nothing(self, reason: CompactReason, config: CompactionConfig) -> CompactionResult:
        window = len(self._tiers.window)
        by_count = reason is CompactReason.COUNT or reason.asked
        detail = (
            f"all {window} memories that are not summarised yet stand in the immediate window "
            f"of {config.immediate_window}"
            if by_count and window <= config.immediate_window
            else f"none of the {window} memories that are not summarised yet can leave the prompt"
        )
        return CompactionResult(reason, Outcome.NOTHING, detail, kept=window)

    # -- committing

    def _commit(
        self,
        plan: CompactionPlan,
        made: PreparedCompaction,
        result: CompactionResult,
        strategy: Strategy,
    ) -> tuple[Position, int]:
        tiers = self._tiers
        with self._lock:
            compacted = Compacted(
                longterm=made.longterm,
                recent=made.recent,
                number=tiers.compactions + 1,
                step=tiers.step + 1,
                time=self._outside.clock.now(),
                verdict=made.verdict,
            )
            details = details_of(
                plan,
                made,
                result,
                strategy,
                counted_by=self._scale.source,
                questions=self.questions,
            )
            record = compacted.to_record(total=tiers.last_number, **details)
            position = self._archive.append(record)
            tiers.compacted(compacted)
        self.failures, self.retry_at, self.last_failure, self._unwritten = 0, None, "", 0
        self._sync()
        self._write_files(made, position)
        self._outside.log(f"Compaction complete ({result.outcome})")
        return position, compacted.number

    def _write_files(self, made: PreparedCompaction, position: Position) -> None:
        log = self._outside.log
        for name, summary in (("Long-term", made.longterm), ("Short-term", made.recent)):
            if summary is None:
                continue
            log(f"{name} summary updated ({len(summary.text)} chars)")
            if summary.tier in made.earlier:
                longer = replace(summary, text=made.earlier[summary.tier])
                self._copies.keep_version(longer, position)
        self._copies.write_both(position, keep=True)

    def _sync(self) -> None:
        # The operating system has the line already; the background sync tries again.
        try:
            self._archive.sync()
        except ArchiveUnwritable as error:
            self._outside.log(str(error))

    def _failed(self, error: KeepsakeError) -> None:
        self.failures += 1
        self._unwritten += not isinstance(error, ArchiveError)
        wait = min(RETRY_SECONDS * 2 ** (self.failures - 1), RETRY_LIMIT_SECONDS)
        self.retry_at = self._outside.clock.now() + timedelta(seconds=wait)
        self.last_failure = str(error)
        self._outside.log(
            f"Compaction failed: {error} (nothing was changed; next try in {wait:.0f} s)"
        )
