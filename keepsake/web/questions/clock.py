"""The world's clock on pages: the time zones that it lived by, each with its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils.timezone import get_default_timezone, get_default_timezone_name

from keepsake.agent.runtime import runtime
from keepsake.errors import KeepsakeError
from keepsake.paths import earlier_zones


@dataclass(frozen=True, slots=True)
class EarlierZones:
    """The time zones that the world lived by before.

    Attributes:
        data: For scripts: until when, in seconds since 1970, and the name: ``1764460800=UTC``.
        words: For people; empty for none.
    """

    data: str
    words: str


def world_clock() -> Mapping[str, object]:
    """Return what each page needs to know of the world's clock."""
    return {"zone": get_default_timezone_name(), "zones": zones}


def zones() -> EarlierZones:
    """Return the earlier zones as a page names them; quick."""
    found = _earlier()
    told = (f"until {each.astimezone(ZoneInfo(name)):%-d %b %H:%M} {name}" for name, each in found)
    data = " ".join(f"{int(end.timestamp())}={name}" for name, end in found)
    return EarlierZones(data, ", ".join(told))


def _earlier() -> Sequence[tuple[str, datetime]]:
    try:
        return earlier_zones(runtime().places.agents)
    except KeepsakeError:  # the agents are not running
        return ()


def moment_of(shown: datetime) -> datetime:
    """Return the moment at which the world's clock showed a time; ``shown`` has no zone."""
    for name, end in _earlier():
        moment = shown.replace(tzinfo=ZoneInfo(name))
        if moment < end:
            return moment
    return shown.replace(tzinfo=get_default_timezone())


def as_shown(moment: datetime) -> datetime:
    """Return what the world's clock showed at a moment, without a zone, as templates show it."""
    zone = next((ZoneInfo(name) for name, end in _earlier() if moment < end), None)
    return moment.astimezone(zone or get_default_timezone()).replace(tzinfo=None)
