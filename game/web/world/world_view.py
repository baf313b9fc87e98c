"""The page of the world: its map, and a day of all who live there; in a view's thread."""

from __future__ import annotations

from datetime import date

from game.web.api.lives import Inhabitant
from game.web.api.openapi import BadRequest
from game.web.api.shapes import DayRow, RoomView, WayView, WorldView
from game.web.api.source import source
from game.web.world.days import MINUTES, DaySpan, LivedDay, first_day, lived_day


def world(day: date | None) -> WorldView:
    """That day, or today.

    Raises:
        BadRequest: That day is not lived yet.
        KeepsakeError: The world cannot answer now.
        OSError: A file cannot be read.
    """
    shown = source()
    now = shown.now().astimezone(shown.zone)
    if day is not None and day > now.date():
        raise BadRequest(f"{day} is not lived yet", f"Today is {now.date()}")
    span = DaySpan.of(day or now.date(), shown.zone)
    there, grounds = shown.inhabitants(), shown.grounds()
    lived = lived_day(shown.events, there, span, now)
    first = first_day(there, shown.zone) or now.date()
    return WorldView(
        day=span.day.isoformat(),
        begins=span.begins.isoformat(),
        first=min(first, span.day).isoformat(),
        last=now.date().isoformat(),
        minute=span.minute(now) if span.holds(now) else MINUTES - 1,
        rooms=tuple(RoomView(id=number, name=name) for number, name in grounds.rooms),
        ways=tuple(WayView.of(each) for each in grounds.ways),
        agents=tuple(_row(*each) for each in lived.agents),
        talks=lived.talks,
    )


def _row(agent: Inhabitant, day: LivedDay) -> DayRow:
    minutes, places = "".join(day.minutes), tuple(day.places)
    return DayRow(
        id=agent.number, name=agent.name, place=agent.place, minutes=minutes, places=places
    )
