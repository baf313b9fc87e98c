"""What was whispered back for an errand, for the turns that bring it home.

Mira asks Nell in a whisper, by leave of Bob, who sent her. Nell whispers back, and Bob does not
know what. A turn about the errand shows it nevertheless, beside Bob's plan. Nobody may know all
that such an answer says, and each of its words needs leave: to Bob by Nell, to Nell by Bob.

Bob may also send her aloud: "Ask Nell quietly". Then she needs no leave to ask, and what Nell
whispers back needs Nell's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.turns.context import TurnContext
from keepsake.archive.privacy import Audience, is_private
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.plan import Plan
from keepsake.happening import PersonId
from keepsake.tasks.conversation import asks


def with_replies(context: TurnContext, plan: Plan | None, window: Sequence[Memory]) -> TurnContext:
    """Return the context of a turn with what its prompt shows of an errand that was whispered.

    Args:
        plan: The plan that the agent is about; None for none.
        window: The agent's newest memories.
    """
    if plan is None or not _is_for(context, plan, window):
        return replace(context, replies=frozenset())
    theirs = _senders_of(plan, window)
    said = [x for x in window if x.is_own and is_said_for(x, plan, window)]
    asked = [each for each in said if each.to_id not in theirs]
    brought = max((each.number for each in said if each.to_id in theirs), default=0)
    shown = {each.number for each in asked}
    # Of one person: nobody could allow that the answers of two be passed on together.
    whom = asked[-1].to_id if asked else ""
    since = [each for each in asked if each.to_id == whom and each.number > brought]
    for first in since[:1]:
        shown.update(m.number for m in window if _is_reply(m, first))
    return replace(context, replies=frozenset(shown))


def _is_reply(memory: Memory, asked: Memory) -> bool:
    """Return whether a memory is what one who was asked has whispered back since.

    ``asked``: The agent's first words to them of which it has not brought back the answer.
    """
    is_theirs = memory.kind is MemoryKind.PERCEPTION and memory.source_id == asked.to_id
    is_for_agent_alone = memory.confidants == frozenset({asked.to_id})
    return is_theirs and is_for_agent_alone and memory.number > asked.number


def is_said_for(said: Memory, plan: Plan, window: Sequence[Memory]) -> bool:
    """Return whether own words are a whisper for a plan: by leave, or the first for an open one.

    What is whispered for an open plan after a whispered answer only answers that.
    """
    if said.plan != plan.number or said.allowed_by:
        return said.plan == plan.number
    if plan.confided is not None or said.said is None or not is_private(said):
        return False
    since = (x for x in window if plan.since < x.number < said.number and x.heard is not None)
    return not any(is_private(each) and each.source_id == said.to_id for each in since)


def _senders_of(plan: Plan, window: Sequence[Memory]) -> Audience:
    """Return who sent the agent on an errand: who alone knows of it, or who asked for it aloud."""
    if plan.confided is not None:
        return plan.confided
    asker = asker_of(plan, window)
    return frozenset({asker} - {""})


def asker_of(plan: Plan, window: Sequence[Memory]) -> PersonId:
    """Return whose words to the agent a plan answers; empty if that is nobody, or long ago.

    ``window``: The agent's newest memories.
    """
    act = next((each for each in window if each.number == plan.since), None)
    rests_on = act.rests_on if act is not None else ()
    answered = (x for x in reversed(window) if x.number in rests_on and asks(x))
    return next((each.source_id for each in answered), "")


def _is_for(context: TurnContext, plan: Plan, window: Sequence[Memory]) -> bool:
    """Return whether a turn is about a plan, or answers those alone who sent the agent."""
    if context.impulse.kind is ImpulseKind.PLAN:
        return context.impulse.plan == plan.number
    audience = context.audience
    return bool(audience) and _senders_of(plan, window).issuperset(audience)
