"""What was done to a profile, for the event log: whom it is about, but no word of anybody's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from game.mind.books.profiles.profile import Conclusion, Fact, Profile
from game.mind.events.types import MemoryChange

CONCLUSION = "conclusion"
_FAVOURITE = "favourite"


@dataclass(frozen=True, slots=True)
class ProfileEvents:
    """Something that changes profiles.

    Attributes:
        agent: Whose they are.
        by: ``rules``, ``night`` or ``hand``.
        n: The memory that it comes from; 0 for the first one that each fact rests on.
        gone: What became of a conclusion that is not there any more: ``superseded`` or
            ``forgotten``.
    """

    agent: str
    by: str
    n: int = 0
    gone: str = "forgotten"

    def changes(self, before: Profile | None, after: Profile) -> Iterator[MemoryChange]:
        """What is different, apart from what was merely observed and counted."""
        if before is None:
            yield self.about(after, "met")
        elif before.key != after.key:
            yield self.about(after, "merged")
        elif before.name != after.name:
            yield self.about(after, "renamed")
        facts, thoughts = (before.facts, before.conclusions) if before else ((), ())
        if facts is not after.facts:
            yield from self._facts(after, facts)
        if thoughts is not after.conclusions:
            yield from self._conclusions(after, thoughts)

    def about(self, profile: Profile, op: str, *, times: int = 1) -> MemoryChange:
        """Something that was done to all of it."""
        return MemoryChange(
            agent=self.agent,
            op=op,
            n=self.n,
            of=profile.kind.value,
            times=times,
            by=self.by,
            about=profile.name,
        )

    def _facts(self, after: Profile, before: Sequence[Fact]) -> Iterator[MemoryChange]:
        held, holds = _holding(before), _holding(after.facts)
        known, there = _all(before), _all(after.facts)
        for key, fact in there.items():
            if key not in known or (key in holds and key not in held):
                yield self._of(after, "learned", _named(fact), fact.numbers[-1:], fact.value)
        for key, fact in held.items():
            if key in there and key not in holds:
                yield self._of(after, "superseded", _named(fact), fact.numbers, fact.value)
        for key, fact in known.items():
            if key not in there:
                yield self._of(after, "forgotten", _named(fact), fact.numbers, fact.value)

    def _conclusions(self, after: Profile, before: Sequence[Conclusion]) -> Iterator[MemoryChange]:
        known, there = ({c.text for c in each} for each in (before, after.conclusions))
        for each in after.conclusions:
            if each.text not in known:
                yield self._of(after, "concluded", CONCLUSION, each.numbers, each.text)
        for each in before:
            if each.text not in there:
                yield self._of(after, self.gone, CONCLUSION, each.numbers, each.text)

    def _of(
        self, profile: Profile, op: str, of: str, numbers: Sequence[int], text: str
    ) -> MemoryChange:
        n, size = self.n or next(iter(numbers), 0), len(text)
        return MemoryChange(
            agent=self.agent, op=op, n=n, of=of, size=size, by=self.by, about=profile.name
        )


def _named(fact: Fact) -> str:
    """Its attribute, without what somebody said of it: who has a favourite *what*."""
    head, _, rest = fact.attribute.partition(" ")
    return head if rest and head == _FAVOURITE else fact.attribute


def _all(facts: Sequence[Fact]) -> dict[tuple[str, str], Fact]:
    return {(fact.attribute, fact.value.casefold()): fact for fact in facts}


def _holding(facts: Sequence[Fact]) -> dict[tuple[str, str], Fact]:
    return _all([fact for fact in facts if fact.holds])
