"""What an agent will do next, today and tomorrow: by plan and promise, else habit, else words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice

from keepsake.agent.runtime import runtime
from keepsake.archive.records import Memory
from keepsake.books.plan import PlanState
from keepsake.web import days, world
from keepsake.web.agent.plan_causes import with_causes_of_all
from keepsake.web.agent.promised import promises_of
from keepsake.web.agent.shapes import DayPart, DayView, OwnPlan
from keepsake.web.asked.lines import short, short_date, told
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.now import plans as plans_now
from keepsake.web.people.agents import KnownAgent
from keepsake.web.privacy import privacy_of
from keepsake.web.questions.clock import as_shown
from keepsake.web.questions.tomorrow import said_of_days
from keepsake.web.shapes import PromiseRow

MOST = 3
"""The most plans and promises of a day that are named."""
PART = timedelta(hours=3)
"""How long a part of a day is, about: morning, noon, afternoon."""
MOST_LATER = 3
"""The most plans and promises of later days that are named."""
MOST_PROMISED = 2
"""The most plans without a time that are named, and the most promises without a day."""
_NOW = "Now"
_DUE = "Due"
_NEXT = "Next"
_WITHOUT_HOUR = (_NOW, _DUE, _NEXT)
"""Labels that do not say when."""
_TODAY = "today"
_DAYS = (_TODAY, "tomorrow")


@dataclass(frozen=True, slots=True)
class _Ahead:
    """A plan or a promise, and when it is due by the world's clock."""

    shown: datetime
    plan: OwnPlan | None = None
    promise: PromiseRow | None = None

    @property
    def day(self) -> date:
        return self.shown.date()

    @property
    def hour(self) -> str:
        """The hour, or the part of the day; empty if it names a day alone."""
        if self.promise is not None and self.promise.whole_day:
            return self.promise.part
        return f"{self.shown:%H:%M}"

    def is_to_come(self, now: datetime) -> bool:
        """Return whether its time, or its whole day, is not past; ``now``: as the clock shows."""
        if self.promise is None or not self.promise.whole_day:
            return self.shown >= now
        return self.shown + PART >= now if self.promise.part else self.day >= now.date()


def ahead(agent: KnownAgent) -> Sequence[AnswerLine]:
    """Return what an agent will do next, today and tomorrow, in this order; then what comes later.

    Promises for a certain day stand among the plans, its own and those of others with it. Of each
    of the two days always something is said, if only what is usual.
    """
    now = as_shown(runtime().clock.now())
    promised = promises_of(agent.id, world.folders())
    found = [*_planned(agent), *_dated(promised)]
    found.sort(key=lambda each: each.shown)
    begun = [each for each in found if each.plan and each.plan.state is PlanState.DOING]
    late = [each for each in found if not each.is_to_come(now) and each not in begun]
    coming = [each for each in found if each.is_to_come(now) and each not in begun]
    day = days.day(agent.id)
    lines = [_line(_NOW, each, agent, now) for each in begun]
    lines += [_line(_DUE, each, agent, now) for each in late if each.day == now.date()]
    soon = [each for each in coming if each.day <= _day_after(now)]
    # What is usual comes next if it is the earlier.
    usual = as_shown(day.next.since) if day.next else None
    first = [each for each in coming[:1] if usual is None or each.shown <= usual]
    lines += _next(first, day, agent, now)
    lines += _two_days([each for each in soon if each not in first], first, day, agent, now)
    later = [each for each in coming if each not in soon and each not in first]
    lines += [_line(_when(each), each, agent, now) for each in later[:MOST_LATER]]
    lines += [
        _line(f"Was for {short_date(each.day)}", each, agent, now)
        for each in late
        if each.day < now.date()
    ]
    lines += _at_any_time(promised, agent, now)
    if not any(_hours(day, now, each) for each in range(days.DAYS)):
        lines += _said(agent, [each.day for each in found])
    return lines


def _day_after(now: datetime) -> date:
    return now.date() + timedelta(days=1)


def _when(item: _Ahead) -> str:
    return ", ".join(filter(None, [short_date(item.day), item.hour]))


def _planned(agent: KnownAgent) -> Iterator[_Ahead]:
    """Yield the plans with a time, its own and those of others with it, with who asked for them."""
    rows = plans_now.plans()
    timed = [each for each in rows if each.at and agent.name in (each.agent, each.whom)]
    for each in with_causes_of_all(timed, world.folders()):
        if each.at:
            yield _Ahead(as_shown(each.at), plan=each)


def _dated(promised: Sequence[PromiseRow]) -> Iterator[_Ahead]:
    """Yield the promises for a certain day, but those that a plan will keep."""
    for each in promised:
        if each.at and not each.plan:
            yield _Ahead(as_shown(each.at), promise=each)


def _next(
    first: Sequence[_Ahead], day: DayView, agent: KnownAgent, now: datetime
) -> Iterator[AnswerLine]:
    """Yield what comes next: a plan or a promise, else what is usual."""
    for each in first:
        to = _named(each.day, now)
        yield _line(_NEXT, each, agent, now, "" if to == _TODAY and each.hour else to)
    if not first:
        known = short(_usual_part(day.next, now)) if day.next else "Nothing is known."
        yield AnswerLine(label=_NEXT, text=known)


def _two_days(
    besides: Sequence[_Ahead],
    first: Sequence[_Ahead],
    day: DayView,
    agent: KnownAgent,
    now: datetime,
) -> Iterator[AnswerLine]:
    """Yield what today and tomorrow have besides what comes ``first``, each with its date."""
    before = ""
    hours_of = [_hours(day, now, far) for far in range(days.DAYS)]
    usual = "" if any(hours_of) else day.usual  # late in the evening nothing is left of today
    for far, hours in enumerate(hours_of):
        date_of = now.date() + timedelta(days=far)
        label = f"{_named(date_of, now).capitalize()}, {short_date(date_of)}"
        of_day = [each for each in besides if each.day == date_of][:MOST]
        yield from (_line(label, each, agent, now, hour=True) for each in of_day)
        if not of_day:
            is_else = any(each.day == date_of for each in first)
            yield AnswerLine(label=label, text=_no_plan(is_else, hours, before, usual))
        before = hours


def _no_plan(is_else: bool, hours: str, before: str, usual: str) -> str:
    """Return what is said of a day without a plan: what is usual then, unless it is as before."""
    head = "No other plan" if is_else else "No plan"
    if hours and hours == before:
        return f"{head}; usually as today"
    known = hours or usual
    return f"{head}; usually {known}" if known else head


def _named(day: date, now: datetime) -> str:
    """Return a day in a word, or its date if it is neither today nor tomorrow."""
    far = (day - now.date()).days
    return _DAYS[far] if 0 <= far < len(_DAYS) else short_date(day)


def _line(
    label: str, item: _Ahead, agent: KnownAgent, now: datetime, to: str = "", *, hour: bool = False
) -> AnswerLine:
    """Return a plan or a promise in a line.

    Args:
        to: The day in a word, where the label does not say it.
        hour: Whether the label has a date and no hour.
    """
    with_hour = hour or label in _WITHOUT_HOUR
    when = ", ".join(filter(None, [to, item.hour if with_hour else ""]))
    if item.plan is not None:
        own = item.plan.agent == agent.name
        mark = ": " if own and not item.plan.promised else ", "
        what = _planned_text(item.plan, agent)
        aside = ", ".join(_circumstances(item.plan, agent))
        private = item.plan.private
        number = item.plan.memory if own else 0
    else:
        assert item.promise is not None
        mark = ", "
        what, aside = _promised(item.promise, now)
        private = item.promise.private
        number = item.promise.memory
    return AnswerLine(
        label=label,
        text=short(f"{when}{mark}{what}" if when else what),
        aside=aside,
        private=private,
        number=number,
    )


def _planned_text(plan: OwnPlan, agent: KnownAgent) -> str:
    """Return a plan in words: its own, one that only reminds of a promise, or another's."""
    if plan.agent != agent.name:
        return f"{plan.agent}'s plan: {plan.what}"
    return _promise_text(plan.whom, plan.what) if plan.promised else plan.what


def _promise_text(whom: str, text: str) -> str:
    return f"promised {whom}: {text}" if whom else f"promised: {text}"


def _promised(row: PromiseRow, now: datetime) -> tuple[str, str]:
    """Return a promise in words, and when it was said if its words may mean another day.

    Then each "tomorrow" in them has its date, and the words that give the hour stand beside it.
    """
    said = as_shown(row.said).date() if row.said else now.date()
    aside = []
    if said != now.date():
        aside.append(f"said on {short_date(said)}")
    if row.when_said:
        aside.append(f"“{row.when_said}”")
    return _promise_text(row.whom, row.dated or row.text), ": ".join(aside)


def _circumstances(plan: OwnPlan, agent: KnownAgent) -> Iterator[str]:
    if plan.place:
        yield f"at {plan.place}"
    named = plan.promised or plan.whom in plan.what
    if plan.whom and plan.whom != agent.name and not named:
        yield f"with {plan.whom}"
    if plan.cause and plan.cause.source and plan.cause.source != plan.agent:
        yield f"{plan.sender or plan.cause.source} asked"


def _at_any_time(
    promised: Sequence[PromiseRow], agent: KnownAgent, now: datetime
) -> Iterator[AnswerLine]:
    """Yield what waits for somebody or something, and what is promised for no certain day."""
    waiting = (each for each in plans_now.plans() if each.id == agent.id and each.at is None)
    for plan in islice(waiting, MOST_PROMISED):
        label = plan.waits_for[:1].upper() + plan.waits_for[1:] or "At any time"
        yield AnswerLine(
            label=label, text=short(plan.what), private=plan.private, number=plan.memory
        )
    undated = (each for each in promised if not each.at and not each.plan)
    for each in islice(undated, MOST_PROMISED):
        yield AnswerLine(
            label="Promised",
            text=short(_promised(each, now)[0].removeprefix("promised").lstrip(" :")),
            aside=_promised(each, now)[1],
            private=each.private,
            number=each.memory,
        )


def _said(agent: KnownAgent, known: Sequence[date]) -> Iterator[AnswerLine]:
    """Yield its newest words of tomorrow, if nothing else is known of that day."""
    found = _said_of_tomorrow(agent, known)
    if found is not None:
        yield AnswerLine(
            label="Said of tomorrow",
            text=told(found, agent.name),
            aside=f"on {short_date(as_shown(found.time).date())}",
            private=privacy_of(found),
            number=found.number,
        )


def _said_of_tomorrow(agent: KnownAgent, known: Sequence[date]) -> Memory | None:
    now = runtime().clock.now()
    if agent.mind is None or _day_after(as_shown(now)) in known:
        return None
    found = said_of_days(agent.mind.memory.folder, agent.name, now, as_shown)
    return next(iter(found.tomorrow), None)


# -- what is usual


def _usual_part(part: DayPart, now: datetime) -> str:
    """Return what is usual next: ``usually 06:00 at The Kettle: kneads the bread``."""
    since = as_shown(part.since)
    to = "" if since.date() == now.date() else f"{_named(since.date(), now)}, "
    there = _there(part)
    deed = next(iter(part.does), "")
    what = f"{there}: {deed}" if there != deed else deed
    return f"usually {to}{since:%H:%M} {what}"


def _hours(view: DayView, now: datetime, far: int) -> str:
    """Return where it usually is on a day: ``06:00 The Office, 13:00 with Bram``; or nothing.

    ``far``: 0 for today, of which the hours to come are told, 1 for tomorrow.
    """
    parts = view.dates[far].parts if len(view.dates) > far else ()
    usual = [each for each in parts if not each.plan]
    # By moments, because the world may have lived by another clock earlier today.
    moment = runtime().clock.now()
    usual = [each for each in usual if each.since >= moment]
    hours = [(as_shown(each.since), _there(each).removeprefix("at ")) for each in usual]
    moves = [
        f"{since:%H:%M} {there}"
        for at, (since, there) in enumerate(hours)
        if not at or there != hours[at - 1][1]
    ]
    return ", ".join(moves)


def _there(part: DayPart) -> str:
    there = [f"at {part.place}" if part.place else "", f"with {part.whom}" if part.whom else ""]
    return " ".join(filter(None, there)) or "".join(part.does[:1])
