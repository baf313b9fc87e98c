"""How an agent has a fact, from its first memory of it on: in which tier, and how much of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.language.perception import telling
from keepsake.tracing.kept import Kept
from keepsake.tracing.past import Past


class Standing(StrEnum):
    """Where an agent has a fact at some moment: the first of these that is true."""

    WINDOW = "window"
    """In the window of its prompts."""
    RECENT = "recent"
    """Its short-term summary says it."""
    LONGTERM = "longterm"
    """Its long-term summary says it."""
    LOST = "lost"
    """Only its archive has it: no prompt has it, unless recall finds it."""


class Hold(StrEnum):
    """Where an agent has a fact now, books counted: the first of these that is true."""

    WINDOW = "window"
    """Word for word in its prompts, or as it told it on itself."""
    SUMMARY = "summary"
    """In one of its summaries."""
    BOOK = "book"
    """In a pin, a promise, a plan, a note, its journal, or on a page about somebody."""
    RECALL = "recall"
    """Only in its archive: no prompt has it, unless recall finds it."""


TIERS: Mapping[Tier, Standing] = {Tier.RECENT: Standing.RECENT, Tier.LONGTERM: Standing.LONGTERM}
"""Where an agent has a fact by each of its summaries."""
_WHISPERED = (Standing.LOST, Kept.WHISPERED, "")
"""How an agent has a fact of which it has private memories only, and those have left the window."""


@dataclass(frozen=True, slots=True)
class Spell:
    """From when on an agent had a fact in another way.

    Attributes:
        time: In seconds since 1970.
        kept: How much of it it has there.
        has: What it has there, all the time: a memory of it in the window, or what the summary says
            of it; empty if it has nothing.
        compaction: The number of the compaction that changed it; 0 if none did.
        memory: The number of the memory that it has there; 0 if it has a summary, or nothing.
    """

    time: float
    standing: Standing
    kept: Kept
    has: str = ""
    compaction: int = 0
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Holding:
    """What an agent has of a fact.

    Attributes:
        memories: By number of a memory of the fact: how much it has of it.
        texts: By number: what the memory says.
        private: The numbers of those that no summary ever says.
        repeats: The numbers of those that only ask for it, or are its own words: others
            are quoted first.
        kept_in: How much a summary has of it, and the sentence that says it.
    """

    memories: Mapping[int, Kept]
    texts: Mapping[int, str]
    private: frozenset[int]
    repeats: frozenset[int]
    kept_in: Callable[[Summary], tuple[Kept, str]]

    def spells(self, past: Past) -> Iterator[Spell]:
        """Yield how the agent had the fact, oldest first. There must be a memory of it."""
        numbers = sorted(self.memories)
        first = numbers[0]
        first_open = min(self.memories.keys() - self.private, default=None)
        events: list[tuple[float, int, SummaryState, int]] = [
            (past.time_of(number), number, past.state_when(number), 0) for number in numbers
        ]
        events += [
            (change.time, change.number, change.state, change.state.standing)
            for change in past.changes
            if change.number >= first
        ]
        before: tuple[Standing, Kept, str] | None = None
        quoted = 0
        read = cache(self.kept_in)
        for time, newest, state, compaction in sorted(events, key=lambda each: each[:2]):
            shown = quoted if quoted > state.summarised else 0
            window = numbers[
                bisect_right(numbers, state.summarised) : bisect_right(numbers, newest)
            ]
            if window:
                standing, kept, quoted = self._in_window(window, shown)
                has = self.texts[quoted]
            else:
                quoted = 0
                is_open = first_open is not None and first_open <= newest
                standing, kept, has = _in_summaries(state, read) if is_open else _WHISPERED
            if (standing, kept, has) != before:
                yield Spell(time, standing, kept, has, compaction, quoted)
                before = (standing, kept, has)

    def _most_telling(self, numbers: Sequence[int]) -> int:
        """Return the memory that tells the agent most, by its words; of equals, the newest."""
        told = [each for each in numbers if each not in self.repeats] or numbers
        return max(told, key=lambda each: (len(telling(self.texts[each])), each))

    def _in_window(self, window: Sequence[int], shown: int) -> tuple[Standing, Kept, int]:
        """Return how an agent has the fact word for word, and the memory that tells it.

        Args:
            window: The numbers of the memories of it in the window.
            shown: The one that was quoted before; 0 if it has left the window.
        """
        whole = [number for number in window if self.memories[number] is Kept.VERBATIM]
        form = Kept.VERBATIM if whole else Kept.SHORTER
        if not shown or self.memories[shown] is not form:
            shown = self._most_telling(whole or window)
        return Standing.WINDOW, form, shown


def _in_summaries(
    state: SummaryState, kept_in: Callable[[Summary], tuple[Kept, str]]
) -> tuple[Standing, Kept, str]:
    """Return how an agent has a fact by its summaries, and what they say of it."""
    for tier, standing in TIERS.items():
        summary = state.summary(tier)
        if summary is None:
            continue
        form, said = kept_in(summary)  # an older one may tell the same from other memories
        if form is not Kept.GONE:
            return standing, form, said
    return Standing.LOST, Kept.GONE, ""
