"""The API about one agent, at ``/agents/api/agents/<number>/``: reads, for all who may watch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Literal

from django.http import HttpRequest
from ninja import P, Query, QueryEx, Router
from pydantic import AwareDatetime, StringConstraints

from keepsake.agent.runtime import runtime
from keepsake.agent.why.basis import PromptSource
from keepsake.agent.why.why import act_of, why_did, why_memory
from keepsake.archive.log import Archive
from keepsake.archive.summaries import Tier
from keepsake.contrib.evennia.commands.why import source_of
from keepsake.errors import KeepsakeError
from keepsake.memory import history as archived
from keepsake.memory.history import PastCompaction
from keepsake.web import days, history, world
from keepsake.web.access import BadRequest, NotFound, acts
from keepsake.web.actions import AGENT_PATH
from keepsake.web.agent.plan_causes import with_causes
from keepsake.web.agent.shapes import (
    DayView,
    GroundView,
    MotiveView,
    OwnPlan,
    PageView,
    ProfileView,
    PromptView,
    Series,
    SummaryTextView,
    TiersView,
    UntoldView,
    WhyView,
)
from keepsake.web.links import state_with_links, with_links
from keepsake.web.now import memory, overview
from keepsake.web.now import plans as plans_now
from keepsake.web.pasts import scrubber
from keepsake.web.pasts.archives import span_of
from keepsake.web.pasts.loss_shapes import LossesView
from keepsake.web.pasts.losses import losses as losses_of
from keepsake.web.pasts.past_shapes import AsOfView, PastAgent
from keepsake.web.people.known_by import errands_of
from keepsake.web.questions.bearing import (
    bearing_on,
    just_before,
    promises_in,
    prompt_of,
    quoted_in,
    recalled_for,
    resting_on,
)
from keepsake.web.questions.clock import as_shown, meant_by
from keepsake.web.questions.grounded import Grounds, grounds
from keepsake.web.questions.grounds import Ground
from keepsake.web.questions.motive import Motive
from keepsake.web.questions.tomorrow import said_of_days
from keepsake.web.remembered import view_of, views_of, words_in_archive
from keepsake.web.shapes import LARGEST, AgentRow, MemoryView, SourceView, answers

MOST_MEMORIES = 200
"""The most memories of one answer."""

type Words = Query[
    Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
]
type Number = QueryEx[int | None, P(ge=1, le=LARGEST)]
type BookName = Literal["journal", "people", "notes", "nights", "kept", "plans"]

router = Router()


@router.get(AGENT_PATH, response=answers(AgentRow))
def agent(request: HttpRequest, number: int) -> AgentRow:
    """One agent at a glance."""
    return overview.row(number, acts(request))


@router.get(f"{AGENT_PATH}/prompt", response=answers(PromptView))
def prompt(request: HttpRequest, number: int, seq: Number = None) -> PromptView:
    """The last prompt, or the prompt of the thought with the number ``seq`` in the event log."""
    now = memory.prompt(number)
    log = runtime().places.events
    if now.at is not None and seq is None:
        return now
    return history.prompt_of(log, number, seq) or now


@router.get(f"{AGENT_PATH}/profile", response=answers(ProfileView))
def profile(request: HttpRequest, number: int) -> ProfileView:
    """Who an agent is, in the words of its builder, and the profiles before."""
    return memory.profile(number)


@router.get(f"{AGENT_PATH}/book", response=answers(list[PageView]))
def book(
    request: HttpRequest, number: int, of: BookName, limit: QueryEx[int, P(ge=1, le=LARGEST)] = 30
) -> list[PageView]:
    """The pages of an agent's book, newest first. Pages of ``kept`` are in all its prompts."""
    remembered = world.mind_of_agent(number).memory
    if of == "nights":
        return list(islice(history.nights(runtime().places.events, number), limit))
    return history.book(remembered.folder, of, limit, remembered.private.is_whispered)


@router.get(f"{AGENT_PATH}/plans", response=answers(list[OwnPlan]))
def plans_of_agent(request: HttpRequest, number: int) -> list[OwnPlan]:
    """The plans of an agent, in the order of its file: also those that have ended lately."""
    mind = world.mind_of_agent(number)
    rows = plans_now.plans_of(number, mind.memory.name, mind)
    return with_causes(rows, mind.memory.memory.archive, world.folders())


@router.get(f"{AGENT_PATH}/day", response=answers(DayView))
def day(request: HttpRequest, number: int) -> DayView:
    """What an agent will do today and tomorrow: its plans, and the hours that its game resolves."""
    remembered = world.mind_of_agent(number).memory
    now = runtime().clock.now()
    found = said_of_days(remembered.folder, remembered.name, now, as_shown)
    archive = remembered.memory.archive
    said = {"said": views_of(archive, found.tomorrow), "said_today": views_of(archive, found.today)}
    return days.day(number).model_copy(update=said)


@router.get(f"{AGENT_PATH}/tiers", response=answers(TiersView))
def tiers(request: HttpRequest, number: int) -> TiersView:
    """The tiers of an agent's memory: the summaries, the window and their ranges."""
    return memory.tiers(number)


@router.get(f"{AGENT_PATH}/past", response=answers(PastAgent))
def past_of_agent(request: HttpRequest, number: int) -> PastAgent:
    """How one agent's memory grew and shrank, from its first memory on."""
    remembered = world.mind_of_agent(number).memory
    return scrubber.one_past(number, remembered.name, remembered.folder)


@router.get(f"{AGENT_PATH}/summary", response=answers(SummaryTextView))
def summary(request: HttpRequest, number: int, tier: Query[Tier]) -> SummaryTextView:
    """The text of a summary as it is stored, without links."""
    found = world.mind_of_agent(number).memory.memory.tiers.state.summary(tier)
    return SummaryTextView(tier=tier, text=found.text if found else "")


@router.get(f"{AGENT_PATH}/as-of", response=answers(AsOfView))
def as_of(
    request: HttpRequest,
    number: int,
    t: QueryEx[AwareDatetime | None, P()] = None,
    n: Number = None,
    when: QueryEx[str, P(max_length=100)] = "",
) -> AsOfView:
    """The memory of an agent as it was at a time ``t``, or when it made memory ``n``.

    Or at the time that a person means by ``when``, by the world's clock: ``Thursday evening``.
    """
    folder = world.mind_of_agent(number).memory.folder
    if n is not None:
        return scrubber.as_of_memory(folder, n)
    if when:
        t = meant_by(when, runtime().clock.now(), span_of(folder))
    if t is None:
        raise BadRequest("There is no time to show", "Give a time `t`, or a memory `n`")
    return scrubber.as_of(folder, t)


@router.get(f"{AGENT_PATH}/memories", response=answers(list[MemoryView]))
def memories(
    request: HttpRequest, number: int, first: Number = None, last: Number = None
) -> Sequence[MemoryView]:
    """The newest 200 memories, or those from ``first`` to ``last``."""
    archive = world.mind_of_agent(number).memory.memory.archive
    first = first or max(archive.last_number - MOST_MEMORIES + 1, 1)
    last = last or first + MOST_MEMORIES - 1
    if last < first:
        raise BadRequest(f"There is nothing from {first} to {last}", "Give a larger `last`")
    return views_of(archive, archive.read(first, min(last, first + MOST_MEMORIES - 1)))


@router.get(f"{AGENT_PATH}/recall", response=answers(list[SourceView]))
def recall(
    request: HttpRequest, number: int, q: Words, limit: QueryEx[int, P(ge=1, le=50)] = 12
) -> list[PromptSource]:
    """Search an agent's memory as for its own thoughts. Best hits first, with the reasons."""
    recaller = world.mind_of_agent(number).tools.recaller
    world.on_reactor(recaller.read_names)()
    found = recaller.recall_blocking(q, limit=limit, audience=None)
    if found is None:
        cure = "The agents' log says why; so does `keepsake doctor`"
        raise KeepsakeError("Recall cannot search now", cure)
    return list(map(source_of, found.hits))


@router.get(f"{AGENT_PATH}/compactions", response=answers(list[PastCompaction]))
def compactions(
    request: HttpRequest,
    number: int,
    limit: QueryEx[int, P(ge=1, le=100)] = 20,
    before: Number = None,
) -> list[PastCompaction]:
    """The newest compactions, including undone ones, or those with a number below ``before``."""
    archive = world.mind_of_agent(number).memory.memory.archive
    past = reversed(archived.compactions(archive))
    found = islice((each for each in past if before is None or each.number < before), limit)
    return [
        replace(each, before=state_with_links(each.before), after=state_with_links(each.after))
        for each in found
    ]


@router.get(f"{AGENT_PATH}/compactions/{{int:made}}/losses", response=answers(LossesView))
def losses(request: HttpRequest, number: int, made: int) -> LossesView:
    """What became of the memories that compaction ``made`` summarised, and of the summaries before.

    The greatest loss comes first.
    """
    mind = world.mind_of_agent(number)
    others = [each for each in world.folders() if each[0] != number]
    kept = mind.memory
    errands = errands_of(world.known_agents())
    return losses_of(kept.folder, made, kept.name, books=mind.books, others=others, errands=errands)


@router.get(f"{AGENT_PATH}/series", response=answers(Series))
def series(
    request: HttpRequest, number: int, hours: QueryEx[int, P(ge=1, le=history.MOST_HOURS)] = 1
) -> Series:
    """The figures of an agent's last hours, for charts."""
    shared = runtime()
    total = world.mind_of_agent(number).memory.memory.archive.last_number
    return history.series(shared.places.events, number, total, hours, shared.clock.now())


@router.get(f"{AGENT_PATH}/why", response=answers(WhyView))
def why(
    request: HttpRequest,
    number: int,
    n: QueryEx[int, P(ge=1, le=1000)] = 1,
    memory: Number = None,
    happening: QueryEx[str, P(max_length=100)] = "",
) -> WhyView:
    """An act of an agent, and all that led to it: the ``n``-th last, or that of a ``memory``.

    Or it is the act that others remember as a ``happening``.
    """
    remembered = world.mind_of_agent(number).memory
    archive = remembered.memory.archive
    log = runtime().places.events
    if happening and memory is None:
        memory = _act_of(archive, remembered.name, happening)
    try:
        if memory is not None:
            found = why_memory(log, archive, remembered.name, number, memory)
        else:
            found = why_did(log, archive, remembered.name, number, n)
    except KeepsakeError as error:
        if isinstance(error.__cause__, OSError):
            raise
        raise NotFound(error.what, error.cure) from error
    summaries = (replace(each, text=with_links(each.text)) for each in found.summaries)
    recalled, explaining = recalled_for(found)
    found = replace(found, summaries=tuple(summaries), recalled=tuple(recalled))
    view = WhyView.model_validate(found)
    prompt = prompt_of(found, log)
    config = runtime().places.config
    own = grounds(archive, found, prompt, number, folders=world.folders(), config=config)
    changes = {
        "grounds": tuple(_ground(archive, each) for each in own.lines),
        "elsewhere": _elsewhere(own),
        "motive": _motive(archive, own.motive),
        "goes_on": views_of(archive, [each.memory for each in own.goes_on]),
        "nowhere": tuple(own.missing),
        "explaining": explaining,
        "act": view_of(found.act, words_in_archive(archive)),
        "rests": views_of(archive, resting_on(archive, found)),
        "promises": views_of(archive, promises_in(archive, found, prompt)),
        "quoted": views_of(archive, quoted_in(archive, found, prompt)),
        "before": views_of(archive, just_before(archive, found)),
        "bearing": views_of(archive, bearing_on(archive, found)),
    }
    return view.model_copy(update=changes)


def _ground(archive: Archive, ground: Ground) -> GroundView:
    memory = view_of(ground.memory, words_in_archive(archive)) if ground.memory else None
    return GroundView(
        text=ground.text,
        memory=memory,
        summary=ground.summary,
        shared=ground.shared,
        known=ground.known,
    )


def _motive(archive: Archive, found: Motive | None) -> MotiveView | None:
    if found is None:
        return None
    memory = view_of(found.memory, words_in_archive(archive)) if found.memory else None
    return MotiveView(
        kind=found.kind,
        text=found.text,
        part=found.part,
        memory=memory,
        masked=found.masked,
        private=found.privacy,
    )


def _elsewhere(own: Grounds) -> UntoldView | None:
    found = own.elsewhere
    if found is None:
        return None
    number, name = own.heard_by
    memory = MemoryView.model_validate(found.memory)
    return UntoldView(id=number, agent=name, memory=memory, shared=found.shared)


def _act_of(archive: Archive, name: str, happening: str) -> int:
    """Return the number of the act of the agent of that name which others remember.

    Raises:
        NotFound: It has no such act.
    """
    number = act_of(archive, happening)
    if not number:
        what = f"{name} remembers no act of its own that others perceived so"
        raise NotFound(what, "Give the `happening` of something that it said or did")
    return number
