"""The world's clock on pages: the time zones that it lived by, each with its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils.timezone import get_default_timezone_name

from keepsake.agent.surroundings.world_clock import WorldClock


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
    found = WorldClock.of_world().earlier
    told = (f"until {each.astimezone(ZoneInfo(name)):%-d %b %H:%M} {name}" for name, each in found)
    data = " ".join(f"{int(end.timestamp())}={name}" for name, end in found)
    return EarlierZones(data, ", ".join(told))


def moment_of(shown: datetime) -> datetime:
    """Return the moment at which the world's clock showed a time; ``shown`` has no zone."""
    return WorldClock.of_world().moment_of(shown)


def as_shown(moment: datetime) -> datetime:
    """Return what the world's clock showed at a moment, without a zone, as templates show it."""
    return WorldClock.of_world().shown(moment)
