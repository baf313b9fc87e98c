"""What of a plan has not happened, by the deeds that its agent remembers.

Only names count, and they come from the game: of things, people and places that a plan's words
name. What a plan means to do with them, its words alone say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from keepsake.archive.records import Memory
from keepsake.books.plan import Plan
from keepsake.happening import ME, Deed, KnownVerb, Person, Result, addressees_of
from keepsake.language.perception import names

_BEFORE = 10
"""The most memories between a gift and the plan that is made of it: words, a deed, its result."""
_GIVES = frozenset({KnownVerb.GIVE, KnownVerb.DROP})
_TAKES = frozenset({KnownVerb.GET, KnownVerb.GIVE})


@dataclass(frozen=True, slots=True)
class Seen:
    """What the ends of plans are compared with.

    Attributes:
        window: The agent's memories, the oldest first.
        carried: The things that it carries, each with all its names.
        people: Everybody whom it knows.
    """

    window: Sequence[Memory] = ()
    carried: Mapping[str, Collection[str]] | None = None
    people: Iterable[Person] = ()

    def still_carried(self, plan: Plan) -> str:
        """Return the thing that the agent got for a plan, and that it still carries; else empty."""
        for name, spellings in (self.carried or {}).items():
            if not any(names(plan.what, each) for each in spellings):
                continue
            if _moved(name, self._since(plan), _TAKES) and not self._gave(plan, name):
                return name
        return ""

    def lacks(self, plan: Plan) -> str:
        """Return what a plan names and did not happen, as a clause; empty if that is nothing."""
        found = [f"{name} did not change hands" for name in self._unmoved(plan)]
        found += [f"{name} was not spoken to" for name in self._unmet(plan)]
        later = self._since(plan)
        if plan.where and later and all(each.place != plan.where for each in later):
            found.append(f"you were not at {plan.where}")
        return "; ".join(found)

    def _since(self, plan: Plan) -> list[Memory]:
        """Return the memories from shortly before a plan was made on, without what failed."""
        results = (each.what for each in self.window if isinstance(each.what, Result))
        failed = {each.act for each in results if not each.done}
        since = (each for each in self.window if each.number > plan.since - _BEFORE)
        return [each for each in since if each.number not in failed]

    def _gave(self, plan: Plan, name: str) -> bool:
        own = (each for each in self._since(plan) if each.number > plan.since and each.is_own)
        return _moved(name, own, _GIVES)

    def _unmoved(self, plan: Plan) -> list[str]:
        """Return the things that a plan names, and that nobody handed over or took since."""
        known = {name for each in self.window for name in _things(each)} | {*(self.carried or {})}
        since = self._since(plan)
        named = (each for each in sorted(known) if names(plan.what, each))
        return [each for each in named if not _moved(each, since, _GIVES | _TAKES)]

    def _unmet(self, plan: Plan) -> list[str]:
        """Return the people whom a plan names, and with whom nothing was spoken since."""
        since = self._since(plan)
        met = {each.source_id for each in since if each.heard is not None}
        met |= {to.id for each in since if each.is_own for to in addressees_of(each.what)}
        meant = [each for each in self.people if each.id and names(plan.what, each.name)]
        if plan.whom is not None and plan.whom.id:
            meant.append(plan.whom)
        return [*dict.fromkeys(each.name for each in meant if each.id not in met)]


def _things(memory: Memory) -> tuple[str, ...]:
    """Return the things that somebody handed over, took or put down."""
    what = memory.what
    return what.objects if isinstance(what, Deed) and what.verb in _GIVES | _TAKES else ()


def _moved(name: str, memories: Iterable[Memory], verbs: Collection[str]) -> bool:
    """Whether the agent did one of these deeds with a thing, or it was handed to the agent."""
    for each in memories:
        what = each.what
        if not isinstance(what, Deed) or what.verb not in verbs:
            continue
        is_mine = each.is_own or ME in what.to
        if is_mine and any(names(name, x) or names(x, name) for x in what.objects):
            return True
    return False
