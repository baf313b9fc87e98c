"""What a summary is made of, what comes of it, and who writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from keepsake.archive.records import Memory, Tier
from keepsake.prompt.tokens import CHARACTERS_PER_TOKEN, estimate_tokens
from keepsake.summaries.lines import told
from keepsake.summaries.strategy import NARRATIVE, Layout, Strategy
from keepsake.tasks.task import RefusedAnswer

MOST_CHARACTERS = {Tier.RECENT: 1200, Tier.LONGTERM: 1800}
"""How long a summary without a model may get that has no limit."""
WORDS = {Tier.RECENT: 200, Tier.LONGTERM: 300}
"""How many words a model is asked for where there is no limit."""
MOST_TOKENS = {Tier.RECENT: 450, Tier.LONGTERM: 700}
"""How many tokens its answer may have then: a language other than English takes more."""

_SHARE, _LEAST_CHARACTERS, _LEAST_TOKENS = 0.9, 240, 60
"""The share of a few memories that their summary may have, and what it may have in any case."""
_WORDS_PER_TOKEN = 0.5


def routine(_: Memory) -> int:
    """The importance of a memory where nobody says any."""
    return 0


@dataclass(frozen=True, slots=True)
class SummarySource:
    """What one summary is to be made of: older summaries, memories, or both."""

    tier: Tier
    agent: str
    memories: tuple[Memory, ...] = ()  # oldest first
    older: tuple[str, ...] = ()  # summaries of what was before them, oldest first
    strategy: Strategy | None = None  # how it is to be written; None for the narrative way
    limit_tokens: int = 0  # the most tokens that it may have; 0 for the usual
    tokens: Callable[[str], int] = estimate_tokens
    importance: Callable[[Memory], int] = routine  # 1 to 10, or 0 where it is not known

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it, a text each."""
        return (*self.older, *map(told, self.memories))

    @property
    def way(self) -> Strategy:
        """The strategy, or the narrative one where a strategy writes no summaries."""
        if self.strategy is None or self.strategy.layout is Layout.SLIDING:
            return NARRATIVE
        return self.strategy

    @property
    def characters(self) -> int:
        """How many characters a summary without a model may have."""
        if self.limit_tokens:
            return self.limit_tokens * CHARACTERS_PER_TOKEN
        usual = MOST_CHARACTERS[self.tier]
        if self.tier is Tier.LONGTERM:
            return usual
        # As long as what it is made of, it would save nothing; older summaries are short already.
        return min(usual, max(int(_SHARE * sum(map(len, self.lines))), _LEAST_CHARACTERS))

    @property
    def words(self) -> int:
        """How many words a model is asked for."""
        usual = WORDS[self.tier]
        return min(usual, int(self.limit_tokens * _WORDS_PER_TOKEN) or usual)

    def most_tokens(self, shown: Sequence[str]) -> int:
        """How many tokens a model's summary of ``shown`` may have: no more than they have."""
        usual = self.limit_tokens or MOST_TOKENS[self.tier]
        return min(usual, max(sum(map(self.tokens, shown)), _LEAST_TOKENS))

    def fits(self, text: str) -> bool:
        """Whether a summary without a model is short enough."""
        if self.limit_tokens:
            return self.tokens(text) <= self.limit_tokens
        return len(text) <= self.characters


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary, and what it took: calls of a model, their tokens (0 if unknown) and seconds."""

    text: str
    model: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    refusals: tuple[RefusedAnswer, ...] = ()  # answers that were not used

    def with_costs(self, others: Sequence[Draft]) -> Draft:
        """The same, with what ``others`` took as well."""
        every = (self, *others)
        return replace(
            self,
            calls=sum(each.calls for each in every),
            prompt_tokens=sum(each.prompt_tokens for each in every),
            completion_tokens=sum(each.completion_tokens for each in every),
            seconds=sum(each.seconds for each in every),
            refusals=tuple(refused for each in every for refused in each.refusals),
        )


class Summarizer(Protocol):
    """Writes summaries; called from worker threads, two at a time."""

    def summarize(self, source: SummarySource) -> Draft:
        """Summarise ``source``.

        Raises:
            ModelError: No answer.
            ConfigError: A template fails on these memories.
        """
        ...
