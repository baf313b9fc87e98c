"""One plan: something that an agent means to do, and how far it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from keepsake.archive.line_types import LineType
from keepsake.books.aloud import Aloud
from keepsake.happening import Person
from keepsake.language.perception import names, shorten, telling
from keepsake.language.when import When

GRACE = timedelta(minutes=15)
"""How long after its time a plan can still be kept. Later it is missed."""
_SAID_AGAIN = 4
"""A plan says another one again if at most one in so many of its words is missing in it."""
_LONGEST_TOLD = 80
"""The most characters of it in the result of a deed, which stands below the deed's own words."""


class PlanState(StrEnum):
    """How far a plan is."""

    OPEN = "open"
    DOING = "doing"
    DONE = "done"
    DROPPED = "dropped"
    MISSED = "missed"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will be done for it."""
        return self in (PlanState.DONE, PlanState.DROPPED, PlanState.MISSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Something that an agent means to do.

    Attributes:
        number: 1, 2, 3 …; unique for one agent. 0 before the book has numbered it.
        what: What it means to do, in its own words.
        when: The time, the meeting or the event that it waits for; None for any time.
        where: The name of the place; empty for any.
        whom: The person whom it is done with or for; None for nobody.
        state: How far it is.
        since: The number of the memory that it rests on; 0 if a person wrote it.
        why: Why it was dropped, or how it ended.
        private: The identities of the only people who may know of it; None for anybody.
        aloud: What was said aloud that asks for a private plan, if others may know that; else None.
            It is all that others are shown of the plan; see :meth:`as_known_to`.
    """

    what: str
    number: int = 0
    when: When | None = None
    where: str = ""
    whom: Person | None = None
    state: PlanState = PlanState.OPEN
    since: int = 0
    why: str = ""
    private: frozenset[str] | None = None
    aloud: Aloud | None = None

    @property
    def confided(self) -> frozenset[str] | None:
        """Who alone may see what is done for it; None for anybody.

        What was asked for aloud is done among others, from what was said aloud.
        """
        return None if self.aloud is not None else self.private

    def may_be_done_before(self, people: Collection[str]) -> bool:
        """Return whether its steps may be done among these people: all of them may know of it.

        ``people``: The identities of all who are with the agent.
        """
        return self.confided is None or (bool(people) and self.confided.issuperset(people))

    def as_known_to(self, audience: Collection[str]) -> Plan | None:
        """Return the plan as all of the audience may know it; None if they may not know of it.

        Others know what was said aloud, and of its place and person what was named there.
        """
        if self.private is None or (audience and self.private.issuperset(audience)):
            return self
        if self.aloud is None:
            return None
        return replace(
            self,
            what=self.aloud.request,
            when=None,
            where=self.where if self.aloud.names(self.where) else "",
            whom=self.whom if self.whom is not None and self.aloud.names(self.whom.name) else None,
            since=self.aloud.number,
            why="",
            private=None,
        )

    def is_of(self, people: Collection[str]) -> bool:
        """Return whether it is with one of these people, or one of them alone may know of it.

        ``people``: Their identities.
        """
        is_with = self.whom is not None and self.whom.id in people
        return is_with or any(each in people for each in self.private or ())

    def with_aloud(self, aloud: Aloud, people: Iterable[Person]) -> Plan:
        """Return a private plan with what was said aloud, if that is enough to act on it.

        It is if it names everybody else to whom the plan leads, or else the plan's place.

        Args:
            people: Everybody whom the agent knows.
        """
        private = self.private or frozenset()
        meant = [each for each in people if names(self.what, each.name)]
        if self.whom is not None:
            meant.append(self.whom)
        others = [each.name for each in meant if each.id not in private]
        needed = others or list(filter(None, [self.where]))
        is_enough = bool(needed) and all(map(aloud.names, needed))
        return replace(self, aloud=aloud) if is_enough else self

    @property
    def at(self) -> datetime | None:
        """The time of the plan; None if it has none."""
        return self.when.at if self.when else None

    @property
    def waits_for(self) -> str:
        """What it waits for instead of a time, in words; empty if it waits for nothing."""
        if self.when is None or self.when.at is not None:
            return ""
        if self.when.leaving:
            return f"when {self.when.leaving} has gone"
        return f"when {self.when.meeting} comes" if self.when.meeting else self.when.after

    @property
    def is_begun(self) -> bool:
        """Whether something was done for it, and it has not ended."""
        return self.state is PlanState.DOING

    def is_overdue(self, now: datetime) -> bool:
        """Return whether its time passed so long ago that it was missed."""
        return not self.state.has_ended and self.at is not None and now > self.at + GRACE

    def is_met(self, people: Iterable[Person]) -> bool:
        """Return whether it waits for somebody who is among ``people``."""
        waited = self.when.meeting if self.when else ""
        if not waited or self.state.has_ended:
            return False
        if self.whom and self.whom.id and names(self.whom.name, waited):
            return any(each.id == self.whom.id for each in people)
        return any(names(each.name, waited) for each in people)

    def is_left(self, people: Iterable[Person]) -> bool:
        """Return whether it waits until somebody has gone who is not among ``people``."""
        gone = self.when.leaving if self.when and self.state is PlanState.OPEN else ""
        return bool(gone) and not any(names(each.name, gone) for each in people)

    @property
    def line(self) -> str:
        """The plan as a prompt shows it: ``tomorrow 12:00, at The Quay, with Anneke: …``."""
        return self._line(self.what)

    @property
    def told(self) -> str:
        """The plan as the result of a deed tells it: in full only if it is short."""
        return self._line(self.short)

    @property
    def short(self) -> str:
        """The beginning of what is meant to be done; all of it if that is short."""
        return shorten(self.what, _LONGEST_TOLD)

    def _line(self, what: str) -> str:
        head = self.appointment
        return f"{head}: {what}" if head else what

    @property
    def appointment(self) -> str:
        """When, where and with whom, without what is meant to be done; empty if nothing is set."""
        return ", ".join(self._conditions())

    def _conditions(self) -> list[str]:
        """Return when, where and with whom, each as a part of a line."""
        found = []
        if self.when is not None:
            at = self.when.at
            found.append(f"{at.astimezone():%Y-%m-%d %H:%M}" if at else self.waits_for)
        if self.where:
            found.append(f"at {self.where}")
        if self.whom and not (self.when and self.when.meeting == self.whom.name):
            found.append(f"with {self.whom.name}")
        return found

    def to_record(self, change: str, time: datetime) -> dict[str, Any]:
        """Return the archive line of a change: ``made``, or the name of the new state."""
        record: dict[str, Any] = {
            "type": LineType.PLAN,
            "id": self.number,
            "change": change,
            "t": time.isoformat(),
            "what": self.what,
            "state": self.state.value,
            "when": self.line.removesuffix(self.what).rstrip(": "),
            "memory": self.since,
        }
        if self.whom is not None:
            record |= {"whom": [self.whom.name, self.whom.id]}
        if self.why:
            record["why"] = self.why
        if self.private is not None:
            record["private"] = sorted(self.private)
        if self.aloud is not None:
            record["aloud"] = self.aloud.number
        return record

    def is_same(self, other: Plan) -> bool:
        """Return whether both are one plan: by number or, if a person wrote one, by their words."""
        if self.number and other.number:
            return self.number == other.number
        return (self.what.casefold(), self.when) == (other.what.casefold(), other.when)

    def is_twin(self, other: Plan) -> bool:
        """Return whether both are one appointment, made in a whisper and also aloud."""
        is_one = (self.private is None) != (other.private is None)
        return is_one and self.at is not None and other.at is not None and self.is_alike(other)

    def is_one_with(self, other: Plan) -> bool:
        """Return whether both are for one appointment, known to the same people.

        That is so if they are for the same time, and the same place or person, unless they differ
        in the other of the two. A place or person of one may stand in the words of the other.
        """
        if self.at is None or other.at is None or abs(self.at - other.at) > GRACE:
            return False
        if (self.private, self.aloud) != (other.private, other.aloud):
            return False
        places = {self.where, other.where} - {""}
        people = [each for each in (self.whom, other.whom) if each is not None]
        if len(places) > 1 or (len(people) > 1 and not people[0].is_same(people[1])):
            return False
        if (self.where and other.where) or len(people) > 1:
            return True
        known = [*places, *(each.name for each in people)]
        return any(names(x.what, each) for x in (self, other) for each in known)

    def joined_with(self, other: Plan) -> Plan:
        """Return the plan with what another one for the same appointment has besides it."""
        given = telling(f"{self.appointment} {other.appointment}")
        mine = telling(self.what) - given
        theirs = telling(other.what) - given
        what = f"{self.what}; {other.what}"
        if theirs <= mine:
            what = self.what
        elif len(mine - theirs) * _SAID_AGAIN <= len(mine):
            what = other.what
        return replace(
            self, what=what, where=self.where or other.where, whom=self.whom or other.whom
        )

    def is_alike(self, other: Plan) -> bool:
        """Return whether both are for the same time, place and person, whatever is to be done."""
        if self.at is None or other.at is None:
            together = self.when == other.when
        else:
            together = abs(self.at - other.at) <= GRACE
        return together and (self.where, self.whom) == (other.where, other.whom)
