"""What was done to a profile, for the event log: whom it is about, but no word of anybody's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from keepsake.books.profiles.profile import Conclusion, Fact, Profile
from keepsake.events.types import MemoryChange

CONCLUSION = "conclusion"


@dataclass(frozen=True, slots=True)
class ProfileEvents:
    """Something that changes profiles."""

    agent: str
    by: str  # ``rules``, ``night`` or ``hand``
    n: int = 0  # the memory that it comes from; 0 for the first one that each fact rests on
    # what became of a conclusion that is not there any more: ``superseded`` or ``forgotten``
    gone: str = "forgotten"

    def changes(self, before: Profile | None, after: Profile) -> Iterator[MemoryChange]:
        """What is different, apart from what was merely observed and counted."""
        if before is None:
            yield self.about(after, "met")
        elif before.key != after.key:
            yield self.about(after, "merged")
        elif before.name != after.name:
            yield self.about(after, "renamed")
        was = before or replace(after, facts=(), conclusions=())
        if was.facts is not after.facts:
            yield from self._facts(after, was.facts)
        if was.conclusions is not after.conclusions:
            yield from self._conclusions(after, was.conclusions)

    def about(
        self,
        profile: Profile,
        op: str,
        what: Fact | Conclusion | None = None,
        n: int = 0,
        *,
        times: int = 1,
    ) -> MemoryChange:
        """Something that was done to all of it, or to a fact or conclusion in it."""
        of, size = profile.kind.value, 0
        if isinstance(what, Fact):  # who has a favourite *what* is their own affair
            of, size = what.attribute, len(what.value)
            of = "favourite" if of.startswith("favourite ") else of
        elif what is not None:
            of, size = CONCLUSION, len(what.text)
        return MemoryChange(
            agent=self.agent,
            op=op,
            n=self.n or n,
            of=of,
            size=size,
            times=times,
            by=self.by,
            about=profile.name,
        )

    def _facts(self, after: Profile, before: Sequence[Fact]) -> Iterator[MemoryChange]:
        known, now = _by_value(before), _by_value(after.facts)
        held, holds = (_by_value(f for f in each if f.holds) for each in (before, after.facts))
        for key, fact in now.items():
            if key not in known or (key in holds and key not in held):
                yield self.about(after, "learned", fact, fact.numbers[-1] if fact.numbers else 0)
        for key, fact in held.items():
            if key in now and key not in holds:
                yield self.about(after, "superseded", fact, _first(fact))
        for key, fact in known.items():
            if key not in now:
                yield self.about(after, "forgotten", fact, _first(fact))

    def _conclusions(self, after: Profile, before: Sequence[Conclusion]) -> Iterator[MemoryChange]:
        for op, these, others in (
            ("concluded", after.conclusions, before),
            (self.gone, before, after.conclusions),
        ):
            known = {each.text for each in others}
            for each in these:
                if each.text not in known:
                    yield self.about(after, op, each, _first(each))


def _first(what: Fact | Conclusion) -> int:
    return next(iter(what.numbers), 0)


def _by_value(facts: Iterable[Fact]) -> dict[tuple[str, str], Fact]:
    return {(fact.attribute, fact.value.casefold()): fact for fact in facts}
