"""What the world's clock shows at a moment, though the world has changed its time zone since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from keepsake.agent.runtime import runtime
from keepsake.errors import KeepsakeError
from keepsake.paths import earlier_zones


@dataclass(frozen=True, slots=True)
class WorldClock:
    """The world's clock: now it shows the time of the process, before that of earlier zones.

    Attributes:
        earlier: The time zones that the world lived by before, oldest first, each with its end.
    """

    earlier: Sequence[tuple[str, datetime]] = ()

    @classmethod
    def of_world(cls) -> WorldClock:
        """Return the clock of the running world; quick, and safe in any thread."""
        try:
            return cls(earlier_zones(runtime().places.agents))
        except KeepsakeError:  # the agents are not running
            return cls()

    def shown(self, moment: datetime) -> datetime:
        """Return what the clock showed at a moment, without a zone."""
        zone = next((ZoneInfo(name) for name, end in self.earlier if moment < end), None)
        return moment.astimezone(zone).replace(tzinfo=None)

    def moment_of(self, shown: datetime) -> datetime:
        """Return the moment at which the clock showed a time; ``shown`` has no zone."""
        for name, end in self.earlier:
            moment = shown.replace(tzinfo=ZoneInfo(name))
            if moment < end:
                return moment
        return shown.astimezone()
