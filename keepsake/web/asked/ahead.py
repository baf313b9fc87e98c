"""What an agent will do next and tomorrow: plans before its own words, and words before habit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from keepsake.agent.runtime import runtime
from keepsake.archive.records import Memory
from keepsake.books.plan import PlanState
from keepsake.tracing.content import told_in
from keepsake.web import days, world
from keepsake.web.agent.plan_causes import with_causes_of_all
from keepsake.web.agent.shapes import DayPart, OwnPlan
from keepsake.web.asked.lines import day_and_hour, short, told
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.now import plans as plans_now
from keepsake.web.people.agents import KnownAgent
from keepsake.web.questions.clock import as_shown
from keepsake.web.questions.tomorrow import said_of_days
from keepsake.web.shapes import PlanRow

MOST = 5
"""The most lines: those of tomorrow come before those of today if there are more."""


def ahead(agent: KnownAgent) -> Sequence[AnswerLine]:
    """Return what an agent will do: its plans with a time, and those that others have with it.

    Of tomorrow always something is said: by plans, by what it said itself, or by habit alone.
    Without a plan of today or tomorrow, its promises and its plans without a time follow.
    """
    now = runtime().clock.now()
    day = as_shown(now).date()
    tomorrow = day + timedelta(days=1)
    rows = plans_now.plans()
    timed = [each for each in rows if each.at and agent.name in (each.agent, each.whom)]
    dated = [(as_shown(each.at).date(), each) for each in timed if each.at]
    then = [each for on, each in dated if on == tomorrow][:MOST]
    today = [each for on, each in dated if on <= day][: max(MOST - len(then), 1)]
    lines = [*_planned([*today, *then], agent, now)]
    if not then:
        lines += _unplanned(agent, now)
    if len(lines) < MOST:
        lines += _besides(agent, [each for on, each in dated if on > tomorrow], now)
    return lines[:MOST]


def _planned(plans: Sequence[PlanRow], agent: KnownAgent, now: datetime) -> Iterator[AnswerLine]:
    """Yield plans, each with who asked for it."""
    for each in with_causes_of_all(plans, world.folders()):
        when = day_and_hour(each.at, now) if each.at else each.waits_for
        begun = each.state is PlanState.DOING
        own = each.agent == agent.name
        yield AnswerLine(
            label="Now" if begun else when[:1].upper() + when[1:],
            text=short(each.what if own else f"{each.agent}'s plan: {each.what}"),
            aside=", ".join(_circumstances(each, agent)),
            private=each.private,
            number=each.memory if own else 0,
        )


def _circumstances(plan: OwnPlan, agent: KnownAgent) -> Iterator[str]:
    if plan.place:
        yield f"at {plan.place}"
    if plan.whom and plan.whom != agent.name and plan.whom not in plan.what:
        yield f"with {plan.whom}"
    if plan.cause and plan.cause.source and plan.cause.source != plan.agent:
        yield f"{plan.sender or plan.cause.source} asked"


def _unplanned(agent: KnownAgent, now: datetime) -> Iterator[AnswerLine]:
    """Yield what may be done tomorrow although no plan has it: its own words, else its habit."""
    said = _said(agent, now)
    if said is not None:
        yield AnswerLine(
            label="Said of tomorrow",
            text=told(said, agent.name),
            private=said.confidants is not None,
            number=said.number,
        )
        return
    usual = _usual(agent.id)
    text = f"No plan. Its usual day: {usual}" if usual else "Nothing is planned."
    yield AnswerLine(label="Tomorrow", text=short(text))


def _said(agent: KnownAgent, now: datetime) -> Memory | None:
    """Return the newest words of its own that tell something of tomorrow; None for none."""
    if agent.mind is None:
        return None
    found = said_of_days(agent.mind.memory.folder, agent.name, now, as_shown).tomorrow
    return next((each for each in found if told_in(each.words)), None)


def _usual(number: int) -> str:
    """Return where it is tomorrow, hour by hour: ``06:00 at The Office, 13:00 with Bram``."""
    view = days.day(number)
    parts = view.dates[1].parts if len(view.dates) > 1 else ()
    hours = [(each.since, _there(each)) for each in parts if not each.plan]
    moves = [
        f"{as_shown(since):%H:%M} {there}"
        for at, (since, there) in enumerate(hours)
        if not at or there != hours[at - 1][1]
    ]
    return ", ".join(moves) or view.usual


def _there(part: DayPart) -> str:
    there = [f"at {part.place}" if part.place else "", f"with {part.whom}" if part.whom else ""]
    return " ".join(filter(None, there)) or "".join(part.does[:1])


def _besides(agent: KnownAgent, later: Sequence[PlanRow], now: datetime) -> Iterator[AnswerLine]:
    """Yield plans of later days, and promises for no certain time."""
    yield from _planned(later[:1], agent, now)
    promised = (each for each in plans_now.promises() if each.id == agent.id)
    for each in islice(promised, 2):
        yield AnswerLine(
            label="Promised",
            text=short(f"{each.whom}: {each.text}" if each.whom else each.text),
            private=each.private,
            number=each.memory,
        )
