"""Whether a step of a plan has brought anything new."""

from __future__ import annotations

from collections.abc import Iterable

from keepsake.agent.plans.next_steps import is_of
from keepsake.agent.plans.pace import PlanStep
from keepsake.agent.plans.plans import Plans
from keepsake.agent.surroundings.naming import place_of
from keepsake.agent.turns.state import Turn
from keepsake.archive.records import Memory
from keepsake.books.plan import Plan
from keepsake.happening import ME, KnownVerb, Result, addressees_of
from keepsake.prompt.verbs import PRIVATE
from keepsake.tasks.conversation import asks

TALK = PRIVATE | {
    KnownVerb.SAY,
    KnownVerb.TALK,
    KnownVerb.WHISPER,
    KnownVerb.EMOTE,
    KnownVerb.WAIT,
}
"""Verbs of words, gestures and uses of the memory: what an agent does without changing anything."""


def count_step(turn: Turn, plans: Plans, plan: Plan) -> None:
    """Count a thought about a plan that has not ended: whether it has brought the plan anything.

    It has if the agent did something else than before, and the game did not refuse that, or if
    somebody of the plan has turned to the agent since the last step. Words that nobody answers
    bring nothing. If somebody else has turned to the agent, nothing is counted.
    """
    memory = turn.tools.memory
    window = memory.memory.context().window
    step = PlanStep(place_of(turn.agent), _deeds_of(turn, window), memory.newest)
    before = plans.steps.fruitless.last.get(plan.number)
    plans.steps.fruitless.last[plan.number] = step
    if before is None or step.place != before.place or not step.deeds <= before.deeds:
        plans.steps.fruitless.fruitful(plan.number)
        return
    turned = [each for each in window if each.number > before.newest and asks(each)]
    if any(each.actor is not None and is_of(plan, each.actor) for each in turned):
        plans.steps.fruitless.fruitful(plan.number)
    elif not any(ME in addressees_of(each.what) for each in turned):
        plans.steps.fruitless.fruitless(plan.number)


def _deeds_of(turn: Turn, window: Iterable[Memory]) -> frozenset[str]:
    """Return the deeds of the last attempt that the game did not refuse, without words."""
    results = (each.what for each in window if isinstance(each.what, Result))
    failed = {each.act for each in results if not each.done}
    acts = turn.last.acts if turn.last is not None else ()
    done = ((act.command, act.memory_number) for act in acts)
    return frozenset(
        command.line
        for command, number in done
        if command is not None and command.verb not in TALK and number not in failed
    )
