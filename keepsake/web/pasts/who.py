"""Who knows a fact, and from whom: the short answer, made of what is known of where it went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from keepsake.books.editing import EditableBook
from keepsake.tracing.facts import Way
from keepsake.tracing.kept import Kept
from keepsake.tracing.standing import Hold, Standing
from keepsake.web.fact_shapes import FactView, HearingView, KnowerView, StrandView, TellingView
from keepsake.web.pasts.sentence import sentence
from keepsake.web.pasts.steps import Steps
from keepsake.web.pasts.who_shapes import (
    FirstTellingView,
    KnowingView,
    NewsKind,
    NewsView,
    WhoView,
)
from keepsake.web.people.noted import NotedView

MOST_NEWS = 6
"""The most later lines that are shown; of those that tell it again the newest."""

_PLACES: Mapping[EditableBook, str] = {
    EditableBook.PINS: "its pins, in all prompts",
    EditableBook.PROMISES: "a promise, in all prompts",
    EditableBook.PLANS: "its plans, in all prompts",
    EditableBook.PEOPLE: "its page of {0}, in the prompts while {0} is there",
    EditableBook.NOTES: "its note “{0}”, which recall finds",
    EditableBook.JOURNAL: "its journal, which recall finds",
}
_SUMMARIES: Mapping[Standing, str] = {
    Standing.RECENT: "in its short-term summary",
    Standing.LONGTERM: "in its long-term summary",
}


def who_knows(
    fact: FactView,
    agents: Mapping[int, str],
    asked: Sequence[NewsView] = (),
    *,
    chosen: bool = False,
    now: datetime | None = None,
) -> WhoView:
    """Return who knows a fact, and from whom.

    Args:
        fact: Where it went.
        agents: The names of all agents, by number.
        asked: Lines that only ask about it.
        chosen: Whether somebody said which of the lines mean the typed words.
        now: The present time; None if the day need not be said.
    """
    knowing = tuple(map(_Knowledge(fact, agents, chosen).knowing, fact.knowers))
    sources = tuple(Steps(fact, agents, knowing).all())
    return WhoView(
        answer=sentence(fact, agents, knowing, sources, chosen=chosen, now=now),
        knowing=knowing,
        sources=sources,
        news=tuple(_news(fact, sources, agents, asked)),
    )


@dataclass(frozen=True)
class _Knowledge:
    """What is asked of a fact to answer who knows it."""

    fact: FactView
    agents: Mapping[int, str]
    chosen: bool

    @cached_property
    def _told(self) -> Mapping[tuple[int, int], tuple[TellingView, HearingView]]:
        """The telling that an agent remembers as a memory."""
        return {
            (each.id, each.n): (telling, each)
            for telling in self.fact.tellings
            for each in telling.hearings
        }

    @cached_property
    def _likely(self) -> Sequence[StrandView]:
        return [each for each in self.fact.strands if each.likely]

    @cached_property
    def _surely(self) -> Set[int]:
        """Who heard a line that surely means the typed words."""
        return {one.id for each in self._likely if self._is_sure(each) for one in each.knowers}

    def _is_sure(self, strand: StrandView | None) -> bool:
        """Whether a line surely means the typed words: as they were typed, or the likeliest."""
        sure = strand is None or self.chosen or strand.written
        return sure or strand is self.fact.strands[0]

    def _strand_of(self, number: int, n: int, happening: str) -> StrandView | None:
        def has(strand: StrandView) -> bool:
            told = happening in strand.happenings
            return told or any((each.id, each.n) == (number, n) for each in strand.knowers)

        return next(filter(has, self.fact.strands), None)

    def knowing(self, knower: KnowerView) -> KnowingView:
        """Return how an agent came to know it first, and what it has of it now."""
        last = knower.path[-1]
        telling, hearing = self._told.get((knower.id, last.n), (None, None))
        way = hearing.way if hearing else None
        source = knower.source
        heard = knower.heard
        n = last.n
        time = last.time
        happening = telling.happening if telling else ""
        strand = self._strand_of(knower.id, n, happening)
        surer = None
        if way is Way.OVERHEARD and not self._is_sure(strand):
            surer = self._surer(knower.id)
        if surer is not None:
            # What was overheard and may mean something else is no first hearing.
            telling, hearing = surer
            way = hearing.way
            n = hearing.n
            time = telling.time
            heard = telling.text
            source = "" if way.is_own else self._speaker(telling)
        doubtful = len(self._likely) > 1 and not self.chosen and knower.id not in self._surely
        noted = [each for each in self.fact.noted if each.id == knower.id]
        hold, now = held(knower, noted)
        return KnowingView(
            id=knower.id,
            agent=knower.agent,
            n=n,
            time=time,
            way=way,
            source=source,
            heard=heard,
            private=telling.private if telling else "",
            happening=telling.happening if telling else "",
            doubtful=doubtful,
            hold=hold,
            now=now,
        )

    def _surer(self, number: int) -> tuple[TellingView, HearingView] | None:
        """Return the first telling by which an agent heard a line that surely means the words."""
        for telling in self.fact.tellings:
            heard = next((each for each in telling.hearings if each.id == number), None)
            strand = heard and self._strand_of(number, heard.n, telling.happening)
            if heard and strand and self._is_sure(strand):
                return telling, heard
        return None

    def _speaker(self, telling: TellingView) -> str:
        return self.agents.get(telling.id or 0) or telling.speaker or "the world"


def held(knower: KnowerView, noted: Sequence[NotedView]) -> tuple[Hold, str]:
    """Return what an agent has of a fact now, whatever words led to it, and that in words.

    ``noted``: Where its books have it.
    """
    last = knower.spells[-1]
    if last.standing is Standing.WINDOW:
        whole = last.kept is Kept.VERBATIM
        told = "word for word in its prompts" if whole else "in its prompts, in words of its own"
        return Hold.WINDOW, f"has it {told}"
    summary = _SUMMARIES.get(last.standing, "")
    if summary and last.kept is not Kept.UNSURE:
        has = "probably has" if last.kept is Kept.LIKELY else "has"
        whole = last.kept is Kept.VERBATIM
        return Hold.SUMMARY, f"{has} it {'word for word ' if whole else ''}{summary}"
    if noted:
        return Hold.BOOK, f"has it in {place_of(noted[0])}"
    if summary:
        return Hold.RECALL, f"perhaps has it {summary}; else only by recall"
    hidden = "keeps it private, so no summary has it: " if last.kept is Kept.WHISPERED else ""
    return Hold.RECALL, f"{hidden}{'only recall finds it' if hidden else 'has it only by recall'}"


def place_of(noted: NotedView) -> str:
    """Return a place in an agent's books in words: ``its page of Anneke, …``."""
    return _PLACES[noted.book].format(noted.title)


def _is_for_others(telling: TellingView) -> bool:
    """Whether it is more than what somebody did alone, as only they know."""
    return bool(telling.manner) or any(each.way is not Way.DID for each in telling.hearings)


def _news(
    fact: FactView,
    sources: Sequence[FirstTellingView],
    agents: Mapping[int, str],
    asked: Sequence[NewsView],
) -> Iterator[NewsView]:
    """Yield what else was said of a fact, in order: told again, or asked."""
    first = {each.happening for each in sources}
    again = [
        NewsView(
            id=each.hearings[0].id,
            n=each.hearings[0].n,
            time=each.time,
            speaker=agents.get(each.id or 0) or each.speaker,
            to=each.to,
            text=each.text,
            private=each.private,
            kind=NewsKind.TOLD,
        )
        for each in fact.tellings[1:]
        if each.happening not in first
        and each.hearings
        and (each.id or each.speaker)
        and _is_for_others(each)
    ]
    later = [each for each in asked if f"{each.id} {each.n}" not in first]
    most = max(MOST_NEWS - len(later), 2)
    yield from sorted((*later, *again[-most:]), key=lambda each: each.time)
