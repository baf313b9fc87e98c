"""What an agent does by itself at the hours of a day, as its game resolves them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class UsualHours:
    """A span of time in which an agent does one thing, unless a plan is due.

    Attributes:
        since: Its first moment.
        until: The moment after it.
        place: The name of the place; empty if that is not known yet.
        whom: The name of the person with whom the agent is; empty for nobody.
        does: What it does, in the order in which it does so: ``("sells pies", "counts coins")``.
        only_if: What must hold for it, and will: ``("market day",)``.
        unless: The weather in which it would do something else: ``("rain",)``.
    """

    since: datetime
    until: datetime
    place: str = ""
    whom: str = ""
    does: tuple[str, ...] = ()
    only_if: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
