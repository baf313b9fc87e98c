"""What a compaction is told as: to the person who asked, and in the archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from game.mind.archive.history import question_record, step_record
from game.mind.compaction.costs import TokenCounter
from game.mind.compaction.ladder_run import PreparedCompaction
from game.mind.compaction.planning import CompactionPlan
from game.mind.errors import CompactionError
from game.mind.memory import CompactionResult, Load, Outcome, Rung
from game.mind.summaries.roundtrip import RoundtripQuestion
from game.mind.summaries.strategy import Layout, Strategy


def result_of(
    plan: CompactionPlan, made: PreparedCompaction, scale: TokenCounter, seconds: float
) -> CompactionResult:
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


def _outcome(plan: CompactionPlan, made: PreparedCompaction) -> Outcome:
    if not plan.leaving:
        return Outcome.SHORTENED
    if plan.layout is Layout.REPLACE:
        return Outcome.REPLACED
    return Outcome.WATERFALL if made.longterm else Outcome.FIRST


def _detail(plan: CompactionPlan, made: PreparedCompaction) -> str:
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


def details_of(
    plan: CompactionPlan,
    made: PreparedCompaction,
    result: CompactionResult,
    strategy: Strategy,
    *,
    counted_by: str,
    questions: Sequence[RoundtripQuestion],
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
