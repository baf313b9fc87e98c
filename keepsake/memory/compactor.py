"""Makes the compactions of one memory and takes them back; counts what fails.

The archive line is the commit point: before it nothing has changed, after it everything
has, and the files in the vault follow. The archive still has everything, so taking one back
is one more line: the summaries of before are read from the archive and stand again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from keepsake.archive.history import PastCompaction, step_record
from keepsake.archive.tier_lines import SummaryState
from keepsake.errors import ArchiveError, ArchiveUnwritable, CompactionError, KeepsakeError
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.compaction import MemoryCompaction
from keepsake.memory.plan import CompactionPlan
from keepsake.memory.source import Summarizer
from keepsake.memory.strategy import Layout
from keepsake.memory.summarizer import ExtractiveSummarizer
from keepsake.memory.summary_files import VaultCopies
from keepsake.memory.types import CompactionResult, CompactReason, Load, Outcome, Rung, Undone

RETRY_SECONDS = 30.0
"""Wait after the first failed compaction; doubled with each further one."""
RETRY_LIMIT_SECONDS = 1800.0


class Compactor:
    """Runs one compaction at a time; the caller sees to that."""

    def __init__(self, memory: AgentMemory, copies: VaultCopies) -> None:
        self.failures = 0
        self.retry_at: datetime | None = None
        self.last_failure = ""
        self._unwritten = 0
        self._memory, self._host, self._copies = memory, memory.host, copies

    @property
    def backing_off(self) -> bool:
        """Whether the last try failed so shortly ago that none is made by itself."""
        return self.retry_at is not None and self._host.clock.now() < self.retry_at

    @contextmanager
    def failing_safely(self) -> Iterator[None]:
        """Within it a failure is counted, logged, and told as a :class:`CompactionError`."""
        try:
            yield
        except CompactionError:  # nothing was tried
            raise
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
        self.retry_at = self._host.clock.now() + timedelta(seconds=wait)
        self.last_failure = str(error)
        self._memory.log(
            f"Compaction failed: {error} (nothing was changed; next try in {wait:.0f} s)"
        )

    # -- making one

    def make(self, plan: CompactionPlan, began: float, *, again: bool) -> CompactionResult | None:
        """Carry ``plan`` out, begun at those ticks; None if it would change nothing.

        ``again``: The one before was in vain, so this one asks no model.

        Raises:
            KeepsakeError: Nothing was changed; says why.
        """
        memory = self._memory
        warning = "Emergency: " if plan.reason is CompactReason.EMERGENCY else ""
        memory.log(
            f"{warning}Starting compaction ({memory.tiers.last_number} memories, "
            f"{len(plan.staying)} immediate, {len(plan.leaving)} recent)"
        )
        compaction = MemoryCompaction(
            plan,
            memory.window,
            self._summarizer(plan, again=again),
            memory.log,
            self._host.clock.now(),
            tuple(self._host.constraints()),
        )
        if not compaction.make():
            return None
        result = _result(compaction, self._host.ticks() - began)
        verdict = compaction.verdict(self._host.constraints())
        result = replace(result, verdict=verdict)
        with self._copies.in_step:
            return self._committed(compaction, result)

    def _summarizer(self, plan: CompactionPlan, *, again: bool) -> Summarizer:
        """The configured one, or the one that needs no model where that one keeps failing."""
        if plan.config.fallback_after and self._unwritten >= plan.config.fallback_after:
            self._memory.log(
                f"No usable summary in {self._unwritten} tries; falling back to extractive"
            )
            return ExtractiveSummarizer()
        if plan.strategy.layout is Layout.SLIDING or self._in_haste(plan, again=again):
            return ExtractiveSummarizer()
        try:
            return self._host.summarizer()
        except KeepsakeError as error:
            if plan.reason is not CompactReason.EMERGENCY:
                raise
            self._memory.log(f"{error}; a summary without a model stands in")
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

    def _committed(
        self, compaction: MemoryCompaction, result: CompactionResult
    ) -> CompactionResult:
        memory, tiers = self._memory, self._memory.tiers
        with memory.lock:
            made = SummaryState(
                longterm=compaction.longterm,
                recent=compaction.recent,
                summarised=compaction.recent.last,
                standing=tiers.compactions + 1,
                time=self._host.clock.now(),
                verdict=result.verdict,
            )
            source = memory.window.counter.source
            details = _details(compaction, result, source)
            line = made.compaction_line(tiers.step + 1, total=tiers.last_number, **details)
            position = memory.archive.append(line)
            tiers.compacted(made, tiers.step + 1)
        self.failures, self.retry_at, self.last_failure, self._unwritten = 0, None, "", 0
        self._sync()
        for problem in result.verdict.problems if result.verdict else ():
            memory.log(f"Of pins and promises, {problem}")
        for name, summary in (
            ("Long-term", compaction.longterm),
            ("Short-term", compaction.recent),
        ):
            if summary is not None:
                memory.log(f"{name} summary updated ({len(summary.text)} chars)")
                if longer := compaction.earlier.get(summary.tier):
                    self._copies.keep_version(replace(summary, text=longer), position)
        self._copies.write_both(position, keep=True)
        memory.log(f"Compaction complete ({result.outcome})")
        return replace(result, number=made.standing, position=position)

    def _sync(self) -> None:
        """Bring a line to the disk; the operating system has it, and the background tries again."""
        try:
            self._memory.archive.sync()
        except ArchiveUnwritable as error:
            self._memory.log(str(error))

    # -- taking one back

    def take_back(self, past: Sequence[PastCompaction]) -> Undone:
        """Take the last of ``past`` back, which are those that stand; none must be under way.

        Raises:
            CompactionError: There is none.
            ArchiveUnwritable: It could not be archived; nothing was changed.
        """
        memory, tiers = self._memory, self._memory.tiers
        if not past:
            if tiers.compactions and tiers.state.summarised and not tiers.state.standing:
                raise CompactionError(
                    "what the compactions made was cleared from the prompt, so none can be taken "
                    "back",
                    "The archive still has every memory",
                )
            raise CompactionError("there is no compaction to take back")
        number, before, now = past[-1].number, past[-1].before, tiers.state.summarised
        first = before.summarised + 1
        window = memory.archive.read(first, now) if first <= now else []
        with self._copies.in_step:
            with memory.lock:
                tokens_before, step, total = self._tokens(), tiers.step + 1, tiers.last_number
                made, time = tiers.compactions, self._host.clock.now()
                line = before.undo_line(number, step, compactions=made, total=total, time=time)
                position = memory.archive.append(line)
                tiers.undone(before, step, total, window)
                tokens_after = self._tokens()
            self._sync()
            self._copies.write_both(position)
        restored = (window[0].number, window[-1].number) if window else None
        detail = "the summaries of before stand again"
        if restored:
            detail = f"memories {restored[0]}-{restored[1]} stand word for word again"
        memory.log(f"Compaction {number} was taken back: {detail}")
        left = len(past) - 1
        return Undone(number, detail, restored, tokens_before, tokens_after, left, position)

    def _tokens(self) -> int:
        tiers, counter = self._memory.tiers, self._memory.window.counter
        summaries = counter.summaries(tiers.state.longterm, tiers.state.recent)
        return summaries + counter.memories(tiers.window)


def _result(compaction: MemoryCompaction, seconds: float) -> CompactionResult:
    """What a compaction is told as, before it has its number."""
    plan, recent, longterm = compaction.plan, compaction.recent, compaction.longterm
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
    if any(step.rung is Rung.TRUNCATE for step in compaction.steps):
        detail += "; what did not fit was cut, the archive has it"
    costs = [draft.cost for draft in compaction.written]
    refused = [each for draft in compaction.written for each in draft.refusals]
    return CompactionResult(
        reason=plan.reason,
        outcome=outcome,
        detail=detail,
        covered=(plan.leaving[0].number, plan.leaving[-1].number) if plan.leaving else None,
        kept=len(plan.staying),
        tokens_before=plan.before.tokens,
        tokens_after=compaction.tokens,
        seconds=seconds,
        model=recent.model,
        calls=sum(each.calls for each in costs),
        prompt_tokens=sum(each.prompt_tokens for each in costs),
        completion_tokens=sum(each.completion_tokens for each in costs),
        steps=tuple(compaction.steps),
        refused=tuple((each.task, each.answer, each.reason) for each in refused),
    )


def _details(compaction: MemoryCompaction, result: CompactionResult, source: str) -> dict[str, Any]:
    """The figures in the archive line, which the tiers do not need."""
    return {
        "reason": result.reason.value,
        "outcome": result.outcome.value,
        "strategy": compaction.plan.strategy.name,
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
        "earlier": {tier.value: text for tier, text in compaction.earlier.items()},
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
