"""A compaction being made: from its plan, rung by rung, to new summaries.

Nothing is committed here. Each rung is tried only if those before it were not enough, and
each is written down with what it saved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime

from keepsake.archive.records import Memory, Summary, Tier
from keepsake.archive.verdicts import SummaryVerdict
from keepsake.errors import KeepsakeError
from keepsake.language.words import SENTENCE_GAP
from keepsake.memory.masking import mask
from keepsake.memory.plan import LEAST_SUMMARY, CompactionPlan
from keepsake.memory.source import USUAL_TOKENS, Draft, Summarizer, SummarySource
from keepsake.memory.summarizer import ExtractiveSummarizer
from keepsake.memory.types import CompactReason, Rung, RungStep
from keepsake.memory.window import Window
from keepsake.tasks.task import TRIES

_NOTE = "(Left out here: part of memories {first}-{last}. `recall` and a name bring it back.)"
# All of it, word for word: with less, what somebody says could take others' words away.
_NOTES = re.compile(
    re.escape(_NOTE).replace(r"\{first\}", r"\d+").replace(r"\{last\}", r"\d+") + r"\s*"
)


@dataclass(slots=True)
class MemoryCompaction:
    """One compaction on its way up the ladder; :meth:`make` fills what it came to."""

    plan: CompactionPlan
    window: Window
    summarizer: Summarizer
    log: Callable[[str], None]
    now: datetime
    constraints: tuple[str, ...] = ()  # lines of pins and open promises
    steps: list[RungStep] = field(default_factory=list)
    written: list[Draft] = field(default_factory=list)
    # longer versions of summaries that a later rung made shorter
    earlier: dict[Tier, str] = field(default_factory=dict)
    _summaries: dict[Tier, Summary | None] = field(default_factory=dict)
    _window: int = 0  # tokens of the memories that stay

    @property
    def longterm(self) -> Summary | None:
        """The new long-term summary."""
        return self._summaries[Tier.LONGTERM]

    @property
    def recent(self) -> Summary:
        """The new short-term summary."""
        recent = self._summaries[Tier.RECENT]
        assert recent is not None  # there is one before, or memories leave and become one
        return recent

    def make(self) -> bool:
        """Go up until the prompt is under the low mark; False if nothing could be changed.

        Raises:
            ModelError, ConfigError: No summary could be written.
        """
        before, config = self.plan.before, self.plan.config
        self._summaries = {Tier.LONGTERM: before.longterm, Tier.RECENT: before.recent}
        self._window = sum(before.weights)
        self.steps = [RungStep(Rung.MASK, before.summaries + before.plain, before.tokens)]
        if self.plan.leaving:
            self._summarise()
        self._merge()
        if self._used > config.high_tokens:
            self._squeeze(config.low_tokens)
        if self._used > config.high_tokens:
            self._truncate(self._reachable(config.low_tokens))
        return self._summaries != {Tier.LONGTERM: before.longterm, Tier.RECENT: before.recent}

    def verdict(self, constraints: Sequence[str]) -> SummaryVerdict:
        """What the check found; ``constraints`` are the pins and open promises of afterwards."""
        lost = [line for line in self.constraints if line not in constraints]
        return SummaryVerdict(
            wanted=len(self.constraints),
            seen=len(self.constraints) - len(lost),
            problems=tuple(f"it is gone: {line}" for line in lost),
            tries=min(max((len(each.refusals) for each in self.written), default=0) + 1, TRIES),
        )

    @property
    def tokens(self) -> int:
        """Summaries and window now, or as they will be."""
        return self.window.counter.summaries(*self._summaries.values()) + self._window

    # -- the rungs

    def _summarise(self) -> None:
        sources = self._new_sources()
        written = self._written(sources)
        before, leaving = self.tokens, self.plan.leaving
        first = self.plan.before.longterm or self.plan.before.recent
        oldest = first.first if first else leaving[0].number
        spans = {Tier.RECENT: (leaving[0].number, leaving[-1].number)}
        if self.plan.replaces:
            spans = {Tier.RECENT: (oldest, leaving[-1].number)}
        elif recent := self.plan.before.recent:
            spans[Tier.LONGTERM] = (oldest, recent.last)
        self._summaries, self._window = dict.fromkeys(Tier), self.plan.staying_tokens
        for source, draft in zip(sources, written, strict=True):
            self._summaries[source.tier] = self._summary(source, spans[source.tier], draft)
        self._step(Rung.SUMMARISE, before, *written)

    def _written(self, sources: Sequence[SummarySource]) -> list[Draft]:
        """Their summaries: side by side where a model is waited for."""
        if isinstance(self.summarizer, ExtractiveSummarizer):
            return list(map(self._write, sources))
        with ThreadPoolExecutor(len(sources), thread_name_prefix="summary") as pool:
            return list(pool.map(self._write, sources))

    def _write(self, source: SummarySource) -> Draft:
        """One summary, without a model if that fails and it may; in any thread."""
        try:
            draft = self.summarizer.summarize(source)
        except KeepsakeError as error:
            again = bool(source.limit_tokens) and not source.memories
            if self.plan.reason is not CompactReason.EMERGENCY and not again:
                raise
            self.log(f"{error.what}; a summary without a model is used")
            return ExtractiveSummarizer().summarize(source)
        for refused in draft.refusals:
            self.log(f"A summary was refused: {refused.reason}")
        return draft

    def _merge(self) -> None:
        """Summarise the summary of everything old again when it has outgrown its limit."""
        tier = Tier.RECENT if self.plan.replaces else Tier.LONGTERM
        summary, limit = self._summaries[tier], self.plan.config.longterm_tokens
        if summary is None or self._weight(tier) <= limit:
            return
        before = self.tokens
        written = self._write(self._again(summary, limit))
        self._shorten(summary, written.text, written.model)
        if self._weight(tier) > limit:
            self._by_rules(tier, limit)
        self._step(Rung.RESUMMARISE, before, written)

    def _squeeze(self, target: int) -> None:
        """Make both summaries smaller without a model: before anything is cut."""
        before, room = self.tokens, max(target - self.plan.before.overhead - self._window, 0)
        weights = {each.tier: self._weight(each.tier) for each in self._present()}
        for tier, tokens in weights.items():
            limit = max(room * tokens // max(sum(weights.values()), 1), LEAST_SUMMARY)
            if tokens > limit:
                self._by_rules(tier, limit)
        self._step(Rung.RESUMMARISE, before)

    def _reachable(self, target: int) -> int:
        """``target``, or what is left when both summaries are squeezed as far as they can be."""
        least = self.plan.before.overhead + self._window + 2 * LEAST_SUMMARY
        return min(max(target, least), max(target, self.plan.config.emergency_tokens))

    def _truncate(self, target: int) -> None:
        """Cut the oldest summary, then the other; the archive has both."""
        before = self.tokens
        for summary in self._present():
            if (over := self._used - target) > 0:
                limit = max(self._weight(summary.tier) - over, 0)
                text = cut(summary, limit, self.window.counter.text)
                self._shorten(summary, text, summary.model)
        self._step(Rung.TRUNCATE, before)

    # -- what the rungs are made of

    def _new_sources(self) -> list[SummarySource]:
        leaving = self.plan.leaving
        if self.plan.config.mask:  # no model is paid for what says nothing
            leaving = mask(leaving, leaving[-1].number, self.window.matters) or leaving
        memories = tuple(memory for memory in leaving if not memory.is_stock) or leaving
        older = tuple(without_note(each.text) for each in self._present())
        if self.plan.replaces:
            limit = self.plan.config.longterm_tokens
            return [self._source(Tier.RECENT, memories, older, limit)]
        sources = [self._source(Tier.RECENT, memories)]
        return [*sources, self._source(Tier.LONGTERM, older=older)] if older else sources

    def _source(
        self,
        tier: Tier,
        memories: tuple[Memory, ...] = (),
        older: tuple[str, ...] = (),
        limit: int = 0,
    ) -> SummarySource:
        return SummarySource(
            tier=tier,
            agent=self.window.counter.agent,
            memories=memories,
            older=older,
            strategy=self.plan.strategy,
            limit_tokens=limit,
            usual_tokens=max(self.plan.config.longterm_tokens, USUAL_TOKENS),
            tokens=self.window.counter.text,
            importance=self.window.importance,
            constraints=self.constraints,
        )

    def _again(self, summary: Summary, limit: int) -> SummarySource:
        return self._source(summary.tier, older=(without_note(summary.text),), limit=limit)

    def _by_rules(self, tier: Tier, limit: int) -> None:
        summary = self._summaries[tier]
        if summary is not None:
            draft = ExtractiveSummarizer().summarize(self._again(summary, limit))
            self._shorten(summary, draft.text, draft.model)

    def _shorten(self, summary: Summary, text: str, model: str) -> None:
        """Put a shorter text in a summary's place; one that is none changes nothing."""
        tokens = self.window.counter.text(text)
        if text and tokens < self.window.counter.text(summary.text):
            self.earlier.setdefault(summary.tier, summary.text)
            shorter = replace(summary, text=text, model=model, time=self.now, tokens_after=tokens)
            self._summaries[summary.tier] = shorter

    def _summary(self, source: SummarySource, span: tuple[int, int], draft: Draft) -> Summary:
        counter = self.window.counter
        before = sum(map(counter.text, source.older)) + counter.memories(source.memories)
        after = counter.text(draft.text)
        return Summary(source.tier, *span, draft.text, draft.model, self.now, before, after)

    def _step(self, rung: Rung, before: int, *written: Draft) -> None:
        if self.tokens != before or written:
            calls = sum(each.cost.calls for each in written)
            self.steps.append(RungStep(rung, before, self.tokens, calls))
        self.written += written

    def _present(self) -> list[Summary]:
        both = (self._summaries[Tier.LONGTERM], self._summaries[Tier.RECENT])
        return [summary for summary in both if summary is not None]

    def _weight(self, tier: Tier) -> int:
        return self.window.counter.summaries(self._summaries[tier])

    @property
    def _used(self) -> int:
        return self.plan.before.overhead + self.tokens


# -- truncation: what is cut is in the archive, and the text says how to bring it back


def note(summary: Summary) -> str:
    """What stands in a prompt in place of what was cut from ``summary``."""
    return _NOTE.format(first=summary.first, last=summary.last)


def without_note(text: str) -> str:
    """``text`` without what an earlier cut left in it."""
    return _NOTES.sub("", text).strip()


def cut(summary: Summary, limit: int, count: Callable[[str], int]) -> str:
    """The text of ``summary`` within ``limit`` tokens, its note included.

    Returns:
        The whole text if it fits; else the note and as much of the end as there is room for.
    """
    text = without_note(summary.text)
    if count(summary.text) <= limit:
        return summary.text
    lines = text.splitlines()
    parts = [
        part for line in lines for part in ([line] if _is_item(line) else SENTENCE_GAP.split(line))
    ]
    room, end = limit - count(note(summary)), list[str]()
    for part in reversed(parts):
        if (room := room - count(part)) < 0:
            break
        end.insert(0, part)
    joined = ("\n" if any(map(_is_item, lines)) else " ").join(end)
    return "\n".join(part for part in (note(summary), joined) if part)


def _is_item(line: str) -> bool:
    return line.lstrip()[:1] in tuple("-*#")
