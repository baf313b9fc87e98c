"""How a thought and a plan go together: what the next step is, and what may interrupt one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keepsake.agent.attention.impulse import DIRECT, Impulse, ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.plans.due import Silence, person_of
from keepsake.agent.plans.plans import Plans
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.naming import name_of, names_of
from keepsake.agent.surroundings.people import people_near, persons_near, players_near
from keepsake.agent.turns.fruitless import TALK, count_step
from keepsake.agent.turns.state import Turn
from keepsake.agent.turns.waiting import left_unanswered, unanswered
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.archive.records import Memory
from keepsake.books.plan import Plan
from keepsake.happening import KnownVerb, Person, PersonId
from keepsake.language.perception import names
from keepsake.prompt.verbs import PRIVATE

_NO_STEP = frozenset({KnownVerb.EMOTE, KnownVerb.WALK, KnownVerb.DONE, KnownVerb.CANCEL})
"""Verbs after which a plan does not go on by itself: they are no step, have ended it, or it goes on
when the agent arrives. After ``wait`` it never does."""


def met_after_walk(turn: Turn, goal: Person | None, partner: Person | None) -> list[Person]:
    """Return for whom plain lines may be that follow a walk, the likeliest first.

    These are the one to whom it led, the person of the plan that the answer carries out, who was
    answered until then, and the people of other plans that are kept where the walk has ended.

    Args:
        goal: To whom the walk led; None for a place.
        partner: Who was answered; None for nobody.
    """
    plans = turn.tools.plans
    if plans is None:
        return [each for each in (goal, partner) if each is not None]
    known = (*turn.tools.people_known, *persons_near(turn.agent))
    number = turn.impulse.plan or turn.taken_up
    carried = plans.named(number) if number else None
    whom = person_of(carried, known) if carried is not None else None
    if whom is None and turn.impulse.kind is ImpulseKind.PLAN:  # it may have ended its plan before
        whom = turn.impulse.person
    open_plans = plans.shown(turn.attempt.basis.confidants or NO_PRIVATE_WORDS)
    kept = (person_of(each, known) for each in open_plans if plans.is_here(each))
    return [each for each in (goal, whom, partner, *kept) if each is not None]


def follow_plan(turn: Turn, plans: Plans, agent: Body | None) -> None:
    """Go on with a plan after a thought in which the agent acted.

    If its next step waits for somebody, or it has ended, another plan goes on.

    ``agent``: None if it has been deleted.
    """
    _follow(turn, plans, agent)
    if not turn.is_on_its_way:
        plans.steps.go_on_with_others()


def _follow(turn: Turn, plans: Plans, agent: Body | None) -> None:
    """Let the next step of the plan come that a thought was about."""
    number = turn.impulse.plan or turn.taken_up
    due = plans.named(number) if number else None
    refused = turn.last is not None and bool(turn.last.fault)
    if due is not None and not turn.kept_by and (turn.verbs or refused):
        count_step(turn, plans, due)
    if turn.kept_by or not turn.verbs:
        _put_off(turn, plans, due)
        return
    plan = due or plans.steps.begun
    if plan is None:
        return
    waits = plans.steps.waits.get(plan.number, "")
    if number and due is None and not waits:  # it has ended its plan, and has another
        plans.steps.go_on(plan, plans.steps.whys.get(plan.number, "") or "it goes on")
        return
    if due is None and waits and turn.verbs <= TALK and not names(waits, turn.impulse.source):
        return  # it waits for somebody else
    rests = plan.number in plans.steps.resting and turn.verbs <= TALK
    if due is None and (rests or _is_talk_beside(turn, plans)):
        return
    plans.steps.wait(plan, _waits_for(turn, plan, agent) if due is not None else "")
    # What was done for it stands beside it. An answer about something else changes nothing of it.
    before = "" if due is not None else plans.steps.whys.get(plan.number, "")
    _go_on(turn, plans, agent, plan, why=turn.missed or before or "it goes on", is_due=due is plan)
    if agent is not None:  # it has met those who are here
        plans.meetings.set_present(persons_near(agent), but=plan.number)


def _put_off(turn: Turn, plans: Plans, due: Plan | None) -> None:
    """Go on later with a plan for which nothing was done, or from whose walk a player kept it."""
    last = turn.last
    if turn.kept_by:
        kept = due or plans.steps.begun
        if kept is not None:
            plans.steps.go_on_later(kept.number, f"{turn.kept_by} spoke to you before you set off")
    elif turn.impulse.plan and last is not None and (last.failure is not None or last.fault):
        # A model gave no usable answer.
        plans.steps.go_on_later(turn.impulse.plan, "it goes on")
    elif due is not None and turn.has_begun:
        # A look-up was its last deed, and the turn cannot go on from there: who asked is away.
        plans.steps.go_on(due, "it goes on")


def left_to_answer(turn: Turn, plans: Plans, agent: Body) -> list[Impulse]:
    """Return impulses for words that went to a plan, whose step has not answered them.

    These are words of a player to which the answer only ended the plan, and words of agents here.
    A gesture answers those, too, and each counts as a thought about the plan.
    """
    window = turn.tools.memory.memory.context().window
    found = [replace(turn.impulse, plan=0, why="")] if _only_ends(turn, plans, window) else []
    here = {identity_of(each) for each in people_near(agent)}
    for person in plans.steps.take_to_answer():
        number = left_unanswered(window, person)
        if number > turn.attempt.basis.seen:  # they came when the step was decided
            plans.steps.keep_to_answer(person)
            continue
        wants = number and person.id in here and KnownVerb.EMOTE not in turn.verbs
        if wants and plans.take_thought():
            found.append(_words_of(person, number))
    return found


def _only_ends(turn: Turn, plans: Plans, window: Sequence[Memory]) -> bool:
    """Whether the answer to somebody's words has only ended the plan that was due with them."""
    impulse = turn.impulse
    if impulse.kind not in DIRECT or not impulse.plan or plans.named(impulse.plan) is not None:
        return False
    has_waiting = bool(unanswered(window, impulse).memories)
    return has_waiting and bool(turn.verbs) and turn.verbs <= PRIVATE


def _words_of(person: Person, number: int) -> Impulse:
    """Return the impulse of words of another agent that are answered in any case."""
    return Impulse(
        ImpulseKind.ADDRESSED,
        from_player=False,
        source=person.name,
        memory_number=number,
        source_id=person.id,
        errand=True,
    )


def _is_talk_beside(turn: Turn, plans: Plans) -> bool:
    """Whether an answer only talked with one person while the plan waits for another's words.

    Those words, their leaving or the end of the wait brings the next step.
    """
    who = turn.impulse.who
    others = turn.spoken_to - {who}
    return turn.verbs <= TALK and not others and plans.steps.awaits_other_than(who)


def _go_on(
    turn: Turn, plans: Plans, agent: Body | None, plan: Plan, *, why: str, is_due: bool
) -> None:
    """Let the next step of a plan come when what was done for it has had its effect.

    Args:
        why: What was done for it.
        is_due: Whether the thought was about it.
    """
    awaits = turn.waits_for
    if agent is not None and awaits:
        _ask_awaited(turn, plans, agent)
    since = turn.attempt.basis.seen
    asked = _asked_by(turn, agent) if agent is not None else None
    if asked is not None and (not awaits or names(awaits, asked.name)):
        plans.steps.go_on_after_answer(plan, why, Silence(asked, since))
        return
    carries = turn.tools.commitments.asked_back.get(plan.number, "")
    if carries and KnownVerb.DONE in turn.verbs:  # it was not ended
        plans.steps.go_on(plan, f"you still carry the {carries}")
        return
    ended = turn.has_arrived or turn.missed
    if turn.is_on_its_way or (turn.verbs <= _NO_STEP and not ended):
        return  # it goes on when the agent arrives
    if KnownVerb.WAIT in turn.verbs:
        reached = _reached(turn, agent, plan) if agent is not None else ""
        if reached:
            plans.steps.go_on(plan, f"{reached} is here")
            return
        awaited = _awaited(turn, agent) if agent is not None else None
        if awaited is not None:
            plans.steps.go_on_after_wait(plan, why, Silence(awaited, since))
        elif is_due and not awaits:
            plans.steps.resting.add(plan.number)
        return
    player = _player_of(turn, agent)
    in_talk = player is not None and (is_due or plans.steps.talks_with == player.id)
    if player is not None and in_talk and turn.verbs <= TALK:
        plans.steps.go_on_after_talk(plan, why, Silence(player, since))
    else:  # also if a player spoke before the agent could say what it came for
        plans.steps.go_on(plan, why, at_pace=not is_due)


def _waits_for(turn: Turn, plan: Plan, agent: Body | None) -> str:
    """Return what a plan waits for after a thought: ``for Bob``; empty for nothing.

    Prompts for others show it beside what was said aloud. If it was written with private words in
    the prompt, it may only name somebody who was named aloud.
    """
    words = turn.waits_for
    if plan.aloud is None or turn.attempt.basis.confidants is None:
        return words
    known = (each.name for each in turn.tools.people_known)
    here = names_of(people_near(agent), agent) if agent is not None else ()
    people = (*known, *here, *([plan.whom.name] if plan.whom is not None else []))
    named = (each for each in people if names(words, each) and plan.aloud.names(each))
    return next((f"for {each}" for each in named), "")


def _player_of(turn: Turn, agent: Body | None) -> Person | None:
    """Return the player here to whom the agent spoke in a thought; None if it was nobody."""
    if agent is None:
        return None
    near = players_near(agent)
    found = next((each for each in near if identity_of(each) in turn.spoken_to), None)
    return Person(name_of(found, agent), identity_of(found)) if found is not None else None


def _ask_awaited(turn: Turn, plans: Plans, agent: Body) -> None:
    """Let the agent answer for whom this one waits, though it only told it something."""
    me = identity_of(agent)
    for each in people_near(agent):
        who = identity_of(each)
        mind = each.mind if is_agent(each) else None
        if mind is None or not names(turn.waits_for, name_of(each, agent)):
            continue
        if who not in turn.spoken_to and not turn.has_no_answer_from(who):
            continue
        if not mind.thinker.is_asked_by(me) and plans.may_ask(who):
            mind.thinker.answer_agent(Person(name_of(agent, each), me))


def _reached(turn: Turn, agent: Body, plan: Plan) -> str:
    """Return for whom this one waits though its walk has led it to them in silence; else empty.

    If it waits for nobody by name, that is the plan's person. They do not know that it has come for
    them, so they would say nothing.
    """
    if not turn.has_arrived:
        return ""
    silent = (each for each in people_near(agent) if identity_of(each) not in turn.spoken_to)
    here = (name_of(each, agent) for each in silent)
    awaited = turn.waits_for or (plan.whom.name if plan.whom is not None else "")
    return next((name for name in here if names(awaited, name)), "")


def _awaited(turn: Turn, agent: Body) -> Person | None:
    """Return the agent here for whom this one waits; None if none is named.

    A player who is here speaks or leaves.
    """
    for each in filter(is_agent, people_near(agent)):
        name = name_of(each, agent)
        if names(turn.waits_for, name):
            return Person(name, identity_of(each))
    return None


def is_about_to_answer(agent: Body, who: PersonId) -> bool:
    """Return whether another agent here is about to answer this one."""
    for each in filter(is_agent, people_near(agent)):
        if identity_of(each) == who and each.mind is not None:
            return each.mind.thinker.is_asked_by(identity_of(agent))
    return False


def _asked_by(turn: Turn, agent: Body) -> Person | None:
    """Return the agent here who is about to answer what was said in a thought; else None."""
    if turn.is_on_its_way:  # it does not stay for the answer
        return None
    for each in people_near(agent):
        who = identity_of(each)
        if who in turn.spoken_to and is_about_to_answer(agent, who):
            return Person(name_of(each, agent), who)
    return None


def finishes_plan_first(turn: Turn | None, plans: Plans | None, event: Impulse) -> bool:
    """Whether the current thought ends before a player's words to the agent are answered.

    What a model decides for a plan now is done, unless the words are from the plan's person.
    """
    if turn is None or not turn.decides_for_plan:
        return False
    plan = None
    if plans is not None:
        number = turn.impulse.plan
        plan = plans.named(number) if number else plans.steps.begun
    whom = plan.whom if plan is not None else None
    return whom is None or whom.id != event.who
