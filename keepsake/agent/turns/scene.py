"""What the prompt of a turn shows: memories, what was recalled, books, plans, surroundings."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from keepsake.agent.agent_log import call_hook
from keepsake.agent.appointments import Invitation
from keepsake.agent.attention import ImpulseKind
from keepsake.agent.memory.books import PageNeeds
from keepsake.agent.memory.present import present_talk
from keepsake.agent.memory.search_results import SearchResult, line_of, scene_query
from keepsake.agent.memory.tools import WRITES, MemoryTools
from keepsake.agent.plans import lines_of
from keepsake.agent.surroundings import (
    Body,
    description_of,
    detail_named,
    hosts_guests,
    identity_of,
    name_of,
    names_of,
    options_of,
    people_near,
    place_of,
    things_seen,
)
from keepsake.agent.turns.context import TurnContext, secrecy
from keepsake.agent.turns.excerpts import excerpts_of, people_known, told_lines
from keepsake.agent.turns.waiting import NOTHING, Unanswered, came_after, unanswered
from keepsake.archive.privacy import NO_PRIVATE_WORDS, PrivateShown, is_redacted
from keepsake.archive.records import Memory
from keepsake.archive.transcript import day_and_time
from keepsake.events.types import Recalled
from keepsake.events.values import RecalledKind, RecallPurpose
from keepsake.happening import KnownVerb, PersonId, Result
from keepsake.memory.types import MemoryContext
from keepsake.prompt.verbs import ANSWERS, NAMING, VERBS, WORDS, Options, Takes, Verb
from keepsake.recall.documents import DocumentKind
from keepsake.tasks.scene import Scene

BY_TOOL = f"> {KnownVerb.RECALL}"
"""The reason in a thought's event for what the agent itself searched for: it has no score."""


def recall_for_turn(
    agent: Body, context: TurnContext, tools: MemoryTools, purpose: RecallPurpose | None = None
) -> Awaitable[SearchResult | None]:
    """Search the memory for a turn; the result is None if the search failed or timed out.

    The query is what the partner said; else the plan that the turn is about; else the scene:
    recent lines, place, people.

    ``purpose``: What the search is for, for the event log; None for a turn of the agent.
    """
    own = RecallPurpose.TALK if context.words else RecallPurpose.THOUGHT
    here = names_of(people_near(agent), agent)
    plan = "" if context.words else _words_of_plan(context, tools)
    asked = context.words or plan
    return tools.recaller.recall(
        asked or scene_query(tools.memory.memory.context(), place_of(agent), here),
        purpose=purpose or own,
        unprompted=not asked,
        seeks=bool(plan),
        audience=context.audience,
        asker=context.partner if context.words else None,
    )


def _words_of_plan(context: TurnContext, tools: MemoryTools) -> str:
    """Return what the plan of a turn says, and with whom; empty if the turn is about none."""
    plan = tools.plans.named(context.impulse.plan) if tools.plans is not None else None
    if plan is None:
        return ""
    return f"{plan.whom.name}: {plan.what}" if plan.whom is not None else plan.what


def available_verbs(
    agent: Body, context: TurnContext, tools: MemoryTools
) -> tuple[tuple[Verb, ...], Options]:
    """Return the verbs that the agent may use in this turn, and their options.

    An agent that answers somebody may leave the talk, but not the place where it hosts guests.
    """
    _, confided = secrecy(agent, context, tools.memory.private)
    without = {KnownVerb.TALK} | WRITES if confided else set[str]()
    if invitation_to(tools, context) is None:
        without |= ANSWERS
    without |= tools.withheld
    verbs = tuple(verb for verb in VERBS if verb.name not in without)
    own: tuple[Verb, ...] = call_hook(agent, "verbs_now", tuple, ()) if agent.agent_verbs else ()
    # It is unknown who hears the free words of a game's own verb, so confided words are excluded.
    verbs += tuple(verb for verb in own if not (confided and f"<{WORDS}>" in verb.usage))
    mind = agent.mind
    must_stay = mind is not None and mind.thinker.must_stay
    stays = hosts_guests(agent) if context.partner else must_stay
    if context.impulse.kind is ImpulseKind.PLAN:  # guests wait, but not somebody whom it talks with
        stays = mind is not None and mind.thinker.in_talk
    options = options_of(agent, stays=stays)
    if confided:  # no verb reaches anybody else, whatever it is
        near = (each for each in people_near(agent) if identity_of(each) in context.audience)
        options = replace(options, people=names_of(near, agent))
    return verbs, options


def invitation_to(tools: MemoryTools, context: TurnContext) -> Invitation | None:
    """Return the partner's invitation that the agent has not answered; None if there is none.

    An agent that does without plans cannot answer any.
    """
    appointments = tools.appointments
    if appointments is None or KnownVerb.AGREE in tools.withheld:
        return None
    return appointments.open_from(context.partner)


# -- the scene


def scene_of(
    agent: Body,
    context: TurnContext,
    tools: MemoryTools,
    now: datetime,
    *,
    extra: Memory | None = None,
    refused: str = "",
    until: int | None = None,
) -> Scene:
    """Collect what a turn's prompt shows, except what :func:`with_recalled` adds.

    Args:
        extra: A memory to show as the newest one, for a preview or a warm-up.
        refused: Why the last answer was refused; empty at the first attempt.
        until: The newest memory of the window, if the turn is asked once more without private
            words; None for the whole window.

    Raises:
        KeepsakeError: The memory cannot be read.
    """
    private = tools.memory.private.without(context.without)
    may = PrivateShown(private, context.audience)
    remembered = tools.memory.memory.context()
    shown = remembered.shown if tools.has_memory else present_talk(remembered.shown, now)
    if until is not None:
        shown = tuple(each for each in shown if each.number <= until)
    window = private.heard_by(shown, context.audience)
    if extra is not None:
        window = (*window, extra)
    partner = context.partner
    passed_over = tools.memory.passed_over
    waiting = NOTHING
    if partner is not None and context.impulse.kind is not ImpulseKind.PLAN:
        waiting = unanswered(window, context.impulse, passed_over, partner)
    # What is answered, repeated if something else that is answered came after it.
    late = partner is not None and came_after(window, waiting, partner)
    invitation = invitation_to(tools, context)
    able = available_verbs(agent, context, tools)
    scene = _surroundings(agent, context, now, *able, withheld=tools.withheld)
    scene = _with_summaries(scene, remembered)
    scene = _with_plans(scene, context, tools, window, may)
    scene = _with_books(scene, agent, context, tools, may)
    return replace(
        scene,
        window=window,
        passed_over=frozenset(passed_over),
        words=waiting.words if late else "",
        asked="" if late else waiting.words,
        detail=detail_named(agent, waiting.words),
        invitation=invitation.line if invitation is not None else "",
        earlier=waiting.memories[-1].line if late and waiting.memories else "",
        answers=_answered(tools, context, waiting),
        found=_found_in(window, context.looked_up),
        private=tuple(sorted(may.numbers)),
        whispered=context.whispered,
        openly=until is not None,
        refused=refused,
    )


def made_from(
    tools: MemoryTools, recalled: SearchResult, found: Sequence[int] = ()
) -> Mapping[str, Any]:
    """Return what a prompt is made from, as fields of the thought's event.

    ``found``: The numbers of the memories that the agent found by ``> recall`` in this turn.
    """
    remembered = tools.memory.memory.context()
    longterm = remembered.longterm
    covered = remembered.recent.last if remembered.recent else 0
    sources = [
        Recalled(
            kind=hit.document.kind.label,
            n=hit.document.number,
            title=hit.document.title,
            score=round(hit.score, 4),
            why="; ".join(hit.reasons),
        )
        for hit in recalled.hits
    ]
    only_found = (number for number in found if number not in recalled.numbers)
    sources += [Recalled(kind=RecalledKind.MEMORY, n=n, why=BY_TOOL) for n in only_found]
    return {
        "longterm": longterm.last if longterm else 0,
        "recent": covered,
        "total": remembered.window[-1].number if remembered.window else covered,
        "compaction": remembered.compaction,
        "recalled": sources,
    }


def _with_summaries(scene: Scene, remembered: MemoryContext) -> Scene:
    """Return the scene with both summaries."""
    longterm = remembered.longterm
    recent = remembered.recent
    return replace(
        scene,
        longterm=longterm.text if longterm else "",
        longterm_span=f"{longterm.first} to {longterm.last}" if longterm else "",
        recent=recent.text if recent else "",
        recent_span=f"{recent.first} to {recent.last}" if recent else "",
    )


def with_recalled(
    scene: Scene,
    agent: Body,
    context: TurnContext,
    tools: MemoryTools,
    recalled: SearchResult,
    *,
    nearest: Sequence[int] = (),
) -> Scene:
    """Return the scene with what its prompt shows of the results of recall, and of people.

    Pages show what somebody confided only if the answer is whispered. Else all that the agent says
    and means to do with that person would be private, too.

    Args:
        recalled: What the prompt shows of the results.
        nearest: The numbers of all memories that were found, best first. Of what a person told, the
            nearest is shown that no excerpt shows.
    """
    known = people_known(agent)
    lines = {
        kind: tuple(line_of(hit.document) for hit in recalled.of(kind))
        for kind in (DocumentKind.SUMMARY, DocumentKind.NOTE)
    }
    excerpts = excerpts_of(recalled, known)
    shown = frozenset(number for each in excerpts for number in each.numbers)
    texts = (scene.longterm, scene.recent, *scene.journal, *lines[DocumentKind.NOTE])
    people = tools.books.people_lines(
        agent,
        tools.memory.private.without(context.without),
        tools.shown_from,
        context.audience if context.whispered else NO_PRIVATE_WORDS,
        PageNeeds(_partner_id(context), texts, nearest, shown),
    )
    return replace(
        scene,
        recalled=excerpts,
        told=told_lines(recalled.hits, scene.words or scene.asked, known, context.partner),
        experiences=lines[DocumentKind.SUMMARY],
        notes=lines[DocumentKind.NOTE],
        people=people,
    )


def _partner_id(context: TurnContext) -> PersonId:
    return context.impulse.source_id if context.partner else ""


def _with_books(
    scene: Scene, agent: Body, context: TurnContext, tools: MemoryTools, may: PrivateShown
) -> Scene:
    """Return the scene with what the agent's books hold and the audience may hear."""
    books = tools.books
    private = tools.memory.private.without(context.without)
    # Lines of the window that the budget leaves out are not shown.
    first = tools.shown_from
    near = [identity_of(each) for each in people_near(agent)]
    pages = filter(None, map(books.people.known.get, near))
    return replace(
        scene,
        pinned=tuple(books.pinned.shown),
        noticed=tools.memory.commitments.lines(first, lambda number: may.may_hear([number])),
        journal=books.journal_lines(private, first, near, context.words),
        portraits=tuple(page.portrait for page in pages if page.portrait),
    )


def _with_plans(
    scene: Scene,
    context: TurnContext,
    tools: MemoryTools,
    window: Sequence[Memory],
    may: PrivateShown,
) -> Scene:
    """Return the scene with plans: open ones, missed ones, and the one that is due."""
    plans = tools.plans
    if plans is None:
        return scene
    impulse = context.impulse
    due = plans.named(impulse.plan) if impulse.plan else None
    shown = plans.shown(context.audience)
    missed = plans.missed(context.audience)
    for plan in (*shown, *missed):
        may.may_hear([plan.since])
    return replace(
        scene,
        plans=lines_of(shown, window),
        missed=lines_of(missed),
        due=f"{lines_of([due], window)[0]} ({impulse.why})" if due is not None else "",
    )


def _answered(tools: MemoryTools, context: TurnContext, waiting: Unanswered) -> tuple[int, ...]:
    """Return the numbers of the memories that a turn answers, or that are its reason.

    The reason for a turn about a plan is the memory on which the plan rests.
    """
    plan = context.impulse.plan
    due = tools.plans.named(plan) if tools.plans and plan else None
    since = due.since if due is not None else 0
    numbers = {each.number for each in waiting.memories} | {context.impulse.memory_number, since}
    return tuple(sorted(numbers - {0}))


def _found_in(window: Sequence[Memory], acts: Collection[int]) -> tuple[int, ...]:
    """Return the numbers of the memories that the results of these own acts show."""
    results = (
        each
        for each in window
        if isinstance(each.what, Result) and each.what.act in acts and not is_redacted(each)
    )
    return tuple(sorted({number for each in results for number in each.rests_on}.difference(acts)))


def _surroundings(
    agent: Body,
    context: TurnContext,
    now: datetime,
    verbs: Sequence[Verb],
    options: Options,
    *,
    withheld: Collection[str],
) -> Scene:
    """Return the agent's persona and surroundings as a scene.

    ``withheld``: The names of verbs that the settings take from all agents.
    """
    now = now.astimezone()
    daytime = day_and_time(now)
    deeds = [verb for verb in verbs if verb.takes is not Takes.TEXT]
    usages = options.usages(deeds)
    # The same in every prompt, so that a server's prompt cache works. What a whisper forbids is
    # said in the last message, and refused.
    always = [
        verb
        for verb in VERBS
        if verb.takes is not Takes.TEXT and verb.takes not in NAMING and verb.name not in withheld
    ]
    own = {verb: f": {verb.help}" for verb in deeds if verb.takes is Takes.OWN}
    changing = NAMING | {Takes.OWN}
    leader = agent.mind.actor.leader if agent.mind is not None else None
    followed = [each for each in people_near(agent) if each.id == leader]
    facts = [f"You follow {name_of(each, agent)}." for each in followed]
    facts += call_hook(agent, "at_agent_prompt", list | tuple, [])
    people = (
        f"{name_of(each, agent)}{' (asleep)' if each.db.asleep else ''}"
        for each in people_near(agent)
    )
    return Scene(
        name=agent.key,
        persona=str(agent.db.profile or f"You are {agent.key}."),
        # An example may have several lines.
        examples=tuple(x for each in agent.db.examples or () for x in str(each).splitlines()),
        deeds=tuple(f"> {v.usage} ({v.help})" for v in always),
        now=f"{daytime}, {now:%H:%M}",
        daytime=daytime,
        place=place_of(agent) or "nowhere",
        description=description_of(agent),
        here=tuple(dict.fromkeys(people)),
        things=names_of(things_seen(agent), agent),
        carried=options.carried,
        exits=tuple(options.ways),
        ways=tuple(options.ways.values()),
        options=tuple(f"{u}{own.get(v, '')}" for v, u in usages.items() if v.takes in changing),
        facts=tuple(map(str, facts)),
        usual=call_hook(agent, "usual_day", str, ""),
        usual_now=call_hook(agent, "usual_now", str, ""),
        partner=context.partner.name if context.partner else "",
        trigger=context.impulse.kind,
        occasion=context.impulse.why if context.impulse.kind is ImpulseKind.IDLE else "",
        tools=tuple(usages.items()),
        commands=tuple(f"{v.usage}: {v.help}" for v in verbs),
    )
