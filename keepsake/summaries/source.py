"""What a summary is made of, what comes of it, and the model that may be asked for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from keepsake.archive.records import Tier
from keepsake.compaction.key_memories import KeyMemory, SentenceMatcher
from keepsake.errors import SummaryRefused
from keepsake.ports import Generation
from keepsake.prompt.tokens import CHARACTERS_PER_TOKEN, estimate_tokens
from keepsake.summaries.retelling import ToldSentence
from keepsake.summaries.strategy import NARRATIVE, Layout, Strategy

MAX_CHARACTERS = {Tier.RECENT: 1200, Tier.LONGTERM: 1800}
"""How long a summary of each tier may get that nobody set a limit for."""

_SHARE, _LEAST_CHARACTERS = 0.9, 240
"""The share of a few memories that their summary may have, and what it may have in any case."""
_WORDS_PER_TOKEN = 0.75
TRIES = 2
"""How often an answer is asked for, refused ones and lacking headings included."""


@dataclass(frozen=True, slots=True)
class SummarySource:
    """What one summary is to be made of.

    Of ``numbers``, ``importance`` and ``days`` what is not as long as ``lines`` is not known.
    """

    tier: Tier
    agent: str
    # the memories, or for the long-term summary the two summaries, oldest first. An own act is
    # ``~Mira> say …``, with its private reason after `` | `` if it has one
    lines: tuple[str, ...]
    numbers: tuple[int, ...] = ()  # the memory number of each line, 0 for an older summary
    strategy: Strategy | None = None  # how it is to be written; None for the narrative way
    limit_tokens: int = 0  # the most tokens that it may have; 0 for the usual
    must_keep: tuple[str, ...] = ()  # constraints and open matters that have to be in it
    tokens: Callable[[str], int] = estimate_tokens
    # how much each line matters, 1 to 10, and 0 for an older summary
    importance: tuple[int, ...] = ()
    # the memories that matter, of those that the older summaries tell
    weighty: tuple[KeyMemory, ...] = ()
    days: tuple[str, ...] = ()  # the day of each line, as in ``4 May``, empty for an older summary

    def __post_init__(self) -> None:
        for name, unknown in (("numbers", 0), ("importance", 0), ("days", "")):
            if len(getattr(self, name)) != len(self.lines):
                object.__setattr__(self, name, (unknown,) * len(self.lines))

    @property
    def way(self) -> Strategy:
        """The strategy, or what holds without one that writes summaries."""
        if self.strategy is None or self.strategy.layout is Layout.SLIDING:
            return NARRATIVE
        return self.strategy

    @property
    def characters(self) -> int:
        """About how many characters the summary may have."""
        if self.limit_tokens:
            return self.limit_tokens * CHARACTERS_PER_TOKEN
        usual = MAX_CHARACTERS[self.tier]
        if self.tier is Tier.LONGTERM or self.way.headings:
            return usual
        # As long as what it is made of, it would save nothing; older summaries are short already.
        return min(usual, max(int(_SHARE * sum(map(len, self.lines))), _LEAST_CHARACTERS))

    @property
    def words(self) -> int:
        """About how many words that is; what a prompt asks for."""
        return max(int(self.characters / CHARACTERS_PER_TOKEN * _WORDS_PER_TOKEN), 20)

    def weigh(self) -> Callable[[int, ToldSentence], int]:
        """What says how much a sentence matters: of a line that matters so much, or 0.

        A line of known importance gives it to each of its sentences; those of older summaries
        are known by the words they share with what mattered.
        """
        found = SentenceMatcher(self.weighty, self.agent)
        return lambda importance, told: importance or found.importance_of(told)

    def prompt(
        self,
        lines: Sequence[str],
        numbers: Sequence[int | None] = (),
        *,
        headings: Sequence[str] | None = None,
        mattered: Sequence[tuple[int, str]] = (),
    ) -> str:
        """What a model goes on with for some of the lines; see :meth:`Strategy.prompt`."""
        return self.way.prompt(
            self.tier,
            self.agent,
            lines,
            numbers=numbers,
            headings=headings,
            must_keep=self.must_keep,
            mattered=mattered,
            words=self.words,
        )

    def fits(self, text: str) -> bool:
        """Whether a summary is short enough."""
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
    tries: int = 1

    def with_costs(self, others: Sequence[Draft]) -> Draft:
        """The same, with what ``others`` took as well."""
        every = (self, *others)
        return replace(
            self,
            calls=sum(each.calls for each in every),
            prompt_tokens=sum(each.prompt_tokens for each in every),
            completion_tokens=sum(each.completion_tokens for each in every),
            seconds=sum(each.seconds for each in every),
        )


class Summarizer(Protocol):
    """Writes summaries; called from worker threads, two at a time."""

    def summarize(self, source: SummarySource) -> Draft:
        """Summarise ``source``.

        Raises:
            ModelError: No usable answer.
            SummaryRefused: The answer failed its checks.
            ConfigError: The strategy's template fails on these memories.
        """
        ...


def refused(reason: str) -> SummaryRefused:
    """The error for a model that cannot summarise, and what to do about it."""
    cure = "Set another model, or `extractive`, for the summarizer profile in llm.md"
    return SummaryRefused(f"the summary was refused: {reason}", cure)


class Calls:
    """The model that is asked for answers, and what it has cost so far."""

    def __init__(self, generate: Callable[[str, tuple[str, ...]], Generation]) -> None:
        self._generate = generate
        self.cost = Draft("", "")

    def __call__(self, prompt: str, stop: tuple[str, ...]) -> Generation:
        """Have ``prompt`` continued; see :class:`keepsake.ports.LanguageModel`."""
        answer = self._generate(prompt, stop)
        took = (1, answer.prompt_tokens, answer.completion_tokens, answer.seconds)
        self.cost = Draft("", answer.model, *took).with_costs([self.cost])
        return answer


def cut_into_parts(
    lines: Sequence[str], tokens: Callable[[str], int], most: int
) -> Iterator[tuple[slice, list[str]]]:
    """Cut ``lines`` into runs of at most ``most`` tokens, a longer line being cut short.

    Each comes with where it stands in ``lines``.
    """
    start, part, room = 0, list[str](), most
    for position, line in enumerate(lines):
        cost = tokens(line) + 1
        if cost > room and part:
            yield slice(start, position), part
            start, part, room = position, [], most
        part.append(line[: most * CHARACTERS_PER_TOKEN])
        room -= cost
    yield slice(start, len(lines)), part
