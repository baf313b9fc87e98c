"""Sets an agent off to the place of a plan by itself; its model is asked when it is there.

A call of the model before the walk would only say that it walks. It is asked first if somebody has
to be told, or if something is to be taken along or fetched elsewhere.
"""

from __future__ import annotations

from keepsake.agent.body import Body
from keepsake.agent.plans.plans import ITS_TIME, Plans
from keepsake.agent.surroundings.naming import place_of, spellings_of
from keepsake.agent.surroundings.people import persons_near
from keepsake.agent.surroundings.routes import place_names
from keepsake.agent.surroundings.sights import things_seen
from keepsake.agent.thinker import Thinker
from keepsake.books.plan import Plan
from keepsake.happening import KnownVerb
from keepsake.language.perception import names
from keepsake.prompt.verbs import Command, bare_name

QUIET_SECONDS = 60.0
"""The silence after which an agent leaves a player without a word, in seconds."""


def may_set_off(agent: Body, plan: Plan, thinker: Thinker) -> bool:
    """Return whether an agent can walk to the place of a plan without a thought.

    Not from a talk, not from who is meant by the plan, not away from a thing that it names, and not
    if it names another place: what is to be done there comes first.
    """
    if agent.db.asleep or agent.db.paused or agent.has_account:
        return False
    if not thinker.acts_unprompted or not thinker.presence.is_free(QUIET_SECONDS):
        return False
    whom = plan.whom
    for each in persons_near(agent):
        if names(plan.what, each.name) or (whom is not None and whom.is_same(each)):
            return False
    things = (name for each in things_seen(agent) for name in spellings_of(each, agent))
    if any(names(plan.what, each) for each in things):
        return False
    own = bare_name(plan.where)
    places = {bare_name(each) for each in (*place_names(agent), place_of(agent))} - {own}
    return not any(names(plan.what, each) and each not in own for each in places)


def way_to(place: str) -> Command:
    """Return the command to walk to a place."""
    return Command(KnownVerb.WALK, f"to {place}", words=place)


def come_for(number: int, plans: Plans, missed: str) -> None:
    """Go on with a plan for whose place the agent has set off by itself.

    If its person is not there yet, it goes on when they come.

    Args:
        number: The number of the plan.
        missed: Why the agent did not get there; empty if it did.
    """
    plan = plans.named(number)
    if plan is None:
        return
    if missed or plan.whom is None:
        plans.steps.go_on(plan, missed or ITS_TIME)
    else:
        plans.steps.whys[number] = ITS_TIME
        plans.steps.wait(plan, f"for {plan.whom.name}")
