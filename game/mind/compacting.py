"""One compaction from its plan to the archive, what happens when it fails, and its undoing.

The archive line is the commit point: before it nothing has changed, after it everything
has, and the files in the vault follow.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from game.mind import roundtrip
from game.mind.archive import Archive
from game.mind.compaction_config import CompactionConfig
from game.mind.copies import VaultCopies
from game.mind.cycle import Plan
from game.mind.errors import ArchiveError, ArchiveUnwritable, CompactionError, KeepsakeError
from game.mind.history import PastCompaction, question_record, step_record
from game.mind.memory import CompactionResult, CompactReason, Outcome, Rung, Undone
from game.mind.ports import Clock, Embedder
from game.mind.records import Memory, Position, Summary
from game.mind.roundtrip import Question
from game.mind.rungs import Climb, Made
from game.mind.strategy import Layout, Strategy
from game.mind.summarize import ExtractiveSummarizer, Summarizer
from game.mind.tiers import Compacted, TakenBack, Tiers
from game.mind.weights import Scale
from game.mind.writing import Writer

RETRY_SECONDS = 30.0
"""Wait after the first failed compaction; doubled with each further one."""
RETRY_LIMIT_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class Outside:
    """What a compaction needs from outside; see :class:`game.mind.cascade.CascadeMemory`."""

    summarizer: Callable[[], Summarizer]
    must_keep: Callable[[], Sequence[str]]
    standing: Callable[[], Sequence[str]]
    embedder: Embedder | None
    clock: Clock
    log: Callable[[str], None]


class Compacting:
    """Compactions of one memory, one at a time; the caller sees to that.

    Args:
        tiers: What is compacted.
        lock: Guards the tiers.
        archive: Gets a line for each compaction and each undoing.
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
        scale: Scale,
        outside: Outside,
    ) -> None:
        self.failures = 0
        """Failed tries since the last success."""
        self.retry_at: datetime | None = None
        """No automatic try before this time."""
        self.last_failure = ""
        self.questions: tuple[Question, ...] = ()
        self._unwritten = 0
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
        plan: Plan | None,
        reason: CompactReason,
        config: CompactionConfig,
        strategy: Strategy,
        began: float,
    ) -> CompactionResult:
        """Carry ``plan`` out, began at that ``perf_counter``; None does nothing and says so.

        Raises:
            KeepsakeError: Nothing was changed; says why.
        """
        made = None if plan is None else self._made(plan, config, strategy)
        if plan is None or made is None:
            return self._nothing(reason, config)
        seconds = time.perf_counter() - began
        result = _result(plan, made, self._scale, seconds)
        position, number = self._commit(plan, made, result, strategy)
        return _numbered(result, number, position)

    def _made(self, plan: Plan, config: CompactionConfig, strategy: Strategy) -> Made | None:
        outside = self._outside
        self._announce(plan)
        self.questions = roundtrip.draw(plan.leaving)
        writer = Writer(
            summarizer=self._summarizer(plan, config, strategy),
            forgiving=plan.reason is CompactReason.EMERGENCY,
            must_keep=tuple(outside.must_keep()),
            embedder=outside.embedder,
            log=outside.log,
        )
        standing, now = tuple(outside.standing()), outside.clock.now()
        return Climb(plan, config, strategy, self._scale, writer, standing, now).make()

    def _announce(self, plan: Plan) -> None:
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

    def _summarizer(self, plan: Plan, config: CompactionConfig, strategy: Strategy) -> Summarizer:
        """The configured one, or the one that needs no model where that one keeps failing."""
        if config.fallback_after and self._unwritten >= config.fallback_after:
            self._outside.log(
                f"No usable summary in {self._unwritten} tries; falling back to extractive"
            )
            return ExtractiveSummarizer()
        if plan.reason is CompactReason.EMERGENCY and self.backing_off and self._unwritten:
            return ExtractiveSummarizer()  # the thought waits, and that model has just failed
        if strategy.layout is Layout.SLIDING:
            return ExtractiveSummarizer()
        return self._outside.summarizer()

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
        self, plan: Plan, made: Made, result: CompactionResult, strategy: Strategy
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
            details = _details(
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

    def _write_files(self, made: Made, position: Position) -> None:
        log = self._outside.log
        for name, summary in (("Long-term", made.longterm), ("Short-term", made.recent)):
            if summary is None:
                continue
            log(f"{name} summary updated ({len(summary.text)} chars)")
            if summary.tier in made.earlier:
                longer = _with_text(summary, made.earlier[summary.tier])
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

    # -- taking back

    def undo(self, past: Sequence[PastCompaction], overhead: int) -> Undone:
        """Take the last of ``past`` back.

        Raises:
            CompactionError: There is none.
            ArchiveUnwritable: It could not be archived; nothing was changed.
        """
        if not past:
            raise CompactionError(*self._why_none())
        last, before = past[-1], past[-1].before
        window = self._brought_back(before.summarised)
        with self._lock:
            tokens_before = self._weighed()
            back = self._taken_back(past)
            position = self._archive.append(back.to_record())
            known = {memory.number for memory in self._tiers.window}
            self._tiers.undone(back, [m for m in window if m.number not in known])
            tokens_after = self._weighed()
        self._sync()
        self._copies.write_both(position)
        restored = (window[0].number, window[-1].number) if window else None
        detail = _undone_detail(last, restored)
        self._outside.log(f"Compaction {last.number} was taken back: {detail}")
        return Undone(
            last.number, detail, restored, tokens_before, tokens_after, len(past) - 1, position
        )

    def _why_none(self) -> tuple[str, str]:
        if self._tiers.compactions and self._tiers.cleared and not self._tiers.standing:
            return (
                "what the compactions made was cleared from the prompt, so none can be taken back",
                "The archive still has every memory",
            )
        return "there is no compaction to take back", ""

    def _brought_back(self, summarised: int) -> list[Memory]:
        """The memories that stand word for word again, when S is ``summarised``."""
        now = self._tiers.summarised
        return self._archive.read(summarised + 1, now) if summarised < now else []

    def _taken_back(self, past: Sequence[PastCompaction]) -> TakenBack:
        last, tiers = past[-1], self._tiers
        again = past[-2] if len(past) > 1 else None
        return TakenBack(
            number=last.number,
            longterm=last.before.longterm,
            recent=last.before.recent,
            summarised=last.before.summarised,
            standing=last.before.standing,
            compactions=tiers.compactions,
            step=tiers.step + 1,
            total=tiers.last_number,
            time=self._outside.clock.now(),
            last_compaction=again.time if again else None,
            verdict=again.verdict if again else None,
            rate=again.rate if again else None,
        )

    def _weighed(self) -> int:
        tiers, scale = self._tiers, self._scale
        return scale.summaries(tiers.longterm, tiers.recent) + scale.memories(tiers.window)


def _result(plan: Plan, made: Made, scale: Scale, seconds: float) -> CompactionResult:
    """What a compaction is told as, before it has its number."""
    first, last = (plan.leaving[0].number, plan.leaving[-1].number) if plan.leaving else (0, 0)
    return CompactionResult(
        reason=plan.reason,
        outcome=_outcome(plan, made),
        detail=_detail(plan, made),
        covered=(first, last) if plan.leaving else None,
        kept=len(plan.staying),
        tokens_before=plan.before.tokens,
        tokens_after=scale.summaries(made.longterm, made.recent) + plan.staying_tokens,
        seconds=seconds,
        model=made.recent.model,
        calls=made.calls,
        prompt_tokens=made.prompt_tokens,
        completion_tokens=made.completion_tokens,
        steps=made.steps,
        verdict=made.verdict,
    )


def _numbered(result: CompactionResult, number: int, position: Position) -> CompactionResult:
    return replace(result, number=number, position=position)


def _outcome(plan: Plan, made: Made) -> Outcome:
    if not plan.leaving:
        return Outcome.SHORTENED
    if plan.layout is Layout.REPLACE:
        return Outcome.REPLACED
    return Outcome.WATERFALL if made.longterm else Outcome.FIRST


def _detail(plan: Plan, made: Made) -> str:
    recent, longterm = made.recent, made.longterm
    if not plan.leaving:
        told = "no memory left the window; the summaries were made shorter"
    elif plan.layout is Layout.REPLACE:
        told = f"memories {recent.first}-{recent.last} became one summary"
    else:
        told = f"memories {recent.first}-{recent.last} became the short-term summary"
        told += f", {longterm.first}-{longterm.last} the long-term one" if longterm else ""
    if any(step.rung is Rung.TRUNCATE for step in made.steps):
        told += "; what did not fit was cut, the archive has it"
    return told


def _details(
    plan: Plan,
    made: Made,
    result: CompactionResult,
    strategy: Strategy,
    *,
    counted_by: str,
    questions: Sequence[Question],
) -> dict[str, Any]:
    """The figures in the archive line, which the tiers do not need."""
    return {
        "reason": plan.reason.value,
        "outcome": result.outcome.value,
        "strategy": strategy.name,
        "kept": len(plan.staying),
        "seconds": round(result.seconds, 3),
        "calls": made.calls,
        "tokens": {
            "before": result.tokens_before,
            "after": result.tokens_after,
            "source": counted_by,
            "prompt": made.prompt_tokens,
            "completion": made.completion_tokens,
        },
        "steps": [step_record(step) for step in made.steps],
        "questions": [question_record(question) for question in questions],
        "earlier": {tier.value: text for tier, text in made.earlier.items()},
    }


def _with_text(summary: Summary, text: str) -> Summary:
    return replace(summary, text=text)


def _undone_detail(last: PastCompaction, restored: tuple[int, int] | None) -> str:
    if restored is None:
        return "the summaries of before stand again"
    return f"memories {restored[0]}-{restored[1]} stand word for word again"
