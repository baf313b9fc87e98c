"""How a fact went, in steps of time: who told it or did it, to whom, and the line itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from keepsake.tracing.facts import Way
from keepsake.web.fact_shapes import FactView, TellingView
from keepsake.web.pasts.who_shapes import FirstTellingView, KnowingView, PersonOfFact


@dataclass(frozen=True)
class Steps:
    """The steps by which some came to know a fact.

    Attributes:
        fact: Where it went.
        agents: The names of all agents, by number.
        knowing: How each agent came to know it first.
    """

    fact: FactView
    agents: Mapping[int, str]
    knowing: Sequence[KnowingView]

    def all(self) -> Iterator[FirstTellingView]:
        """Yield the tellings by which some came to know it, those in doubt last.

        And the gifts of what it is about, whoever knew of it before.
        """
        untold = (self._of_agent(each) for each in self.knowing if not each.happening)
        every = (*self._shown(), *untold)
        yield from sorted(every, key=lambda each: (each.doubtful, each.time))

    def _shown(self) -> Iterator[FirstTellingView]:
        """Yield the steps that are among the tellings."""
        sure: dict[str, list[PersonOfFact]] = defaultdict(list)
        doubted: dict[str, list[PersonOfFact]] = defaultdict(list)
        for each in self.knowing:
            one = PersonOfFact(id=each.id, key="", name=each.agent, way=each.way)
            (doubted if each.doubtful else sure)[each.happening].append(one)
        for other in self.fact.outsiders:
            one = PersonOfFact(id=None, key=other.key, name=other.name, way=other.way)
            sure[other.happening].append(one)
        for telling in self.fact.tellings:
            new = sure[telling.happening]
            may = doubted[telling.happening]
            if new or (telling.gift and telling.to and not may):
                yield self._telling(telling, new, doubtful=False)
            if may:
                yield self._telling(telling, may, doubtful=True)

    def _telling(
        self, telling: TellingView, new: Sequence[PersonOfFact], *, doubtful: bool
    ) -> FirstTellingView:
        """Return a telling as a step. ``new``: Who came to know it by it."""
        source = self.agents.get(telling.id or 0) or telling.speaker
        heard = [each for each in new if each.name != source]
        known = {source, *(each.name for each in heard)}
        way = Way.GOT if telling.gift else None
        again = (self._who_knew(each, way) for each in telling.to if each not in known)
        to = sorted((*heard, *again), key=lambda each: each.name not in telling.to)
        number, n = next((each.id, each.n) for each in telling.hearings)
        return FirstTellingView(
            source=source,
            source_id=telling.id,
            to=tuple(to),
            way=next((each.way for each in (*heard, *to, *new) if each.way), None),
            time=telling.time,
            happening=telling.happening,
            private=telling.private,
            doubtful=doubtful,
            text=telling.text,
            id=number,
            n=n,
            asks=telling.asks,
        )

    def _who_knew(self, name: str, way: Way | None) -> PersonOfFact:
        """Return somebody to whom it was told, or given, though they knew it."""
        number = self._number(name)
        keys = (each.key for each in self.fact.outsiders if each.name == name)
        key = "" if number is not None else next(keys, "")
        return PersonOfFact(id=number, key=key, name=name, way=way, knew=True)

    def _of_agent(self, knowing: KnowingView) -> FirstTellingView:
        """Return how an agent came to know it by a telling that is not among those shown."""
        own = knowing.way is not None and knowing.way.is_own
        one = PersonOfFact(id=knowing.id, key="", name=knowing.agent, way=knowing.way)
        source = knowing.agent if own else knowing.source
        return FirstTellingView(
            source=source,
            source_id=self._number(source),
            to=() if own else (one,),
            way=knowing.way,
            time=knowing.time,
            happening=knowing.happening,
            private=knowing.private,
            doubtful=knowing.doubtful,
            text=knowing.heard,
            id=knowing.id,
            n=knowing.n,
        )

    def _number(self, name: str) -> int | None:
        return next((number for number, each in self.agents.items() if each == name), None)
