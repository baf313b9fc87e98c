"""A compaction being made: from its plan, rung by rung, to new summaries.

Nothing is committed here. Each rung is tried only if those before it were not enough, and
each is written down with what it saved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime

from keepsake.archive.records import Memory, Summary, Tier
from keepsake.archive.verdicts import SummaryVerdict
from keepsake.compaction import truncation
from keepsake.compaction.costs import TokenCounter
from keepsake.compaction.importance_cache import ImportanceCache
from keepsake.errors import KeepsakeError
from keepsake.memory.masking import Mask
from keepsake.memory.plan import LEAST_SUMMARY, CompactionPlan
from keepsake.memory.source import USUAL_TOKENS, Draft, Summarizer, SummarySource
from keepsake.memory.summarizer import ExtractiveSummarizer
from keepsake.memory.types import Rung, RungStep
from keepsake.tasks.task import TRIES


@dataclass(slots=True)
class LadderRun:
    """One compaction on its way up the ladder; :meth:`make` fills what it came to."""

    plan: CompactionPlan
    counter: TokenCounter
    summarizer: Summarizer
    # whether the summary without a model replaces that of a model which gives no answer; else its
    # failure is the compaction's
    forgiving: bool
    log: Callable[[str], None]
    now: datetime
    importance: ImportanceCache
    must_keep: tuple[str, ...] = ()  # lines of pins and open promises
    standing: tuple[str, ...] = ()  # those that the prompt shows in a block of their own
    steps: list[RungStep] = field(default_factory=list)
    written: list[Draft] = field(default_factory=list)
    # longer versions of summaries that a later rung made shorter
    earlier: dict[Tier, str] = field(default_factory=dict)
    verdict: SummaryVerdict | None = None
    _summaries: dict[Tier, Summary | None] = field(default_factory=dict)
    _window: int = 0

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
        before = self.plan.before
        self._summaries = {Tier.LONGTERM: before.longterm, Tier.RECENT: before.recent}
        self._window = sum(before.weights)
        self.steps = [RungStep(Rung.MASK, before.summaries + before.plain, before.tokens)]
        if self.plan.leaving:
            self._summarise()
        self._resummarise()
        config = self.plan.config
        if self._used > config.high_tokens:
            self._squeeze(config.low_tokens)
        if self._used > config.high_tokens:
            self._truncate(self._reachable(config.low_tokens))
        if (self.longterm, self._summaries[Tier.RECENT]) == (before.longterm, before.recent):
            return False
        self._check()
        return True

    # -- the rungs

    def _summarise(self) -> None:
        sources = self._new_sources()
        written = self._written(sources)
        before, leaving = self._tokens, self.plan.leaving
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

    def _write(self, source: SummarySource, *, forgiving: bool = False) -> Draft:
        """One summary; in any thread."""
        try:
            draft = self.summarizer.summarize(source)
        except KeepsakeError as error:
            if not (forgiving or self.forgiving):
                raise
            self.log(f"{error.what}; a summary without a model is used")
            return ExtractiveSummarizer().summarize(source)
        for refused in draft.refusals:
            self.log(f"A summary was refused: {refused.reason}")
        return replace(draft, text=truncation.unmarked(draft.text))

    def _resummarise(self) -> None:
        """Summarise the summary of everything old again when it has outgrown its limit."""
        tier = Tier.RECENT if self.plan.replaces else Tier.LONGTERM
        summary, limit = self._summaries[tier], self.plan.config.longterm_tokens
        if summary is None or self.counter.text(summary.text) <= limit:
            return
        before = self._tokens
        written = self._write(self._again(summary, limit), forgiving=True)
        self._shorten(summary, written.text, written.model)
        if self._weight(tier) > limit:
            self._by_rules(tier, limit)
        self._step(Rung.RESUMMARISE, before, written)

    def _squeeze(self, target: int) -> None:
        """Make both summaries smaller without a model: before anything is cut."""
        before, room = self._tokens, max(target - self.plan.before.overhead - self._window, 0)
        weight = {each.tier: self._weight(each.tier) for each in self._present()}
        for tier, tokens in weight.items():
            limit = max(room * tokens // max(sum(weight.values()), 1), LEAST_SUMMARY)
            if tokens > limit:
                self._by_rules(tier, limit)
        self._step(Rung.RESUMMARISE, before)

    def _reachable(self, target: int) -> int:
        """``target``, or what is left when both summaries are squeezed as far as they can be."""
        least = self.plan.before.overhead + self._window + 2 * LEAST_SUMMARY
        return min(max(target, least), max(target, self.plan.config.emergency_tokens))

    def _truncate(self, target: int, *, all_of_it: bool = False) -> None:
        """Cut the oldest summary, then the other; both are in the archive."""
        before = self._tokens
        for tier in (Tier.LONGTERM, Tier.RECENT):
            summary, over = self._summaries[tier], self._used - target
            if summary is not None and over > 0:
                limit = max(self._weight(tier) - over, 0)
                text = truncation.cut(summary, limit, self.counter.text, all_of_it=all_of_it)
                self._shorten(summary, text, summary.model)
        self._step(Rung.TRUNCATE, before)

    # -- the check

    def _check(self) -> None:
        """See that pins and open promises are seen word for word; put back those that are not."""
        texts = (truncation.without_note(each.text) for each in self._present())
        seen = "\n".join(map(_folded, (*self.standing, *texts)))
        missing = [line for line in self.must_keep if _folded(line) not in seen]
        if lines := truncation.fitting(missing):
            text = truncation.put_back(self.recent.text, lines)
            self._summaries[Tier.RECENT] = self._with_text(self.recent, text, self.recent.model)
        config = self.plan.config
        if self._used > config.budget:
            self._truncate(config.emergency_tokens)
        if self._used > config.budget:
            self._truncate(config.budget, all_of_it=True)
        # Where all else takes more than the budget, a cut takes these out again.
        there = frozenset(truncation.put_back_in(self.recent.text))
        lost = [line for line in missing if _folded(line) not in there]
        self.verdict = SummaryVerdict(
            wanted=len(self.must_keep),
            seen=len(self.must_keep) - len(lost),
            put_back=tuple(line for line in lines if _folded(line) in there),
            problems=tuple(f"there was no room for: {line}" for line in lost),
            tries=min(max((len(each.refusals) for each in self.written), default=0) + 1, TRIES),
        )

    # -- what the rungs are made of

    def _new_sources(self) -> list[SummarySource]:
        pruned = self._pruned()
        memories = tuple(memory for memory in pruned if not memory.is_stock) or pruned
        older = tuple(truncation.without_added(each.text) for each in self._present())
        if self.plan.replaces:
            limit = self.plan.config.longterm_tokens
            return [self._source(Tier.RECENT, memories, older, limit)]
        sources = [self._source(Tier.RECENT, memories)]
        return [*sources, self._source(Tier.LONGTERM, older=older)] if older else sources

    def _pruned(self) -> tuple[Memory, ...]:
        """The memories that leave, all masked: no model is paid for what says nothing."""
        leaving = self.plan.leaving
        if not self.plan.config.mask:
            return leaving
        mask = Mask(self.log, self.importance.unshortened)
        return mask.view(leaving, leaving[-1].number) or leaving

    def _source(
        self,
        tier: Tier,
        memories: tuple[Memory, ...] = (),
        older: tuple[str, ...] = (),
        limit: int = 0,
    ) -> SummarySource:
        return SummarySource(
            tier=tier,
            agent=self.counter.agent,
            memories=memories,
            older=older,
            strategy=self.plan.strategy,
            limit_tokens=limit,
            usual_tokens=max(self.plan.config.longterm_tokens, USUAL_TOKENS),
            tokens=self.counter.text,
            importance=self.importance.of,
            must_keep=self.must_keep,
        )

    def _again(self, summary: Summary, limit: int) -> SummarySource:
        return self._source(
            summary.tier, older=(truncation.without_added(summary.text),), limit=limit
        )

    def _by_rules(self, tier: Tier, limit: int) -> None:
        summary = self._summaries[tier]
        if summary is not None:
            draft = ExtractiveSummarizer().summarize(self._again(summary, limit))
            self._shorten(summary, draft.text, draft.model)

    def _shorten(self, summary: Summary, text: str, model: str) -> None:
        """Put a shorter text in a summary's place; one that is none changes nothing."""
        if text and self.counter.text(text) < self.counter.text(summary.text):
            self.earlier.setdefault(summary.tier, summary.text)
            self._summaries[summary.tier] = self._with_text(summary, text, model)

    def _with_text(self, summary: Summary, text: str, model: str) -> Summary:
        tokens = self.counter.text(text)
        return replace(summary, text=text, model=model, time=self.now, tokens_after=tokens)

    def _summary(self, source: SummarySource, span: tuple[int, int], draft: Draft) -> Summary:
        before = sum(map(self.counter.text, source.older))
        before += self.counter.memories(source.memories)
        after = self.counter.text(draft.text)
        return Summary(source.tier, *span, draft.text, draft.model, self.now, before, after)

    def _step(self, rung: Rung, before: int, *written: Draft) -> None:
        if self._tokens != before or written:
            calls = sum(each.cost.calls for each in written)
            self.steps.append(RungStep(rung, before, self._tokens, calls))
        self.written += written

    def _present(self) -> list[Summary]:
        both = (self._summaries[Tier.LONGTERM], self._summaries[Tier.RECENT])
        return [summary for summary in both if summary is not None]

    def _weight(self, tier: Tier) -> int:
        return self.counter.summaries(self._summaries[tier])

    @property
    def _tokens(self) -> int:
        """Summaries and window now, or as they will be."""
        return self.counter.summaries(*self._summaries.values()) + self._window

    @property
    def _used(self) -> int:
        return self.plan.before.overhead + self._tokens


def _folded(text: str) -> str:
    return " ".join(text.split())
