"""Who came to an invitation: who stood in its place at its time, as the world saw it.

While a simulation runs, the world is looked at each minute: in the time of the invitation, and at
the same time of the day before (:data:`keepsake.lab.simulations.record.PRESENCE`). The day before
shows who is usually there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from keepsake.json_lines import Record
from keepsake.lab.simulations.diffusion import Spread
from keepsake.lab.simulations.items import Item
from keepsake.lab.simulations.plan import BEGINS
from keepsake.lab.simulations.record import SimulationRecord, text_of

THE_DAY = "the day"
DAY_BEFORE = "the day before"
"""Which of the two times a line of presence is of."""
DAY = timedelta(days=1)


def presence_line(item: Item, day: str, time: datetime, here: Mapping[str, bool]) -> Record:
    """Return the line of one look at the place of an invitation.

    Args:
        day: :data:`THE_DAY` or :data:`DAY_BEFORE`.
        here: By identity of each agent there: whether it is awake.
    """
    awake = [identity for identity, is_awake in here.items() if is_awake]
    return {"item": item.id, "day": day, "t": time.isoformat(), "here": awake}


@dataclass(frozen=True, slots=True)
class Attendee:
    """One agent and an invitation.

    Attributes:
        minutes: How many minutes it stood in the place, awake.
        usually: The same at that time of the day before; None if that was not looked at.
        knew: Whether it knew of the invitation, by a path, before it was over.
        invites: Whether it is the one that invites.
    """

    name: str
    minutes: int
    usually: int | None
    knew: bool
    invites: bool

    @property
    def came(self) -> bool:
        """Whether it was there at all."""
        return self.minutes > 0


@dataclass(frozen=True)
class Attendance:
    """Who came to an invitation.

    Attributes:
        looks: How many minutes the world was looked at in its time; with 0 nothing is known.
        people: All agents, in the order of the cast; empty if nothing is known.
    """

    item: Item
    begins: datetime
    looks: int
    people: Sequence[Attendee] = ()

    @property
    def guests(self) -> Sequence[Attendee] | None:
        """Those who came, without the one that invites; None if that is not known."""
        if not self.looks:
            return None
        return tuple(each for each in self.people if each.came and not each.invites)

    @property
    def informed_guests(self) -> Sequence[Attendee] | None:
        """The guests who knew of the invitation; None if nobody knows who came."""
        guests = self.guests
        return None if guests is None else tuple(each for each in guests if each.knew)


def attendance_of(item: Item, record: SimulationRecord, spread: Spread) -> Attendance:
    """Return who came to an invitation."""
    begins = item.begins(BEGINS)
    ends = begins + timedelta(minutes=item.minutes)
    there = _looks(item, THE_DAY, record)
    before = _looks(item, DAY_BEFORE, record)
    knew = spread.knows_by(ends)
    people = tuple(
        Attendee(
            name=name,
            minutes=sum(member.identity in here for here in there.values()),
            usually=sum(member.identity in here for here in before.values()) if before else None,
            knew=name in knew,
            invites=name.casefold() == item.to.casefold(),
        )
        for name, member in record.cast.items()
    )
    return Attendance(item, begins, len(there), people if there else ())


def _looks(item: Item, day: str, record: SimulationRecord) -> Mapping[str, frozenset[str]]:
    """Return who was there, by time. A resumed simulation may have looked twice at one moment."""
    return {
        text_of(line, "t"): frozenset(map(str, line.get("here", ())))
        for line in record.presence
        if line.get("item") == item.id and line.get("day") == day
    }
