"""The dashboard's JSON API at ``/agents/api/``; its schema is ``docs/openapi.json``.

``DJANGO_SETTINGS_MODULE=game.server.conf.settings .venv/bin/django-admin export_openapi_schema
--pythonpath . --api keepsake.web.api.api --indent 1 --output docs/openapi.json`` writes the schema.

Each operation runs in a view's thread, and reads files there. :mod:`keepsake.web.world` reads the
world's objects on the reactor thread; :mod:`keepsake.web.actions` has the builders' actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any

from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.urls.resolvers import URLPattern
from ninja import NinjaAPI, P, Query, QueryEx, Schema
from ninja.errors import HttpError, ValidationError
from ninja.renderers import JSONRenderer
from pydantic import AwareDatetime, Field, StringConstraints

from keepsake.agent.runtime import runtime
from keepsake.archive.records import MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.web import access, actions, editing, history, searching, world
from keepsake.web.access import UNKNOWN_ADDRESS, acts, refused
from keepsake.web.agent import api as agent_api
from keepsake.web.agent import promised
from keepsake.web.agent.plan_causes import with_causes_of_all
from keepsake.web.agent.shapes import OwnPlan
from keepsake.web.asked import api as asked_api
from keepsake.web.fact_shapes import FactView, MapView, StrandView
from keepsake.web.now import overview as overview_now
from keepsake.web.now import plans as plans_now
from keepsake.web.now import rooms
from keepsake.web.pasts import scrubber
from keepsake.web.pasts.archives import warm
from keepsake.web.pasts.followed import fact_now, near_now
from keepsake.web.pasts.past_shapes import PastView
from keepsake.web.pasts.reading import router as reading_router
from keepsake.web.pasts.strands import choice_of
from keepsake.web.people import api as people_api
from keepsake.web.programs import api as tokens_api
from keepsake.web.programs.tokens import PER_MINUTE
from keepsake.web.searching import By, MemoryFilter
from keepsake.web.shapes import (
    LARGEST,
    NewEvents,
    Overview,
    PromiseRow,
    SearchView,
    answers,
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

type Number = QueryEx[int | None, P(ge=1, le=LARGEST)]


class SearchQuery(Schema):
    """A question to the memories of all agents or of one, and which of them are wanted.

    Without a question, the newest memories that are wanted.
    """

    q: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)] = ""
    by: By = By.MEANING
    agent: Annotated[int | None, Field(ge=1, le=LARGEST)] = None
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


class WordsQuery(Schema):
    """Words that were typed."""

    q: Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class NearQuery(WordsQuery):
    """Words that were typed, and what was chosen of the lines near to them."""

    also: Annotated[str, StringConstraints(max_length=2000)] = ""
    """Lines that mean the words, as in :class:`FactQuery`."""


class FactQuery(Schema):
    """What is followed: typed words, or a memory of an agent."""

    q: Annotated[str, StringConstraints(max_length=1000)] = ""
    agent: Annotated[int | None, Field(ge=1, le=LARGEST)] = None
    n: Annotated[int | None, Field(ge=1, le=LARGEST)] = None
    also: Annotated[str, StringConstraints(max_length=2000)] = ""
    """Lines that mean the typed words although they have only a part of them: agents and memories
    of theirs, as ``48-27,50-12``."""
    without: Annotated[str, StringConstraints(max_length=2000)] = ""
    """Lines that have the typed words and mean something else, likewise."""


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
api.add_router("", agent_api.router)
api.add_router("", actions.router)
api.add_router("", asked_api.router)
api.add_router("", editing.router)
api.add_router("", people_api.router)
api.add_router("", reading_router)
api.add_router("", tokens_api.router)


def addresses() -> list[URLPattern]:
    """Return the URL patterns of all operations, only for accounts that may watch."""
    patterns: list[URLPattern] = api.urls[0]
    for each in patterns:
        each.callback = access.api(each.callback)
    return patterns


# -- all agents


@api.get("/agents", response=answers(Overview))
def overview(request: HttpRequest) -> Overview:
    """All agents at a glance, and the model servers."""
    warm(world.folders())
    return overview_now.overview(acts(request))


@api.get("/search", response=answers(SearchView))
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


@api.get("/events", response=answers(NewEvents))
def events(
    request: HttpRequest,
    after: QueryEx[int | None, P(ge=0, le=LARGEST)] = None,
    agent: Number = None,
) -> NewEvents:
    """The events ``after`` an event number, of all agents or one; without ``after`` the newest."""
    log = runtime().places.events
    return history.new_events(log, agent or 0, after, watching().complete)


@api.get("/map", response=answers(MapView))
def map_of_world(request: HttpRequest) -> MapView:
    """The rooms of the world, laid out by the directions of their exits, and who is in them."""
    return rooms.map_of_world()


@api.get("/plans", response=answers(list[OwnPlan]))
def plans(request: HttpRequest, ended: bool = False) -> list[OwnPlan]:
    """What all agents mean to do: plans with a time first, the next one first of all.

    With ``ended`` also the last plans of each that have ended, the one that was due last first.
    """
    return with_causes_of_all(plans_now.plans(ended=ended), world.folders())


@api.get("/promises", response=answers(list[PromiseRow]))
def promises(request: HttpRequest) -> list[PromiseRow]:
    """What all agents have promised: for a certain day first, the next one first of all."""
    return promised.promises(world.folders())


@api.get("/past", response=answers(PastView))
def past(request: HttpRequest) -> PastView:
    """Where all agents were, and how their memories grew and shrank, from the first memory on."""
    shared = runtime()
    log = shared.places.events
    return scrubber.pasts(world.folders(), log, shared.clock.now(), may_act=acts(request))


@api.get("/fact", response=answers(FactView))
def fact(request: HttpRequest, asked: Query[FactQuery]) -> FactView:
    """Where a fact went: who told it to whom, who knows it, and which compaction dropped it.

    A fact is memory ``n`` of an agent, in whatever words it was told on. With ``q``, it is what was
    said with these words in one sentence, and the lines that ``also`` names: who speaks of *my
    watch* need not name themselves. ``|`` stands between two ways of saying it: ``bell | drowned
    sister``.
    """
    return fact_now(asked.q, asked.agent, asked.n, choice=choice_of(asked.also, asked.without))


@api.get("/fact/near", response=answers(list[StrandView]))
def fact_near(request: HttpRequest, asked: Query[NearQuery]) -> list[StrandView]:
    """The five lines nearest in meaning to words, best first: which of them are meant, if any?

    Who chooses one gives it to ``GET fact`` as ``also``. With ``also``, ten lines that may say
    the same as the chosen ones in other words.
    """
    return [*near_now(asked.q, choice_of(asked.also, "").meant)]


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
