"""One compaction from its plan to the archive, and what happens when it fails.

The archive line is the commit point: before it nothing has changed, after it everything
has, and the files in the vault follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from keepsake.archive.history import question_record, step_record
from keepsake.archive.tier_lines import SummaryState
from keepsake.archive.verdicts import RoundtripQuestion
from keepsake.compaction.dependencies import MemoryParts
from keepsake.errors import ArchiveError, CompactionError, KeepsakeError
from keepsake.memory import roundtrip
from keepsake.memory.compaction import LadderRun
from keepsake.memory.plan import CompactionPlan
from keepsake.memory.source import Summarizer
from keepsake.memory.strategy import Layout
from keepsake.memory.summarizer import ExtractiveSummarizer
from keepsake.memory.types import CompactionResult, CompactReason, Load, Outcome, Rung
from keepsake.summaries.copies import VaultCopies

RETRY_SECONDS = 30.0
"""Wait after the first failed compaction; doubled with each further one."""
RETRY_LIMIT_SECONDS = 1800.0


class CompactionMaker:
    """Makes the compactions of one memory, one at a time; the caller sees to that."""

    def __init__(self, parts: MemoryParts, copies: VaultCopies) -> None:
        self.failures = 0
        self.retry_at: datetime | None = None
        self.last_failure = ""
        self.questions: tuple[RoundtripQuestion, ...] = ()
        self._unwritten = 0
        self._parts, self._outside, self._copies = parts, parts.outside, copies

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

    def _failed(self, error: KeepsakeError) -> None:
        self.failures += 1
        self._unwritten += not isinstance(error, ArchiveError)
        wait = min(RETRY_SECONDS * 2 ** (self.failures - 1), RETRY_LIMIT_SECONDS)
        self.retry_at = self._outside.clock.now() + timedelta(seconds=wait)
        self.last_failure = str(error)
        self._parts.log(
            f"Compaction failed: {error} (nothing was changed; next try in {wait:.0f} s)"
        )

    def make(self, plan: CompactionPlan, began: float, *, again: bool) -> CompactionResult:
        """Carry ``plan`` out, begun at those ticks.

        ``again``: The one before was in vain, so this one asks no model.

        Raises:
            KeepsakeError: Nothing was changed; says why.
        """
        self._announce(plan)
        self.questions = roundtrip.draw(plan.leaving)
        parts = self._parts
        run = LadderRun(
            plan,
            parts.counter,
            summarizer=self._summarizer(plan, again=again),
            forgiving=plan.reason is CompactReason.EMERGENCY,
            log=parts.log,
            now=self._outside.clock.now(),
            importance=parts.importance,
            must_keep=tuple(self._outside.must_keep()),
            standing=tuple(self._outside.standing()),
        )
        if not run.make():
            return self.nothing(plan.reason)
        result = _result(run, self._outside.ticks() - began)
        with self._copies.in_step:
            return self._committed(run, result)

    # -- before

    def _announce(self, plan: CompactionPlan) -> None:
        warning = "Emergency: " if plan.reason is CompactReason.EMERGENCY else ""
        self._parts.log(
            f"{warning}Starting compaction ({self._parts.tiers.last_number} memories, "
            f"{len(plan.staying)} immediate, {len(plan.leaving)} recent)"
        )
        if plan.squeezed:
            self._parts.log(
                f"The newest {plan.squeezed} memories do not fit into the budget word for word; "
                f"{len(plan.staying)} of them stay"
            )

    def _summarizer(self, plan: CompactionPlan, *, again: bool) -> Summarizer:
        """The configured one, or the one that needs no model where that one keeps failing."""
        if plan.config.fallback_after and self._unwritten >= plan.config.fallback_after:
            self._parts.log(
                f"No usable summary in {self._unwritten} tries; falling back to extractive"
            )
            return ExtractiveSummarizer()
        if plan.strategy.layout is Layout.SLIDING or self._in_haste(plan, again=again):
            return ExtractiveSummarizer()
        try:
            return self._outside.summarizer()
        except KeepsakeError as error:
            if plan.reason is not CompactReason.EMERGENCY:
                raise
            self._parts.log(f"{error}; a summary without a model stands in")
            return ExtractiveSummarizer()

    def _in_haste(self, plan: CompactionPlan, *, again: bool) -> bool:
        """Whether a thought waits, or the next lines do, and a model would take too long.

        Any would where more is to be read than fits into a prompt, as it reads that part by
        part, while more comes; so would one that has just failed.
        """
        if plan.reason.asked:
            return False
        failed = self.backing_off and bool(self._unwritten)
        too_much = plan.leaving_tokens > plan.config.budget
        return again or too_much or (plan.reason is CompactReason.EMERGENCY and failed)

    # -- afterwards

    def nothing(self, reason: CompactReason) -> CompactionResult:
        """There is nothing to do, and why."""
        window, size = len(self._parts.tiers.window), self._outside.config().immediate_window
        by_count = reason is CompactReason.COUNT or reason.asked
        detail = (
            f"what is not summarised yet ({window}) stands in the immediate window of {size}"
            if by_count and window <= size
            else f"none of the {window} memories that are not summarised yet can leave the prompt"
        )
        return CompactionResult(reason, Outcome.NOTHING, detail, kept=window)

    def _committed(self, run: LadderRun, result: CompactionResult) -> CompactionResult:
        parts, tiers = self._parts, self._parts.tiers
        with parts.lock:
            made = SummaryState(
                longterm=run.longterm,
                recent=run.recent,
                summarised=run.recent.last,
                standing=tiers.compactions + 1,
                time=self._outside.clock.now(),
                verdict=result.verdict,
            )
            details = _details(run, result, parts.counter.source, self.questions)
            line = made.compaction_line(tiers.step + 1, total=tiers.last_number, **details)
            position = parts.archive.append(line)
            tiers.compacted(made, tiers.step + 1)
        self.failures, self.retry_at, self.last_failure, self._unwritten = 0, None, "", 0
        self._count_promises(result)
        parts.sync()
        for name, summary in (("Long-term", run.longterm), ("Short-term", run.recent)):
            if summary is not None:
                parts.log(f"{name} summary updated ({len(summary.text)} chars)")
                if longer := run.earlier.get(summary.tier):
                    self._copies.keep_version(replace(summary, text=longer), position)
        self._copies.write_both(position, keep=True)
        parts.log(f"Compaction complete ({result.outcome})")
        return replace(result, number=made.standing, position=position)

    def _count_promises(self, result: CompactionResult) -> None:
        """Say so if a pin or a promise went while the summaries were written."""
        verdict, now = result.verdict, len(self._outside.must_keep())
        if verdict and (now < verdict.wanted or not verdict.good):
            before = f"{verdict.wanted} pins and open promises before, {now} after"
            self._parts.log("; ".join([before, *verdict.problems]))


def _result(run: LadderRun, seconds: float) -> CompactionResult:
    """What a compaction is told as, before it has its number."""
    plan, recent, longterm = run.plan, run.recent, run.longterm
    span = f"memories {recent.first}-{recent.last}"
    if not plan.leaving:
        outcome = Outcome.SHORTENED
        detail = "no memory left the window; the summaries were made shorter"
    elif plan.replaces:
        outcome, detail = Outcome.REPLACED, f"{span} became one summary"
    else:
        outcome = Outcome.WATERFALL if longterm else Outcome.FIRST
        detail = f"{span} became the short-term summary"
        detail += f", {longterm.first}-{longterm.last} the long-term one" if longterm else ""
    if any(step.rung is Rung.TRUNCATE for step in run.steps):
        detail += "; what did not fit was cut, the archive has it"
    costs = [draft.cost for draft in run.written]
    refused = [each for draft in run.written for each in draft.refusals]
    return CompactionResult(
        reason=plan.reason,
        outcome=outcome,
        detail=detail,
        covered=(plan.leaving[0].number, plan.leaving[-1].number) if plan.leaving else None,
        kept=len(plan.staying),
        tokens_before=plan.before.tokens,
        tokens_after=run.counter.summaries(longterm, recent) + plan.staying_tokens,
        seconds=seconds,
        model=recent.model,
        calls=sum(each.calls for each in costs),
        prompt_tokens=sum(each.prompt_tokens for each in costs),
        completion_tokens=sum(each.completion_tokens for each in costs),
        steps=tuple(run.steps),
        verdict=run.verdict,
        refused=tuple((each.task, each.answer, each.reason) for each in refused),
    )


def _details(
    run: LadderRun, result: CompactionResult, source: str, questions: Sequence[RoundtripQuestion]
) -> dict[str, Any]:
    """The figures in the archive line, which the tiers do not need."""
    return {
        "reason": result.reason.value,
        "outcome": result.outcome.value,
        "strategy": run.plan.strategy.name,
        "kept": result.kept,
        "seconds": round(result.seconds, 3),
        "calls": result.calls,
        "tokens": {
            "before": result.tokens_before,
            "after": result.tokens_after,
            "source": source,
            "prompt": result.prompt_tokens,
            "completion": result.completion_tokens,
        },
        "steps": [step_record(step) for step in result.steps],
        "questions": [question_record(question) for question in questions],
        "earlier": {tier.value: text for tier, text in run.earlier.items()},
    }


def nothing_left(agent: str, load: Load) -> CompactionError:
    """What is too large, where no rung can make it smaller."""
    parts = {
        "what stands in the prompt beside memories": load.overhead,
        "the summaries": load.summaries,
        "the newest memories": load.window,
    }
    largest = max(parts, key=lambda part: parts[part])
    return CompactionError(
        f"{agent}'s prompt needs {load.used} tokens and may have {load.budget}, and nothing is "
        f"left to compact; {largest} alone cost {parts[largest]}",
        "Raise context_tokens in memory_compaction.md if the model can look at more; or shorten "
        "the profile, the pinned lines or the template in prompt.md",
    )
