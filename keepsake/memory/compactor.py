"""Makes and undoes the compactions of one memory, and counts failures.

The archive line is the commit point: before it no summary has changed, after it all have, and the
files in the vault follow. The archive still has all memories, so an undo is one more line with the
earlier summaries, and the memories are read from the archive into the window again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

from keepsake.archive.log import Archive
from keepsake.archive.summaries import Tier
from keepsake.archive.tiers import SummaryState, Tiers, TierView
from keepsake.errors import (
    ArchiveClosed,
    ArchiveUnwritable,
    CompactionError,
    KeepsakeError,
    WorldStopping,
)
from keepsake.events.values import CompactionOutcome, CompactReason
from keepsake.json_lines import Record
from keepsake.logs import Subsystem, get_logger
from keepsake.memory.history import PastCompaction
from keepsake.memory.ladder import Ladder
from keepsake.memory.plan import CompactionPlan
from keepsake.memory.summary_files import VaultCopies
from keepsake.memory.summary_text import Summarizer, extractive
from keepsake.memory.types import CompactionRequest, CompactionResult, Rung, UndoResult
from keepsake.memory.window import MemoryHost, Window

log = get_logger(Subsystem.COMPACTION)

RETRY_SECONDS = 30.0
"""Seconds to wait after the first failed compaction; doubled with each further one."""
RETRY_LIMIT_SECONDS = 1800.0
"""The longest wait after failed compactions: a server that is back is used within half an hour."""


class Compactor:
    """Makes compactions. The caller makes sure that only one runs at a time.

    Attributes:
        failures: How many compactions failed since the last success.
        retry_at: The time until which no automatic compaction is made; None if the last succeeded.
        last_failure: Why the last one failed; empty if it succeeded.
    """

    def __init__(
        self, archive: Archive, tiers: Tiers, window: Window, copies: VaultCopies, host: MemoryHost
    ) -> None:
        self.failures = 0
        self.retry_at: datetime | None = None
        self.last_failure = ""
        self._archive = archive
        self._tiers = tiers
        self._window = window
        self._copies = copies
        self._host = host
        self._trigger = ""  # why the last compaction was made
        self._agent = window.agent

    @property
    def backing_off(self) -> bool:
        """Whether automatic compactions wait because the last one failed a short while ago."""
        return self.retry_at is not None and self._host.clock.now() < self.retry_at

    @contextmanager
    def failing_safely(self, reason: CompactReason | None) -> Iterator[None]:
        """Raise a failure inside the block as :class:`CompactionError`, and count and log it.

        A :class:`CompactionError` of the block, and the world's stop, are no failures to count.

        ``reason``: Why the compaction is made; None for whatever was due.
        """
        try:
            yield
        except CompactionError:  # nothing was tried
            raise
        except (WorldStopping, ArchiveClosed) as error:  # it is made after the next start
            log.info("A compaction was given up, because the world stops", agent=self._agent)
            raise CompactionError(error.what, error.cure) from error
        except KeepsakeError as error:
            self._failed(error, error)
            failure = CompactionError(error.what, error.cure)
            failure.trigger = reason.value if reason else self._trigger
            raise failure from error
        except Exception as error:
            # A bug must back off like any other failure, not be retried each turn.
            told = CompactionError(f"unexpected {error!r}")
            self._failed(told, error)
            raise told from error

    def _failed(self, error: KeepsakeError, cause: Exception) -> None:
        """Count and log a failure, and set when the next automatic compaction may be made."""
        self.failures += 1
        wait = min(RETRY_SECONDS * 2 ** (self.failures - 1), RETRY_LIMIT_SECONDS)
        self.retry_at = self._host.clock.now() + timedelta(seconds=wait)
        self.last_failure = str(error)
        told = "The compaction failed; nothing was changed"
        log.error(told, agent=self._agent, next_try_in_seconds=wait, exc_info=cause)

    # -- making a compaction

    def make(
        self, plan: CompactionPlan, request: CompactionRequest, *, was_in_vain: bool
    ) -> CompactionResult | None:
        """Carry out ``plan``; None if it would change no summary.

        ``was_in_vain``: Whether the last compaction did not make the prompt short enough; then a
        model is asked only if a person wants the compaction.

        Raises:
            KeepsakeError: Nothing was changed; the error says why.
        """
        host = self._host
        began = self._host.clock.now()
        self._trigger = plan.reason.value
        if not (plan.leaving or plan.shrinks):
            return None  # masking is enough
        warning = "Emergency: " if plan.reason is CompactReason.EMERGENCY else ""
        log.info(
            f"{warning}Starting compaction ({self._tiers.last_number} memories, "
            f"{len(plan.staying)} immediate, {len(plan.leaving)} recent)",
            agent=self._agent,
        )
        summarizer = self._summarizer(plan, request, was_in_vain=was_in_vain)
        constraints = tuple(host.constraints())
        ladder = Ladder(plan, self._window, summarizer, host.clock.now(), constraints)
        if not ladder.climb():
            return None
        with self._copies.in_step:
            return self._commit(ladder, began)

    def _summarizer(
        self, plan: CompactionPlan, request: CompactionRequest, *, was_in_vain: bool
    ) -> Summarizer:
        """Return the configured summarizer, or the one without a model.

        Without one if the last compaction was in vain, if an emergency follows a failure, or if
        more leaves than a prompt may hold; but not if a person asked for it.
        """
        failed = plan.reason is CompactReason.EMERGENCY and self.backing_off
        haste = was_in_vain or failed or plan.leaving_tokens > plan.config.budget
        if haste and not plan.reason.asked:
            return extractive
        return self._host.summarizer(request)

    def _commit(self, ladder: Ladder, began: datetime) -> CompactionResult:
        """Write the archive line, which is the commit, then a file for each summary."""
        new = ladder.summaries
        now = self._host.clock.now()
        recent = new[Tier.RECENT]
        number = self._tiers.compactions + 1
        made = SummaryState(new.get(Tier.LONGTERM), recent, recent.last, number, now)
        result = _result(ladder, number, (now - began).total_seconds())
        details = {"reason": ladder.plan.reason.value, **result.to_record()}

        def line(tiers: TierView) -> Record:
            return made.compaction_line(tiers.step + 1, total=tiers.last_number, **details)

        self._tiers.write(line)
        self.failures = 0
        self.retry_at = None
        self.last_failure = ""
        # The operating system has the line; the background retries the sync to disk.
        with suppress(ArchiveUnwritable):
            self._archive.sync()
        for summary in new.values():
            name = "Long-term" if summary.tier is Tier.LONGTERM else "Short-term"
            updated = f"{name} summary updated ({len(summary.text)} chars)"
            log.info(updated, agent=self._agent)
        for tier in Tier:
            self._copies.write(tier, keep=True)
        log.info(f"Compaction complete ({result.outcome})", agent=self._agent)
        return result

    # -- undoing a compaction

    def write_undo(self, past: Sequence[PastCompaction]) -> UndoResult:
        """Undo the last of ``past``, the compactions not yet undone. No compaction may be running.

        Raises:
            CompactionError: There is none.
            ArchiveUnwritable: The undo could not be archived; nothing was changed.
        """
        if not past:
            raise CompactionError("there is no compaction to undo")
        number = past[-1].number
        before = past[-1].before
        now = self._tiers.state.summarised
        first = before.summarised + 1
        window = self._archive.read(first, now) if first <= now else []
        time = self._host.clock.now()

        def line(tiers: TierView) -> Record:
            return before.undo_line(
                number,
                tiers.step + 1,
                compactions=tiers.compactions,
                total=tiers.last_number,
                time=time,
            )

        with self._copies.in_step:
            self._tiers.write(line, restored=window)
            with suppress(ArchiveUnwritable):
                self._archive.sync()
            for tier in Tier:
                self._copies.write(tier)
        detail = "the earlier summaries are current again"
        if window:
            detail = f"memories {first}-{now} are in the window again"
        log.info(f"Compaction {number} was undone: {detail}", agent=self._agent)
        return UndoResult(number, detail, len(past) - 1)


def _result(ladder: Ladder, number: int, seconds: float) -> CompactionResult:
    """Return the report of a finished compaction."""
    plan = ladder.plan
    recent = ladder.summaries[Tier.RECENT]
    longterm = ladder.summaries.get(Tier.LONGTERM)
    span = f"memories {recent.first}-{recent.last}"
    if not plan.leaving:
        outcome = CompactionOutcome.SHORTENED
        detail = "no memory left the window; the summaries were made shorter"
    else:
        outcome = CompactionOutcome.WATERFALL if longterm else CompactionOutcome.FIRST
        detail = f"{span} became the short-term summary"
        detail += f", {longterm.first}-{longterm.last} the long-term one" if longterm else ""
    if any(step.rung is Rung.TRUNCATE for step in ladder.steps):
        detail += "; what did not fit was cut, the archive has it"
    answers = [each for draft in ladder.written for each in draft.answers]
    refused = [each for draft in ladder.written for each in draft.refusals]
    return CompactionResult(
        reason=plan.reason,
        outcome=outcome,
        detail=detail,
        covered=(plan.leaving[0].number, plan.leaving[-1].number) if plan.leaving else None,
        kept=len(plan.staying),
        tokens_before=plan.before.tokens,
        tokens_after=ladder.tokens,
        seconds=seconds,
        model=recent.model,
        number=number,
        calls=len(answers),
        prompt_tokens=sum(each.prompt_tokens for each in answers),
        completion_tokens=sum(each.completion_tokens for each in answers),
        steps=tuple(ladder.steps),
        refused=tuple(refused),
    )
