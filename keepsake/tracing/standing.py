"""How an agent has a fact, from its first memory of it on: in which tier, and how much of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from keepsake.archive.records import Summary, Tier
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


TIERS: Mapping[Tier, Standing] = {Tier.RECENT: Standing.RECENT, Tier.LONGTERM: Standing.LONGTERM}
"""Where an agent has a fact by each of its summaries."""


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
        first = min(self.memories)
        events: list[tuple[float, int, SummaryState, int]] = [
            (past.time_of(number), number, past.state_when(number), 0)
            for number in sorted(self.memories)
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
            standing, kept, has, quoted = self._at(newest, state, read, shown)
            if (standing, kept, has) != before:
                yield Spell(time, standing, kept, has, compaction, quoted)
                before = (standing, kept, has)

    def _most_telling(self, numbers: Sequence[int]) -> int:
        """Return the memory that tells the agent most, by its words; of equals, the newest."""
        told = [each for each in numbers if each not in self.repeats] or numbers
        return max(told, key=lambda each: (len(telling(self.texts[each])), each))

    def _at(
        self,
        newest: int,
        state: SummaryState,
        kept_in: Callable[[Summary], tuple[Kept, str]],
        shown: int,
    ) -> tuple[Standing, Kept, str, int]:
        """Return how an agent has the fact, what it has, and the number of that memory.

        ``shown``: The memory of the window that was quoted before; 0 if it has left the window.
        """
        held = [number for number in self.memories if number <= newest]
        window = [number for number in held if number > state.summarised]
        if window:
            whole = [number for number in window if self.memories[number] is Kept.VERBATIM]
            form = Kept.VERBATIM if whole else Kept.SHORTER
            if not shown or self.memories[shown] is not form:
                shown = self._most_telling(whole or window)
            return Standing.WINDOW, form, self.texts[shown], shown
        open_to_all = [number for number in held if number not in self.private]
        if not open_to_all:
            return Standing.LOST, Kept.WHISPERED, "", 0
        for tier, standing in TIERS.items():
            summary = state.summary(tier)
            if summary is None:
                continue
            form, said = kept_in(summary)  # an older one may tell the same from other memories
            if form is not Kept.GONE:
                return standing, form, said, 0
        return Standing.LOST, Kept.GONE, "", 0
