"""What came back for an errand that was whispered, for the turns that bring it home.

Mira asks Nell in a whisper, by leave of Bob, who sent her. Nell whispers back, and Bob does not
know what. A turn about the errand shows it nevertheless, beside Bob's plan. Nobody may know all
that such an answer says, and each of its words needs leave: to Bob by Nell, to Nell by Bob.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keepsake.agent.attention import ImpulseKind
from keepsake.agent.turns.context import TurnContext
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.plan import Plan


def with_replies(context: TurnContext, plan: Plan | None, window: Sequence[Memory]) -> TurnContext:
    """Return the context of a turn with what its prompt shows of an errand that was whispered.

    Args:
        plan: The plan that the agent is about; None for none.
        window: The agent's newest memories.
    """
    if plan is None or plan.confided is None or not _is_for(context, plan):
        return replace(context, replies=frozenset())
    said = [x for x in window if x.is_own and x.allowed_by and x.plan == plan.number]
    asked = [each for each in said if each.to_id not in plan.confided]
    brought = max((each.number for each in said if each.to_id in plan.confided), default=0)
    shown = {each.number for each in asked}
    # Of one person: nobody could allow that the answers of two be passed on together.
    for last in asked[-1:]:
        replies = (m.number for m in window if _is_reply(m, last, brought))
        shown.update(replies)
    return replace(context, replies=frozenset(shown))


def _is_reply(memory: Memory, asked: Memory, brought: int) -> bool:
    """Return whether a memory is what one who was asked has whispered back since.

    Args:
        asked: The agent's own words to them.
        brought: The newest memory of which the agent has brought back what it was told.
    """
    is_theirs = memory.kind is MemoryKind.PERCEPTION and memory.source_id == asked.to_id
    is_private = memory.confidants == frozenset({asked.to_id})
    return is_theirs and is_private and memory.number > max(asked.number, brought)


def _is_for(context: TurnContext, plan: Plan) -> bool:
    """Return whether a turn is about a plan, or answers those alone who may know of it."""
    if context.impulse.kind is ImpulseKind.PLAN:
        return context.impulse.plan == plan.number
    audience = context.audience
    return bool(audience) and (plan.confided or frozenset()).issuperset(audience)
