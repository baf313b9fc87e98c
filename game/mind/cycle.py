"""One cycle of the cascade, without files or locks: what is to be summarised, and into what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from game.mind.memory import CompactionResult, CompactReason, Outcome
from game.mind.records import Memory, MemoryKind, Position, Summary, Tier
from game.mind.summarize import Draft, Source
from game.mind.tokens import estimate_tokens


@dataclass(frozen=True, slots=True)
class Plan:
    """One cycle, from a snapshot: what flows where.

    Attributes:
        reason: Why it is made.
        longterm: The long-term summary before, None if there is none.
        recent: The short-term summary before, None before the first cycle.
        leaving: The memories that become the new short-term summary, oldest first.
        staying: The memories that stay verbatim.
    """

    reason: CompactReason
    longterm: Summary | None
    recent: Summary | None
    leaving: tuple[Memory, ...]
    staying: tuple[Memory, ...]

    @property
    def tokens(self) -> int:
        """Estimated tokens of all three tiers."""
        return _tokens(self.longterm, self.recent, self.leaving + self.staying)

    def sources(self, agent: str) -> list[Source]:
        """What the summaries are to be made of: short-term first, long-term if there is one."""
        sources = [_recent_source(agent, self)]
        if self.recent is not None:
            sources.append(_longterm_source(agent, self.longterm, self.recent))
        return sources

    def summaries(
        self, sources: Sequence[Source], drafts: Sequence[Draft], now: datetime
    ) -> tuple[Summary | None, Summary]:
        """Long-term (None in the first cycle) and short-term summary from their drafts."""
        first, last = self.leaving[0].number, self.leaving[-1].number
        recent = _summary(first, last, sources[0], drafts[0], now)
        if self.recent is None:
            return None, recent
        oldest = self.longterm.first if self.longterm else self.recent.first
        return _summary(oldest, self.recent.last, sources[1], drafts[1], now), recent


def _recent_source(agent: str, plan: Plan) -> Source:
    return Source(Tier.RECENT, agent, tuple(source_line(agent, m) for m in plan.leaving))


def _longterm_source(agent: str, longterm: Summary | None, recent: Summary) -> Source:
    older = (longterm.text,) if longterm else ()
    return Source(Tier.LONGTERM, agent, (*older, recent.text))


def source_line(agent: str, memory: Memory) -> str:
    """A memory as a summarizer reads it; own acts carry the agent's cursor."""
    return f"~{agent}> {memory.line}" if memory.kind is MemoryKind.ACT else memory.line


def _summary(first: int, last: int, source: Source, draft: Draft, now: datetime) -> Summary:
    return Summary(
        tier=source.tier,
        first=first,
        last=last,
        text=draft.text,
        model=draft.model,
        time=now,
        tokens_before=sum(estimate_tokens(line) for line in source.lines),
        tokens_after=estimate_tokens(draft.text),
    )


def result_of(
    plan: Plan,
    longterm: Summary | None,
    recent: Summary,
    seconds: float,
    position: Position,
) -> CompactionResult:
    """What a committed cycle is told as."""
    return CompactionResult(
        reason=plan.reason,
        outcome=Outcome.WATERFALL if longterm else Outcome.FIRST,
        detail=f"memories {recent.first}-{recent.last} became the short-term summary"
        + (f", {longterm.first}-{longterm.last} the long-term one" if longterm else ""),
        covered=(recent.first, recent.last),
        kept=len(plan.staying),
        tokens_before=plan.tokens,
        tokens_after=_tokens(longterm, recent, plan.staying),
        seconds=seconds,
        model=recent.model,
        position=position,
    )


def _tokens(longterm: Summary | None, recent: Summary | None, window: tuple[Memory, ...]) -> int:
    summaries = sum(estimate_tokens(summary.text) for summary in (longterm, recent) if summary)
    return summaries + sum(estimate_tokens(memory.line) for memory in window)
