"""What a villager will do in a span of time, by the rules of :mod:`world.days` themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from typing import Any

from evennia.utils.dbserialize import deserialize

from keepsake.books.usual_hours import UsualHours
from world.almanac import WEATHERS, Almanac, Hours, almanac, changes_on
from world.days import WORK_HOURS, entry_at, work_at

type Entry = Mapping[str, Any]
"""An entry of a daily schedule."""


def hours_between(agent: Any, since: datetime, until: datetime) -> list[UsualHours]:
    """Return what the agent's daily schedule has it do in a span of time, in order.

    ``since``, ``until``: In the world's time zone, as all moments that are returned.
    """
    entries: Sequence[Entry] = deserialize(agent.db.day) or ()
    if not entries:
        return []
    moments = [since, *_changes(entries, since, until), until]
    parts = [(*span, entry_at(entries, almanac(span[0]))) for span in pairwise(moments)]
    found = []
    for _, group in groupby(parts, key=lambda part: id(part[2])):
        same = [*group]
        entry = same[0][2]
        if entry is not None:
            starts = [begins for begins, _, _ in same]
            found.append(_hours(agent, entry, entries, starts, same[-1][1]))
    return found


def _changes(entries: Sequence[Entry], since: datetime, until: datetime) -> list[datetime]:
    """Return the moments within a span at which another entry may begin to hold."""
    spans = [Hours.parse(entry["at"]) for entry in entries]
    edges = {edge for span in spans for edge in (span.since, span.until)}
    found: set[datetime] = set()
    day = since.date()
    while day <= until.date():
        found.update(changes_on(day))
        found.update(datetime.combine(day, edge).astimezone() for edge in edges)
        day += timedelta(days=1)
    return sorted(each for each in found if since < each < until)


def _hours(
    agent: Any, entry: Entry, entries: Sequence[Entry], starts: Sequence[datetime], until: datetime
) -> UsualHours:
    place = entry.get("in") or agent.home
    whom = entry.get("with") or ""
    unless = [state for at in starts for state in _weather_against(entries, entry, almanac(at))]
    does = entry.get("does") or ("is there",)
    works = [work_at(agent.id, does, at) for at in _turns(starts[0], until)]
    return UsualHours(
        since=starts[0],
        until=until,
        place="" if whom or place is None else place.key,
        whom=whom,
        does=tuple(dict.fromkeys(works)),
        only_if=tuple(entry.get("when") or ()),
        unless=tuple(dict.fromkeys(unless)),
    )


def _weather_against(entries: Sequence[Entry], entry: Entry, now: Almanac) -> Iterator[str]:
    """Yield the weathers in which an entry before this one would hold now instead of it."""
    for other in entries:
        if other is entry:
            return
        states = other.get("when") or ()
        weathers = [state for state in states if state in WEATHERS]
        rest = {*states}.difference(weathers)
        if weathers and now.moment in Hours.parse(other["at"]) and now.states.issuperset(rest):
            yield from weathers


def _turns(since: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the moments from which on an agent does another activity of the same entry."""
    while since < until:
        yield since
        hour = since.hour - since.hour % WORK_HOURS
        since = (since.replace(hour=hour, minute=0) + timedelta(hours=WORK_HOURS)).astimezone()
