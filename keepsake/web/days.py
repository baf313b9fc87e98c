"""What an agent will do today and tomorrow: the hours that its game resolves, and its plans."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from itertools import pairwise

from keepsake.agent.agent_log import call_hook
from keepsake.agent.runtime import now
from keepsake.books.plan import Plan
from keepsake.books.usual_hours import UsualHours
from keepsake.contrib.evennia.minds import mind_by_number
from keepsake.web.agent.shapes import DateView, DayPart, DayView
from keepsake.web.privacy import kept_for
from keepsake.web.world import agent_with, on_reactor

DAYS = 2
"""Today and tomorrow."""


@on_reactor
def day(number: int) -> DayView:
    """Return what an agent will do today and tomorrow, as the game and its plans say it."""
    agent = agent_with(number)
    mind = mind_by_number(agent.id)
    plans = mind.books.plans.current if mind is not None else ()
    moment = now().astimezone()
    today = moment.date()
    begins = [_midnight(today + timedelta(days=each)) for each in range(DAYS + 2)]
    # With the day after, so that tomorrow's last hours have their end.
    none: Sequence[object] = ()
    usual = call_hook(agent, "hours_between", Sequence, none, begins[0], begins[-1])
    parts = [DayPart.model_validate(each) for each in usual if isinstance(each, UsualHours)]
    planned = [_planned(each, each.at) for each in plans if each.at]
    # A plan stands before hours that begin at the same moment, because it is done first.
    parts = sorted([*planned, *parts], key=lambda each: each.since)
    return DayView(
        usual=call_hook(agent, "usual_day", str, ""),
        place=agent.location.key if agent.location else "",
        due=tuple(part for part in parts if part in planned and part.since <= moment),
        now=next((part for part in parts if _holds(part, moment)), None),
        next=next((part for part in parts if moment < part.since < begins[DAYS]), None),
        dates=tuple(
            DateView(date=since, parts=tuple(part for part in parts if since <= part.since < until))
            for since, until in pairwise(begins[: DAYS + 1])
        ),
    )


def _midnight(day: date) -> datetime:
    """Return the first moment of a date in the world's time zone."""
    return datetime.combine(day, time.min).astimezone()


def _holds(part: DayPart, moment: datetime) -> bool:
    return part.until is not None and part.since <= moment < part.until


def _planned(plan: Plan, at: datetime) -> DayPart:
    return DayPart(
        since=at,
        until=None,
        place=plan.where,
        whom=plan.whom.name if plan.whom else "",
        does=(plan.what,),
        plan=plan.number,
        begun=plan.is_begun,
        private=kept_for(plan.confided),
    )
