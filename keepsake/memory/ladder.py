"""A compaction in progress: from its plan, rung by rung, to new summaries.

Nothing is committed here. Rungs that shorten by rules or cut are tried only if the earlier ones
were not enough. Each is recorded with what it saved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from keepsake.archive.message_types import STOCK
from keepsake.archive.records import Memory
from keepsake.archive.summaries import Summary, Tier
from keepsake.errors import KeepsakeError
from keepsake.events.values import CompactReason
from keepsake.language.perception import SENTENCE_GAP, shorten
from keepsake.language.tokens import CHARACTERS_PER_TOKEN
from keepsake.logs import Subsystem, get_logger
from keepsake.memory.masking import for_summary
from keepsake.memory.plan import LEAST_SUMMARY, CompactionPlan
from keepsake.memory.summary_text import (
    USUAL_TOKENS,
    Draft,
    Summarizer,
    SummarySource,
    extractive,
    has_words,
)
from keepsake.memory.types import Rung, RungStep
from keepsake.memory.window import Window

log = get_logger(Subsystem.COMPACTION)


@dataclass(slots=True)
class Ladder:
    """One compaction in progress; :meth:`climb` fills in its results.

    Attributes:
        summaries: The earlier summaries at first, then the new ones; long-term first.
        steps: What each rung did.
        written: All drafts that were written.
    """

    plan: CompactionPlan
    window: Window
    summarizer: Summarizer
    now: datetime
    constraints: tuple[str, ...] = ()  # lines of pins, open promises and rules
    summaries: dict[Tier, Summary] = field(default_factory=dict)
    steps: list[RungStep] = field(default_factory=list)
    written: list[Draft] = field(default_factory=list)
    _window_tokens: int = 0  # tokens of the memories that are in the window so far

    def climb(self) -> bool:
        """Climb as far as needed; return False if no summary has changed.

        The first step, :attr:`Rung.MASK`, is only recorded: the window is masked afterwards.

        The summaries are shortened, and then cut, only if the prompt is still over the high mark.
        The aim is then the low one.

        Raises:
            ModelError, ConfigError: No summary could be written.
        """
        before = self.plan.before
        config = self.plan.config
        there = (before.longterm, before.recent)
        self.summaries = {summary.tier: summary for summary in there if summary is not None}
        self._window_tokens = sum(before.weights)
        old = dict(self.summaries)
        full = before.summaries + before.plain
        self.steps = [RungStep(Rung.MASK, full, before.masked)]
        if self.plan.leaving:
            self._summarise()
        self._merge()
        if before.overhead + self.tokens > config.of_budget(config.high):
            self._squeeze(config.of_budget(config.low))
        if before.overhead + self.tokens > config.of_budget(config.high):
            self._truncate(config.of_budget(config.low))
        return self.summaries != old

    @property
    def tokens(self) -> int:
        """Tokens of summaries and window after the rungs so far."""
        texts = [summary.text for summary in self.summaries.values()]
        return self.window.count(*texts) + self._window_tokens

    # -- the rungs

    def _summarise(self) -> None:
        """Merge the short-term summary into the long-term one; summarise the leaving memories."""
        plan = self.plan
        count = self.window.count
        before = self.tokens
        # Do not pay a model for folded lines and stock phrases, which say nothing.
        leaving = for_summary(plan.leaving, self.window.matters) or plan.leaving
        memories = tuple(memory for memory in leaving if memory.event not in STOCK) or leaving
        texts = (each.text.strip() for each in self.summaries.values())
        older = tuple(text for text in texts if has_words(text))
        first = plan.leaving[0].number
        last = plan.leaving[-1].number
        oldest = next((each.first for each in self.summaries.values()), first)
        sources = [(self._source(Tier.RECENT, memories), (first, last))]
        if recent := self.summaries.get(Tier.RECENT):
            sources.insert(0, (self._source(Tier.LONGTERM, (), older), (oldest, recent.last)))
        drafts = [self._write(source) for source, _ in sources]
        self.summaries = {}
        self._window_tokens = plan.staying_tokens
        for (source, span), written in zip(sources, drafts, strict=True):
            draft = _with_words(written, source, span)
            made_of = count(*source.older, *source.memories)
            costs = made_of, count(draft.text)
            summary = Summary(
                source.tier, *span, draft.text, draft.model, self.now, *costs, draft.sources
            )
            self.summaries[source.tier] = summary
        self._step(Rung.SUMMARISE, before, *drafts)

    def _write(self, source: SummarySource) -> Draft:
        """Write one summary; in an emergency, and to shorten one, rules replace a failed model."""
        try:
            draft = self.summarizer(source)
        except KeepsakeError as error:
            again = bool(source.limit_tokens) and not source.memories
            if self.plan.reason is not CompactReason.EMERGENCY and not again:
                raise
            told = f"{error.what}; a summary without a model is used"
            log.warning(told, agent=self.window.agent, exc_info=error)
            return extractive(source)
        for refused in draft.refusals:
            log.info("A summary was refused", agent=self.window.agent, reason=refused.reason)
        return draft

    def _merge(self) -> None:
        """Summarise the long-term summary again if it exceeds its limit."""
        tier = Tier.LONGTERM
        limit = self.plan.config.longterm_tokens
        count = self.window.count
        summary = self.summaries.get(tier)
        if summary is None or count(summary.text) <= limit:
            return
        before = self.tokens
        written = self._write(self._source(tier, (), (summary.text,), limit))
        self._shorten(tier, written)
        if count(self.summaries[tier].text) > limit:
            self._by_rules(tier, limit)
        self._step(Rung.RESUMMARISE, before, written)

    def _squeeze(self, target: int) -> None:
        """Shorten both summaries without a model, before anything is cut."""
        before = self.tokens
        count = self.window.count
        room = max(target - self.plan.before.overhead - self._window_tokens, 0)
        weights = {tier: count(each.text) for tier, each in self.summaries.items()}
        for tier, tokens in weights.items():
            limit = max(room * tokens // max(sum(weights.values()), 1), LEAST_SUMMARY)
            if tokens > limit:
                self._by_rules(tier, limit)
        self._step(Rung.RESUMMARISE, before)

    def _truncate(self, target: int) -> None:
        """Cut the oldest summary, then the other, down to a sentence; the archive has both."""
        before = self.tokens
        overhead = self.plan.before.overhead
        count = self.window.count
        config = self.plan.config
        # Tokens of the prompt with both summaries squeezed as far as possible.
        least = overhead + self._window_tokens + 2 * LEAST_SUMMARY
        target = min(max(target, least), max(target, config.of_budget(config.emergency)))
        for tier, summary in list(self.summaries.items()):
            if (over := overhead + self.tokens - target) > 0:
                text = _end_of(summary.text, count(summary.text) - over, count)
                self._shorten(tier, Draft(text, summary.model))
        self._step(Rung.TRUNCATE, before)

    # -- helpers of the rungs

    def _source(
        self, tier: Tier, memories: tuple[Memory, ...], older: tuple[str, ...] = (), limit: int = 0
    ) -> SummarySource:
        longterm = self.plan.config.longterm_tokens
        return SummarySource(
            tier=tier,
            agent=self.window.agent,
            memories=memories,
            older=older,
            limit_tokens=limit,
            usual_tokens=longterm if tier is Tier.LONGTERM else max(longterm, USUAL_TOKENS),
            tokens=self.window.count,
            importance=self.window.importance,
            constraints=self.constraints,
            cited={k: n for each in self.summaries.values() for k, n in each.cited.items()},
        )

    def _by_rules(self, tier: Tier, limit: int) -> None:
        source = self._source(tier, (), (self.summaries[tier].text,), limit)
        self._shorten(tier, extractive(source))

    def _shorten(self, tier: Tier, draft: Draft) -> None:
        """Replace the text of a summary if the draft is shorter and has words."""
        summary = self.summaries[tier]
        count = self.window.count
        tokens = count(draft.text)
        if has_words(draft.text) and tokens < count(summary.text):
            shorter = summary.with_text(draft.text, draft.model, time=self.now, tokens_after=tokens)
            self.summaries[tier] = replace(shorter, sources=draft.sources or shorter.sources)

    def _step(self, rung: Rung, before: int, *written: Draft) -> None:
        if self.tokens != before or written:
            calls = sum(len(each.answers) for each in written)
            self.steps.append(RungStep(rung, before, self.tokens, calls))
        self.written += written


def _with_words(draft: Draft, source: SummarySource, span: tuple[int, int]) -> Draft:
    """Return a draft that says something, whatever its writer returned.

    The rules replace a draft without words. If the source has no words either, as after a talk in
    signs, the summary says that.
    """
    if has_words(draft.text):
        return draft
    by_rules = extractive(source)
    text = by_rules.text
    if not has_words(text):
        first, last = span
        text = f"Memories {first} to {last} hold no words."
    return replace(draft, text=text, model=by_rules.model, sources=())


def _end_of(text: str, limit: int, count: Callable[[str], int]) -> str:
    """Return the end of ``text`` that fits into ``limit`` tokens: whole lines, or sentences.

    If no sentence fits, the beginning of the last one that has words is returned, in at most
    :data:`LEAST_SUMMARY` tokens by the usual length of a token.
    """
    parts = list[str]()
    end = list[str]()
    listed = False
    for line in text.splitlines():
        is_item = line.lstrip().startswith(("-", "*", "#"))
        parts += [line] if is_item else SENTENCE_GAP.split(line)
        listed |= is_item
    for part in reversed(parts):
        if (limit := limit - count(part)) < 0:
            break
        end.insert(0, part)
    fitting = ("\n" if listed else " ").join(end)
    if has_words(fitting):
        return fitting
    sentences = [sentence for part in parts for sentence in SENTENCE_GAP.split(part)]
    last = next((each for each in reversed(sentences) if has_words(each)), "")
    return shorten(last, LEAST_SUMMARY * CHARACTERS_PER_TOKEN)
