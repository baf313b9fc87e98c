"""Whom the agent meets at a place: counted as it happens, by who they are, not by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from game.mind.archive.records import Memory
from game.mind.books.profiles.changes import MOST_NUMBERS
from game.mind.books.profiles.observing import MEETING
from game.mind.books.profiles.profile import Company, Profile

MOST_COMPANY = 24
"""People of whom a place is known to be where they are met."""


def with_company(profile: Profile, key: str, memory: Memory) -> Profile:
    """The profile of a place at which somebody was met in ``memory``."""
    known = next((each for each in profile.company if each.key == key), None)
    met = Company(key, 1, 1, memory.time, (memory.number,)) if known is None else known
    if known is not None:
        met = _again(known, memory)
    others = tuple(each for each in profile.company if each.key != key)
    if len(others) >= MOST_COMPANY:  # whoever is there now stays, or nobody new could ever count
        least = min(others, key=lambda each: (each.meetings, each.last))
        others = tuple(each for each in others if each is not least)
    return replace(profile, company=(*others, met))


def as_records(company: Sequence[Company]) -> list[dict[str, Any]]:
    """As the front matter has it."""
    return [
        {
            "who": each.key,
            "meetings": each.meetings,
            "days": each.days,
            "last": each.last.isoformat(),
            "memories": list(each.numbers),
        }
        for each in company
    ]


def from_records(records: Iterable[Mapping[str, Any]]) -> tuple[Company, ...]:
    """Read it back.

    Raises:
        KeyError, ValueError, TypeError: A field is missing or wrong.
    """
    return tuple(
        Company(
            key=str(each["who"]),
            meetings=max(int(each["meetings"]), 1),
            days=max(int(each["days"]), 1),
            last=_time(each["last"]),
            numbers=tuple(sorted({int(number) for number in each["memories"]})),
        )
        for each in records
    )


def _again(known: Company, memory: Memory) -> Company:
    last = max(known.last, memory.time)
    if memory.time - known.last < MEETING:
        return replace(known, last=last)
    numbers = (*known.numbers[:1], *known.numbers[1:][-(MOST_NUMBERS - 2) :], memory.number)
    another_day = memory.time.astimezone().date() != known.last.astimezone().date()
    days = known.days + another_day
    return replace(known, meetings=known.meetings + 1, days=days, last=last, numbers=numbers)


def _time(given: Any) -> datetime:
    time = given if isinstance(given, datetime) else datetime.fromisoformat(str(given))
    return time if time.tzinfo else time.replace(tzinfo=UTC)
