"""What a prompt shows of the agent's plans, and what it only marks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from keepsake.agent.body import Body
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.plans.due import Silence
from keepsake.agent.plans.plans import Plans
from keepsake.agent.plans.shown_plans import (
    done_for,
    known_line_of,
    line_of,
    lines_of,
    plain_line_of,
    progress_of,
    promise_of,
    short_line_of,
)
from keepsake.agent.surroundings.people import persons_near
from keepsake.agent.turns.context import TurnContext
from keepsake.archive.privacy import NO_PRIVATE_WORDS, PrivateShown, PrivateWords
from keepsake.archive.records import Memory
from keepsake.books.plan import Plan
from keepsake.happening import Person
from keepsake.language.perception import names
from keepsake.tasks.scene import Scene


def spoken_of_by(agent: Body, context: TurnContext, tools: MemoryTools) -> tuple[Person, ...]:
    """Return the people whom the words that a turn answers name, as far as the agent knows them.

    Words that answer what the agent has carried to somebody are about who was named then.
    """
    people = {each.id: each for each in (*tools.people_known, *persons_near(agent)) if each.id}
    words = f"{context.words} {_carried_to(context, tools)}"
    return tuple(each for each in people.values() if names(words, each.name))


def _carried_to(context: TurnContext, tools: MemoryTools) -> str:
    """Return the last words that the agent has carried to whom it answers; empty for none."""
    partner = context.partner
    if partner is None or not partner.id:
        return ""
    said = (x for x in reversed(tools.memory.memory.context().window) if x.said is not None)
    theirs = (each for each in said if each.to_id == partner.id)
    return next((each.words for each in theirs if each.errand), "")


def with_plans(
    scene: Scene,
    context: TurnContext,
    tools: MemoryTools,
    window: Sequence[Memory],
    may: PrivateShown,
    *,
    spoken_of: Sequence[Person],
) -> Scene:
    """Return the scene with plans: open ones, missed ones, and the one that is due.

    ``spoken_of``: Whom the words that are answered name.
    """
    plans = tools.plans
    if plans is None:
        return scene
    impulse = context.impulse
    due = plans.named(impulse.plan) if impulse.plan else None
    shown = plans.shown(context.audience)
    missed = plans.missed(context.audience)
    for plan in (*shown, *missed):
        may.may_hear([plan.since])
    private = tools.memory.private.without(context.without)
    known = [each for each in shown if _is_open(each, private)]
    others = [each for each in shown if each not in known]
    due_number = due.number if due is not None else 0
    begun = (
        progress_of(each, plans.steps.waits.get(each.number, ""))
        for each in known
        if each.number != due_number
    )
    hidden = _kept_from_others(
        plans, context, {due_number, *(each.number for each in shown)}, spoken_of
    )
    scene = replace(
        scene,
        may_plan=plans.enabled,
        plans=lines_of(shown, plans.steps.waits),
        intentions=tuple(map(plain_line_of, shown)),
        open_plans=tuple(map(known_line_of, known)),
        progress=(*begun, *hidden),
        private_plans=lines_of([x for x in others if x.number != due_number], plans.steps.waits),
        missed=lines_of(missed),
    )
    if due is None:
        return scene
    # A plan that nobody here may know of is shown: the agent acts on it and says nothing.
    theirs = due.as_known_to(context.audience) or due
    reasons = [impulse.why, _silence_of(plans.steps.silences.get(due.number), window)]
    why = "; ".join(dict.fromkeys(filter(None, reasons)))
    why = f" ({why})"
    done = done_for(theirs, window)
    same_answer = (
        each
        for each in tools.memory.commitments.items
        if not _heard_between(each.number, due.since, window)
    )
    promise = promise_of(due, same_answer)
    if promise is not None and may.may_hear([promise.number]):
        why += f" (you promised it: when it is done, also write > kept {promise.number})"
    short = short_line_of(theirs, done) if theirs in known else ""
    return replace(
        scene, due=f"{line_of(theirs, done)}{why}", due_now=f"{short}{why}" if short else ""
    )


def _heard_between(one: int, other: int, window: Sequence[Memory]) -> bool:
    """Return whether somebody spoke to the agent between two of its memories."""
    first, last = sorted((one, other))
    between = (each.heard for each in window if first < each.number < last)
    return any(heard is not None and heard.is_to_me_or_all for heard in between)


def _kept_from_others(
    plans: Plans, context: TurnContext, shown: Collection[int], spoken_of: Sequence[Person]
) -> tuple[str, ...]:
    """Return a mark for each plan that the prompt may not show, but that the agent can end.

    These are plans of which the partner knows, and not all others who hear the answer; plans with
    the partner, for which somebody else has asked; and plans of those of whom the partner speaks,
    who may have sent them to call one off. A mark tells nothing of the plan. So the agent does not
    make it again.
    """
    partner = context.partner
    if not plans.enabled or partner is None or not partner.id:
        return ()
    marks = []
    for each in plans.book.current:
        if each.number in shown or each.private is None:
            continue
        theirs = (x.name for x in (partner, *spoken_of) if each.is_of({x.id}))
        if partner.id in each.private:
            marks.append(f"{each.number}. what you and {partner.name} keep from others here")
        elif name := next(theirs, ""):
            marks.append(f"{each.number}. something with {name} that is private: say nothing of it")
    return tuple(marks)


def _is_open(plan: Plan, private: PrivateWords) -> bool:
    """Return whether everybody may know of a plan, and of the memory that it rests on."""
    return plan.private is None and private.may_hear([plan.since], NO_PRIVATE_WORDS)


def _silence_of(silence: Silence | None, window: Sequence[Memory]) -> str:
    """Return whether somebody has answered since a plan waited for them; empty for nobody."""
    if silence is None:
        return ""
    who = silence.person
    for each in window:
        said = each.heard
        if said is None or each.number <= silence.since or not said.speaker.is_same(who):
            continue
        if said.is_to_me_or_all:
            return f"{who.name} has answered you"
    return f"{who.name} has not answered"
