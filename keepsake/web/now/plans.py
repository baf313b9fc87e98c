"""The plans and promises of all agents.

Everything here runs on the reactor thread, and is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from keepsake.agent.mind import Mind
from keepsake.agent.plans.shown_plans import promise_of
from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.books.plan import Plan, PlanState
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import (
    mind_by_number,
)
from keepsake.happening import PersonId
from keepsake.web.now.away import away_player
from keepsake.web.privacy import kept_by
from keepsake.web.questions.clock import as_shown, moment_of
from keepsake.web.shapes import PlanRow, PromiseRow
from keepsake.web.world import on_reactor

MOST_PLANS = 200
"""The most open plans of one answer, those due first, the most that have ended, and the most
promises."""


@on_reactor
def plans(*, ended: bool = False) -> list[PlanRow]:
    """Return the open plans of all agents: those with a time first, the next one first of all.

    ``ended``: Whether those that have ended lately follow, the one that was due last first.
    """
    is_away = _asked_once()
    found = [
        _row_of(agent.id, agent.key, each, mind, is_away)
        for agent in all_agents()
        if (mind := mind_by_number(agent.id)) is not None
        for each in (mind.books.plans.items if ended else mind.books.plans.current)
    ]
    found.sort(key=lambda each: (each.at is None, each.at.timestamp() if each.at else 0.0))
    current = [each for each in found if not each.state.has_ended]
    past = [each for each in found if each.state.has_ended]
    past.sort(key=lambda each: each.at.timestamp() if each.at else 0.0, reverse=True)
    return current[:MOST_PLANS] + past[:MOST_PLANS]


@on_reactor
def plans_of(number: int, name: str, mind: Mind) -> list[PlanRow]:
    """Return the plans of an agent, in the order of its file: also those that have ended lately."""
    is_away = _asked_once()
    return [_row_of(number, name, each, mind, is_away) for each in mind.books.plans.items]


def _row_of(
    number: int, name: str, plan: Plan, mind: Mind, is_away: Callable[[PersonId], bool]
) -> PlanRow:
    row = PlanRow.of(number, name, plan, mind.books.commitments.items)
    if plan.state.has_ended or plan.whom is None:
        return row
    return row.model_copy(update={"away": is_away(plan.whom.id)})


@on_reactor
def promises() -> list[PromiseRow]:
    """Return the open promises of all agents, those of each agent in the order of its file.

    One whose plan is done is not open, although its agent has not said that it is kept.
    """
    is_away = _asked_once()
    found = [
        row
        for agent in all_agents()
        if (mind := mind_by_number(agent.id)) is not None
        for row in _promises_of(mind, agent.id, agent.key, is_away)
    ]
    return found[:MOST_PLANS]


def _asked_once() -> Callable[[PersonId], bool]:
    """Return whether somebody is a player who is not in the game; asked once for each person."""
    return cache(lambda key: away_player(key) is not None)


def _promises_of(
    mind: Mind, number: int, name: str, is_away: Callable[[PersonId], bool]
) -> Iterator[PromiseRow]:
    made = mind.books.commitments.items
    planned = {promise_of(each, made): each.number for each in mind.books.plans.current}
    done = [each for each in mind.books.plans.items if each.state is PlanState.DONE]
    kept = {promise for each in done if is_for(each, promise := promise_of(each, made))}
    for each in made:
        if each.kind is CommitmentKind.PROMISE and (each in planned or each not in kept):
            yield PromiseRow(
                id=number,
                agent=name,
                whom=each.who,
                text=each.text,
                memory=each.number,
                private=kept_by(mind.memory.private, (each.number,)) if each.aloud is None else "",
                at=moment_of(each.due.begins) if each.due else None,
                whole_day=each.due is not None and each.due.hour is None,
                part=each.due.part if each.due else "",
                plan=planned.get(each, 0),
                away=is_away(each.key),
            )


def is_for(plan: Plan, promise: Commitment | None) -> bool:
    """Return whether a plan has the day of a promise, and its hour if it has one.

    Without a time that is not known: the plan may have been for another promise to the same person.
    """
    if promise is None or promise.due is None or plan.at is None:
        return False
    at = as_shown(plan.at)
    hour = promise.due.hour
    same_hour = hour is None or (at.hour, at.minute) == (hour.hour, hour.minute)
    return at.date() == promise.due.day and same_hour
