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
from keepsake.archive.privacy import Audience
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
    said = [x for x in window if x.is_own and is_said_for(x, plan)]
    asked = [each for each in said if each.to_id not in theirs]
    home = (x for x in window if x.said is not None and _is_brought(x, plan, asked, window))
    brought = max((each.number for each in home if each.to_id in theirs), default=0)
    shown = {each.number for each in asked}
    # Of one person: nobody could allow that the answers of two be passed on together.
    whom = asked[-1].to_id if asked else ""
    since = [each for each in asked if each.to_id == whom and each.number > brought]
    for first in since[:1]:
        shown.update(m.number for m in window if _is_reply(m, first, theirs))
    return replace(context, replies=frozenset(shown))


def _is_brought(
    said: Memory, plan: Plan, asked: Sequence[Memory], window: Sequence[Memory]
) -> bool:
    """Return whether own words for a plan may bring home an answer: by leave, or behind one.

    ``asked``: What the agent has whispered for the plan.
    """
    if said.plan != plan.number or said.allowed_by:
        return said.plan == plan.number
    errands = {each.errand for each in asked} - {""}
    answers = (each.number for each in window if each.heard is not None and each.errand in errands)
    return said.number > next(answers, said.number)


def _is_reply(memory: Memory, asked: Memory, senders: Audience) -> bool:
    """Return whether a memory is what one who was asked has whispered back since.

    Args:
        asked: The agent's first words to them of which it has not brought back the answer.
        senders: Who sent the agent.
    """
    known = memory.confidants or frozenset()
    is_theirs = memory.kind is MemoryKind.PERCEPTION and memory.source_id == asked.to_id
    is_private = asked.to_id in known and known <= {asked.to_id, *senders}
    return is_theirs and is_private and memory.number > asked.number


def is_said_for(said: Memory, plan: Plan) -> bool:
    """Return whether own words are a whisper for a plan: by leave, or for who asked aloud."""
    return said.plan == plan.number and bool(said.allowed_by or said.errand)


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
