"""Words that an agent carries for somebody, and what another agent answers to them.

Bob has sent Mira to Nell, whom she asks in a whisper. Nell's prompt says that the words are carried
for somebody else, who will hear the answer; it does not say for whom. In private it holds only what
belongs to the errand. So Nell's plain lines are an answer to Bob, and no leave need be asked when
Mira brings them home. What Nell whispers by a deed of its own is for Mira alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keepsake.agent.acting.acts import Carried
from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.turns.consent.replies import asker_of
from keepsake.agent.turns.context import TurnContext
from keepsake.agent.turns.waiting import unanswered
from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience
from keepsake.archive.records import Memory, MemoryFacts
from keepsake.books.plan import Plan
from keepsake.happening import Person, PersonId
from keepsake.language.perception import names

TOLD = (
    "{0} says this for somebody else, who will hear your plain lines. A line that only {0} may"
    " know begins with > whisper {0} ="
)
"""What the prompt of an agent says that answers carried words."""
_OF = ":"
"""Stands between the identity of who is on an errand and the number of the plan."""


def carried_for(
    plan: Plan,
    to: Person,
    words: str,
    *,
    by: PersonId,
    allowed_by: Sequence[PersonId],
    window: Sequence[Memory],
    known: Sequence[Person],
) -> Carried | None:
    """Return for whom an agent carries a whisper; None if it is its own.

    Args:
        plan: The plan that the agent is about.
        by: The identity of the agent.
        allowed_by: Who allowed the words by leave; nobody for words that need none.
        window: The agent's newest memories.
        known: The people whom the agent knows.
    """
    senders: Sequence[PersonId] = ()
    if allowed_by:
        is_theirs = plan.private is not None and plan.private.issuperset(allowed_by)
        senders = allowed_by if is_theirs else ()
    elif plan.confided is None and not _has_answered(to.id, plan, window):
        senders = [asker_of(plan, window)]
    senders = tuple(each for each in senders if each and each != to.id)
    if not senders:
        return None
    named = tuple(each.id for each in known if each.id in senders and names(words, each.name))
    return Carried(f"{by}{_OF}{plan.number}", senders, named)


def _is_of(errand: str, agent: PersonId) -> bool:
    """Return whether an agent itself is on an errand."""
    return errand.startswith(f"{agent}{_OF}")


def _has_answered(who: PersonId, plan: Plan, window: Sequence[Memory]) -> bool:
    """Return whether somebody has answered what the agent said to them for a plan.

    What is whispered to them then only answers that.
    """
    for_plan = (each for each in window if each.plan == plan.number and each.to_id == who)
    first = next((each.number for each in for_plan if each.said is not None), None)
    if first is None:
        return False
    return any(x.number > first and x.heard is not None and x.source_id == who for x in window)


def with_errand(context: TurnContext, tools: MemoryTools, agent: PersonId) -> TurnContext | None:
    """Return the context of an answer to carried words; None for any other turn.

    Its prompt holds the errand's own words, and what whoever carries them and who sent them both
    know, if the words name these. Plans that the agent has with the partner alone must stay in
    sight: then it is an answer to the partner.

    ``agent``: The identity of the agent.
    """
    partner = context.partner
    if partner is None or not context.whispered or context.impulse.kind is ImpulseKind.PLAN:
        return None
    window = tools.memory.memory.context().window
    waiting = unanswered(window, context.impulse, tools.memory.passed_over, partner).memories
    errands = {each.errand for each in waiting}
    errand = next(iter(errands), "")
    if not errand or len(errands) > 1 or _is_of(errand, agent):
        return None
    groups = [each.confidants for each in waiting if each.confidants is not None]
    knowing = frozenset.intersection(*groups) if groups else NO_PRIVATE_WORDS
    audience = knowing if len(knowing) > 1 else NO_PRIVATE_WORDS
    current = tools.books.plans.current
    if any(_is_hidden(each, partner.id, audience) for each in current):
        return None
    exchange = frozenset(each.number for each in window if each.errand == errand)
    return replace(context, audience=audience, replies=exchange, errand=errand)


def _is_hidden(plan: Plan, partner: PersonId, audience: Audience) -> bool:
    """Return whether the partner knows of a plan that a prompt for this audience would hide."""
    if plan.private is None or partner not in plan.private:
        return False
    return plan.as_known_to(audience) is None


def brought_by(
    errand: str, speaker: PersonId, agent: PersonId, window: Sequence[Memory]
) -> MemoryFacts:
    """Return who may know of a whisper that answers one of the agent's own: who sent the agent.

    Args:
        errand: The errand that the whisper answers; empty for none.
        speaker: Who whispers.
        agent: The identity of the agent.
        window: The agent's newest memories.
    """
    if not errand or not _is_of(errand, agent):
        return MemoryFacts()
    mine = (x for x in reversed(window) if x.said is not None and x.to_id == speaker)
    asked = next((each for each in mine if each.errand == errand), None)
    if asked is None or asked.confidants is None:
        return MemoryFacts()
    return MemoryFacts(witnesses=tuple(sorted(asked.confidants)))
