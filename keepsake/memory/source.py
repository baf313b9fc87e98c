"""What a summary is made of, what comes of it, and who writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from keepsake.archive.records import Memory, Tier
from keepsake.memory.strategy import NARRATIVE, Strategy
from keepsake.memory.text import told
from keepsake.prompt.tokens import CHARACTERS_PER_TOKEN, estimate_tokens
from keepsake.prompt.tool_results import about_memory
from keepsake.tasks.task import Cost, RefusedAnswer

USUAL_TOKENS = 600
"""What a long-term summary weighs in a small prompt; all other sizes are in relation to it."""
_CHARACTERS = {Tier.RECENT: 2.0, Tier.LONGTERM: 3.0}
"""How long a summary without a model may get that has no limit, for each of those tokens."""
_ANSWERED = {Tier.RECENT: 0.75, Tier.LONGTERM: 1.17}
"""How many tokens a model's answer may have then: a language other than English takes more."""

_SHARE, _LEAST_CHARACTERS, _LEAST_TOKENS = 0.9, 240, 60
"""The share of a few memories that their summary may have, and what it may have in any case."""


@dataclass(frozen=True, slots=True)
class SummarySource:
    """What one summary is to be made of: older summaries, memories, or both."""

    tier: Tier
    agent: str
    memories: tuple[Memory, ...] = ()  # oldest first
    older: tuple[str, ...] = ()  # summaries of what was before them, oldest first
    strategy: Strategy = NARRATIVE  # how it is to be written
    limit_tokens: int = 0  # the most tokens that it may have; 0 for the usual
    usual_tokens: int = USUAL_TOKENS  # the same for a long-term summary that grows, as a measure
    tokens: Callable[[str], int] = estimate_tokens
    importance: Callable[[Memory], int] = lambda _: 0  # 1 to 10, or 0 where it is not known
    constraints: tuple[str, ...] = ()  # pins and open promises, which it must not contradict

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it, a text each."""
        return (*self.older, *map(told, self.memories))

    def relevant(self) -> SummarySource:
        """Without what the agent did with its own memory, unless there is nothing else."""
        kept = tuple(memory for memory in self.memories if not about_memory(memory))
        return replace(self, memories=kept) if kept or self.older else self

    @property
    def characters(self) -> int:
        """How many characters a summary without a model may have."""
        if self.limit_tokens:
            return self.limit_tokens * CHARACTERS_PER_TOKEN
        usual = int(_CHARACTERS[self.tier] * self.usual_tokens)
        if self.tier is Tier.LONGTERM:
            return usual
        # As long as what it is made of, it would save nothing; older summaries are short already.
        return min(usual, max(int(_SHARE * sum(map(len, self.lines))), _LEAST_CHARACTERS))

    @property
    def words(self) -> int:
        """How many words a model is asked for."""
        return self._most * 4 // 9

    def most_tokens(self, shown: Sequence[str]) -> int:
        """How many tokens a model's summary of ``shown`` may have: no more than they have."""
        return min(self._most, max(sum(map(self.tokens, shown)), _LEAST_TOKENS))

    @property
    def _most(self) -> int:
        return self.limit_tokens or int(_ANSWERED[self.tier] * self.usual_tokens)

    def fits(self, text: str) -> bool:
        """Whether a summary without a model is short enough."""
        if self.limit_tokens:
            return self.tokens(text) <= self.limit_tokens
        return len(text) <= self.characters


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary, and what it took."""

    text: str
    model: str
    cost: Cost = field(default_factory=Cost)
    refusals: tuple[RefusedAnswer, ...] = ()  # answers that were not used


class Summarizer(Protocol):
    """Writes summaries; called from worker threads, two at a time."""

    def summarize(self, source: SummarySource) -> Draft:
        """Summarise ``source``.

        Raises:
            ModelError: No answer.
            ConfigError: A template fails on these memories.
        """
        ...
