"""What a turn recalls: the search, what its prompt shows of it, and what its event tells of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.memory.search_results import scene_query
from keepsake.agent.memory.shelf import PageNeeds
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of, names_of, place_of
from keepsake.agent.surroundings.people import people_near
from keepsake.agent.turns.context import TurnContext
from keepsake.agent.turns.prompts.excerpts import known_among, with_excerpts
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.events.types import Recalled
from keepsake.events.values import RecalledKind, RecallPurpose
from keepsake.happening import KnownVerb, PersonId, Result
from keepsake.recall.finding import SearchResult
from keepsake.tasks.scene import Scene

BY_TOOL = f"> {KnownVerb.RECALL}"
"""The reason in a thought's event for what the agent itself searched for, if its words are not
known. It has no score."""


async def recall_for_turn(
    agent: Body, context: TurnContext, tools: MemoryTools, purpose: RecallPurpose | None = None
) -> SearchResult | None:
    """Return what bears on a turn; None as :meth:`Recaller.recall` returns it.

    * Words are searched for.
    * A plan is searched for too: the talk in which it was made, and what bears on it as much.
    * An idle thought, and a player who has come or given something, recall by the scene:
      :func:`scene_query`.
    * What is overheard, and an agent who comes in, recall nothing: the window is enough.

    ``purpose``: What the search is for, for the event log; None for a turn of the agent.
    """
    recaller = tools.recaller
    if context.words:
        return await recaller.recall(
            " ".join(filter(None, [context.words, _words_of_plan(context, tools)])),
            purpose=purpose or RecallPurpose.TALK,
            audience=context.audience,
            asker=context.partner,
        )
    impulse = context.impulse
    if impulse.plan:
        return await recaller.recall(
            _words_of_plan(context, tools),
            purpose=purpose or RecallPurpose.THOUGHT,
            wants_answer=True,
            audience=context.audience,
        )
    comes = impulse.kind in (ImpulseKind.ARRIVAL, ImpulseKind.GIVEN) and impulse.from_player
    if impulse.kind is not ImpulseKind.IDLE and not comes:
        return SearchResult()
    here = names_of(people_near(agent), agent)
    return await recaller.recall(
        scene_query(tools.memory.memory.context(), place_of(agent), here),
        purpose=purpose or RecallPurpose.THOUGHT,
        unprompted=True,
        audience=context.audience,
    )


def _words_of_plan(context: TurnContext, tools: MemoryTools) -> str:
    """Return what the plan of a turn says, and with whom; empty if it has none, or it has ended."""
    number = context.impulse.plan
    plan = tools.plans.named(number) if tools.plans is not None and number else None
    if plan is None:
        return ""
    plan = plan.as_known_to(context.audience) or plan
    return f"{plan.whom.name}: {plan.what}" if plan.whom is not None else plan.what


def with_recalled(
    scene: Scene,
    agent: Body,
    context: TurnContext,
    tools: MemoryTools,
    recalled: SearchResult,
    *,
    now: datetime,
    nearest: Sequence[int] = (),
) -> Scene:
    """Return the scene with what its prompt shows of the results of recall, and of people.

    Pages show what somebody confided only if the answer is whispered. In an open answer it would
    make private all that the agent says and means to do with that person.

    Args:
        recalled: What the prompt shows of the results.
        now: When the prompt is read.
        nearest: The numbers of all memories that were found, best first. A page shows what its
            person told that is nearest, unless an excerpt shows it.
    """
    near = people_near(agent)
    known = known_among({identity_of(each): name_of(each, agent) for each in near})
    scene = with_excerpts(scene, recalled, known, context.partner, now)
    shown = frozenset(number for each in scene.recalled for number in each.numbers)
    texts = (scene.longterm, scene.recent, *scene.journal, *scene.notes)
    people = tools.books.people_lines(
        agent,
        tools.memory.private.without(context.without),
        tools.shown_from,
        context.audience if context.whispered else NO_PRIVATE_WORDS,
        PageNeeds(_partner_id(context), texts, nearest, shown),
    )
    return replace(scene, people=tuple(each.text for each in people), known=people)


def _partner_id(context: TurnContext) -> PersonId:
    return context.impulse.source_id if context.partner else ""


def found_by(scene: Scene, acts: Collection[int]) -> Mapping[int, str]:
    """Return what the agent searched for, by the number of each memory that it found.

    ``acts``: The numbers of its searches in this turn. Words of a search that may hold what was
    confided are not archived, and stand nowhere here.
    """
    searches = {each.number: each.text for each in scene.window if each.number in acts}
    found = dict.fromkeys(scene.found, BY_TOOL)
    for each in scene.window:
        what = each.what
        if isinstance(what, Result) and what.act in searches:
            said = f"> {searches[what.act]}"
            found |= {n: said for n in each.rests_on if n in found}
    return found


def made_from(
    tools: MemoryTools, recalled: SearchResult, found: Mapping[int, str]
) -> Mapping[str, Any]:
    """Return what a prompt is made from, as fields of the thought's event.

    ``found``: The memories that the agent itself found in this turn; see :func:`found_by`.
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
    only_found = ((n, why) for n, why in found.items() if n not in recalled.numbers)
    sources += [Recalled(kind=RecalledKind.MEMORY, n=n, why=why) for n, why in only_found]
    return {
        "longterm": longterm.last if longterm else 0,
        "recent": covered,
        "total": remembered.window[-1].number if remembered.window else covered,
        "compaction": remembered.compaction,
        "recalled": sources,
    }
