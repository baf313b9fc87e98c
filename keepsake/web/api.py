"""The dashboard's JSON API at ``/agents/api/``; its schema is ``docs/openapi.json``.

``DJANGO_SETTINGS_MODULE=game.server.conf.settings .venv/bin/django-admin export_openapi_schema
--pythonpath . --api keepsake.web.api.api --indent 1 --output docs/openapi.json`` writes the schema.

Each operation runs in a view's thread, and reads files there. :mod:`keepsake.web.world` reads the
world's objects on the reactor thread; :mod:`keepsake.web.actions` has the builders' actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from itertools import islice
from typing import Annotated, Any, Literal

from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.urls.resolvers import URLPattern
from ninja import NinjaAPI, P, Query, QueryEx, Schema
from ninja.errors import HttpError, ValidationError
from ninja.renderers import JSONRenderer
from pydantic import AwareDatetime, Field, StringConstraints

from keepsake.agent.runtime import runtime
from keepsake.agent.why import PromptSource, act_of, why_did, why_memory
from keepsake.archive.log import Archive
from keepsake.archive.records import MemoryKind, Tier
from keepsake.contrib.evennia.commands.why import source_of
from keepsake.errors import KeepsakeError
from keepsake.memory import history as archived
from keepsake.memory.history import PastCompaction
from keepsake.web import (
    access,
    actions,
    days,
    editing,
    history,
    pasts,
    searching,
    world,
)
from keepsake.web.access import UNKNOWN_ADDRESS, BadRequest, NotFound, acts, refused
from keepsake.web.actions import AGENT_PATH
from keepsake.web.fact_shapes import (
    AsOfView,
    FactView,
    LossesView,
    MapView,
    PastAgent,
    PastView,
)
from keepsake.web.links import state_with_links, with_links
from keepsake.web.people import api as people_api
from keepsake.web.programs import api as tokens_api
from keepsake.web.programs.tokens import PER_MINUTE
from keepsake.web.questions.bearing import bearing_on, just_before
from keepsake.web.remembered import view_of, views_of, words_in_archive
from keepsake.web.searching import By, MemoryFilter
from keepsake.web.shapes import (
    ERRORS,
    AgentRow,
    DayView,
    MemoryView,
    NewEvents,
    Overview,
    PageView,
    PlanRow,
    ProfileView,
    PromptView,
    Refused,
    SearchView,
    Series,
    SourceView,
    SummaryTextView,
    TiersView,
    WhyView,
)
from keepsake.web.watching import watching

_ABOUT = (
    "What the dashboard at /agents/ shows, as JSON, for programs and staff accounts. A program "
    "sends a token in the header `Authorization: Bearer …`. Builders make tokens at "
    "/agents/tokens, or with `keepsake token make`: they read only, or write too. A token may "
    f"make {PER_MINUTE} requests a minute; then the answer is 429, with `Retry-After`. A browser "
    "sends the cookie of a session instead (/auth/login/); a request that changes something is a "
    "POST, and then needs the cookie `csrftoken` in the header `X-CSRFToken` as well. For others "
    "every address answers 403, also one that does not exist. An agent's number stays when it is "
    "renamed, and so do its charts, reasons, prompts and events."
)

MOST_MEMORIES = 200
"""The most memories of one answer."""
_LARGEST = 2**53
"""The largest integer of JSON that every language reads exactly."""

type Words = Query[
    Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
]
type Number = QueryEx[int | None, P(ge=1, le=_LARGEST)]
type BookName = Literal["journal", "people", "notes", "nights", "kept", "plans"]


class SearchQuery(Schema):
    """A question to the memories of all agents or of one, and which of them are wanted.

    Without a question, the newest memories that are wanted.
    """

    q: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)] = ""
    by: By = By.MEANING
    agent: Annotated[int | None, Field(ge=1, le=_LARGEST)] = None
    """The number of the agent whose memories are searched; without it those of all."""
    person: Annotated[str, StringConstraints(max_length=100)] = ""
    """A part of the name of who spoke, acted or was addressed."""
    place: Annotated[str, StringConstraints(max_length=100)] = ""
    kind: MemoryKind | None = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    private: bool = False
    """Whether only whispers and other private memories are wanted."""
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class _CompactJson(JSONRenderer):
    """Writes answers without spaces, a tenth smaller."""

    json_dumps_params: Mapping[str, Any] = {"separators": (",", ":"), "ensure_ascii": False}


class _Api(NinjaAPI):
    """Sets operation ids without module names, and content types without a charset."""

    def get_openapi_operation_id(self, operation: Any) -> str:
        return str(operation.view_func.__name__)

    def get_content_type(self) -> str:
        return str(self.renderer.media_type)


_WAYS_IN = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token that a builder made: read-only, or read and write.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "sessionid",
        "description": "The session of a staff account. A POST needs X-CSRFToken, too.",
    },
}
"""Where :mod:`keepsake.web.access` looks for who asks; described here for other programs."""
api = _Api(
    title="Keepsake's agents",
    version="1",
    description=_ABOUT,
    docs_url=None,
    renderer=_CompactJson(),
    openapi_extra={
        "components": {"securitySchemes": _WAYS_IN},
        "security": [{name: []} for name in _WAYS_IN],
    },
)
api.add_router("", actions.router)
api.add_router("", editing.router)
api.add_router("", people_api.router)
api.add_router("", tokens_api.router)


def addresses() -> list[URLPattern]:
    """Return the URL patterns of all operations, only for accounts that may watch."""
    patterns: list[URLPattern] = api.urls[0]
    for each in patterns:
        each.callback = access.api(each.callback)
    return patterns


def _answers(shape: Any) -> dict[Any, Any]:
    return {200: shape, ERRORS: Refused}


# -- all agents


@api.get("/agents", response=_answers(Overview))
def overview(request: HttpRequest) -> Overview:
    """All agents at a glance, and the model servers."""
    pasts.warm(world.folders())
    return world.overview(acts(request))


@api.get("/search", response=_answers(SearchView))
def search_all(request: HttpRequest, asked: Query[SearchQuery]) -> SearchView:
    """Search the memories of all agents or one, by meaning and words, or by exact words."""
    wanted = MemoryFilter(
        agent=asked.agent,
        person=asked.person,
        place=asked.place,
        kind=asked.kind,
        since=asked.since,
        until=asked.until,
        private=asked.private,
    )
    return searching.search(world.searched(), asked.q, asked.by, wanted, asked.limit)


@api.get("/events", response=_answers(NewEvents))
def events(
    request: HttpRequest,
    after: QueryEx[int | None, P(ge=0, le=_LARGEST)] = None,
    agent: Number = None,
) -> NewEvents:
    """The events ``after`` an event number, of all agents or one; without ``after`` the newest."""
    log = runtime().places.events
    return history.new_events(log, agent or 0, after, watching().complete)


@api.get("/map", response=_answers(MapView))
def map_of_world(request: HttpRequest) -> MapView:
    """The rooms of the world, laid out by the directions of their exits, and who is in them."""
    return world.map_of_world()


@api.get("/plans", response=_answers(list[PlanRow]))
def plans(request: HttpRequest, ended: bool = False) -> list[PlanRow]:
    """What all agents mean to do: plans with a time first, the next one first of all.

    With ``ended`` also the last plans of each that have ended, the one that was due last first.
    """
    return world.plans(ended=ended)


@api.get("/past", response=_answers(PastView))
def past(request: HttpRequest) -> PastView:
    """Where all agents were, and how their memories grew and shrank, from the first memory on."""
    shared = runtime()
    log = shared.places.events
    return pasts.pasts(world.folders(), log, shared.clock.now(), may_act=acts(request))


@api.get("/fact", response=_answers(FactView))
def fact(
    request: HttpRequest,
    q: QueryEx[str, P(max_length=1000)] = "",
    agent: Number = None,
    n: Number = None,
) -> FactView:
    """Where a fact went: who told it to whom, who knows it, and which compaction dropped it.

    A fact is memory ``n`` of an agent, in whatever words it was told on. With ``q``, it is these
    words. ``|`` stands between two ways of saying it: ``bell | drowned sister``.
    """
    return pasts.fact(world.folders(), q, agent, n)


# -- one agent


@api.get(AGENT_PATH, response=_answers(AgentRow))
def agent(request: HttpRequest, number: int) -> AgentRow:
    """One agent at a glance."""
    return world.row(number, acts(request))


@api.get(f"{AGENT_PATH}/prompt", response=_answers(PromptView))
def prompt(request: HttpRequest, number: int, seq: Number = None) -> PromptView:
    """The last prompt, or the prompt of the thought with the number ``seq`` in the event log."""
    now = world.prompt(number)
    log = runtime().places.events
    if now.at is not None and seq is None:
        return now
    return history.prompt_of(log, number, seq) or now


@api.get(f"{AGENT_PATH}/profile", response=_answers(ProfileView))
def profile(request: HttpRequest, number: int) -> ProfileView:
    """Who an agent is, in the words of its builder, and the profiles before."""
    return world.profile(number)


@api.get(f"{AGENT_PATH}/book", response=_answers(list[PageView]))
def book(
    request: HttpRequest, number: int, of: BookName, limit: QueryEx[int, P(ge=1, le=_LARGEST)] = 30
) -> list[PageView]:
    """The pages of an agent's book, newest first. Pages of ``kept`` are in all its prompts."""
    remembered = world.mind_of_agent(number).memory
    if of == "nights":
        return list(islice(history.nights(runtime().places.events, number), limit))
    return history.book(remembered.folder, of, limit, remembered.private.is_whispered)


@api.get(f"{AGENT_PATH}/plans", response=_answers(list[PlanRow]))
def plans_of_agent(request: HttpRequest, number: int) -> list[PlanRow]:
    """The plans of an agent, in the order of its file: also those that have ended lately."""
    mind = world.mind_of_agent(number)
    return [PlanRow.of(number, mind.memory.name, each) for each in mind.books.plans.items]


@api.get(f"{AGENT_PATH}/day", response=_answers(DayView))
def day(request: HttpRequest, number: int) -> DayView:
    """What an agent will do today and tomorrow: its plans, and the hours that its game resolves."""
    return days.day(number)


@api.get(f"{AGENT_PATH}/tiers", response=_answers(TiersView))
def tiers(request: HttpRequest, number: int) -> TiersView:
    """The tiers of an agent's memory: the summaries, the window and their ranges."""
    return world.tiers(number)


@api.get(f"{AGENT_PATH}/past", response=_answers(PastAgent))
def past_of_agent(request: HttpRequest, number: int) -> PastAgent:
    """How one agent's memory grew and shrank, from its first memory on."""
    remembered = world.mind_of_agent(number).memory
    return pasts.one_past(number, remembered.name, remembered.folder)


@api.get(f"{AGENT_PATH}/summary", response=_answers(SummaryTextView))
def summary(request: HttpRequest, number: int, tier: Query[Tier]) -> SummaryTextView:
    """The text of a summary as it is stored, without links."""
    found = world.mind_of_agent(number).memory.memory.tiers.state.summary(tier)
    return SummaryTextView(tier=tier, text=found.text if found else "")


@api.get(f"{AGENT_PATH}/as-of", response=_answers(AsOfView))
def as_of(
    request: HttpRequest,
    number: int,
    t: QueryEx[AwareDatetime | None, P()] = None,
    n: Number = None,
) -> AsOfView:
    """The memory of an agent as it was at a time ``t``, or when it made memory ``n``."""
    folder = world.mind_of_agent(number).memory.folder
    if n is not None:
        return pasts.as_of_memory(folder, n)
    if t is None:
        raise BadRequest("There is no time to show", "Give a time `t`, or a memory `n`")
    return pasts.as_of(folder, t)


@api.get(f"{AGENT_PATH}/memories", response=_answers(list[MemoryView]))
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


@api.get(f"{AGENT_PATH}/recall", response=_answers(list[SourceView]))
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


@api.get(f"{AGENT_PATH}/compactions", response=_answers(list[PastCompaction]))
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


@api.get(f"{AGENT_PATH}/compactions/{{int:made}}/losses", response=_answers(LossesView))
def losses(request: HttpRequest, number: int, made: int) -> LossesView:
    """What became of the memories that compaction ``made`` summarised, and of the summaries before.

    The greatest loss comes first.
    """
    mind = world.mind_of_agent(number)
    return pasts.losses(mind.memory.folder, made, mind.memory.name)


@api.get(f"{AGENT_PATH}/series", response=_answers(Series))
def series(
    request: HttpRequest, number: int, hours: QueryEx[int, P(ge=1, le=history.MOST_HOURS)] = 1
) -> Series:
    """The figures of an agent's last hours, for charts."""
    shared = runtime()
    total = world.mind_of_agent(number).memory.memory.archive.last_number
    return history.series(shared.places.events, number, total, hours, shared.clock.now())


@api.get(f"{AGENT_PATH}/why", response=_answers(WhyView))
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
    view = WhyView.model_validate(replace(found, summaries=tuple(summaries)))
    before = views_of(archive, just_before(archive, found))
    near = views_of(archive, bearing_on(archive, found))
    act = view_of(found.act, words_in_archive(archive))
    return view.model_copy(update={"act": act, "before": before, "bearing": near})


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


# -- errors


def _refusal(_: HttpRequest, error: Any) -> HttpResponse:
    match error:
        case KeepsakeError():
            # The library's own errors: no services, an archive that cannot be opened, a full disk.
            status = getattr(error, "status", HTTPStatus.SERVICE_UNAVAILABLE)
            return refused(status, str(error))
        case OSError():
            problem = f"A file cannot be read ({error.strerror}): see `keepsake doctor`"
            return refused(HTTPStatus.SERVICE_UNAVAILABLE, problem)
        case ValidationError():
            wrong = (f"{each['loc'][-1]}: {each['msg']}" for each in error.errors)
            return refused(HTTPStatus.BAD_REQUEST, "; ".join(wrong)[:250])
        case HttpError():
            return refused(error.status_code, f"{error}. Send a JSON object")
        case SuspiciousOperation():
            return refused(HTTPStatus.BAD_REQUEST, "The request is too long. Send less")
    return refused(HTTPStatus.NOT_FOUND, UNKNOWN_ADDRESS)


for _kind in (KeepsakeError, OSError, ValidationError, HttpError, SuspiciousOperation, Http404):
    api.add_exception_handler(_kind, _refusal)
