"""The dashboard's JSON API at ``/agents/api/``; its schema is ``docs/openapi.json``.

Each operation runs in a view's thread. :mod:`keepsake.web.agents` asks the world; files are read
here; :mod:`keepsake.web.actions` has what builders do.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Literal

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.urls.resolvers import URLPattern
from ninja import NinjaAPI, P, Query, QueryEx
from ninja.errors import HttpError, ValidationError
from pydantic import BaseModel, StringConstraints

from keepsake.errors import KeepsakeError
from keepsake.web import access, actions, agents, archive_views, books, charts, search, why_view
from keepsake.web.access import NotAllowed, may_act, refused
from keepsake.web.actions import ONE
from keepsake.web.agents import NoSuchAgent
from keepsake.web.archive_views import MOST_MEMORIES
from keepsake.web.charts import MOST_HOURS
from keepsake.web.shapes import (
    AgentRow,
    Book,
    Compactions,
    Memories,
    Overview,
    PromptView,
    RecallView,
    Refused,
    SearchView,
    SentPrompts,
    Series,
    TiersView,
    WhyView,
)
from keepsake.web.why_view import NoSuchAct

_ABOUT = (
    "What the dashboard at /agents/ shows, as JSON, for staff accounts. Log in at /auth/login/ "
    "and send the session's cookie; what changes anything is a POST and needs the cookie "
    "`csrftoken` in the header `X-CSRFToken` as well. To anybody else every address answers 403, "
    "whether there is anything behind it or not. What happens is streamed live by /agents-live. An "
    "agent's number stays when it is renamed, and charts, reasons, prompts and live events of its "
    "former names are its own, for as long as it bore each."
)


_LARGEST = 2**53
"""The largest number that JSON can hold in every language."""
_ERRORS = frozenset({400, 403, 404, 405, 413, 415, 502, 503})

type Words = Query[
    Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
]
type BookName = Literal["journal", "people", "notes", "nights", "kept"]


class BadRequest(KeepsakeError):
    """A parameter that cannot be used."""


class _Api(NinjaAPI):
    """Names operations without their modules, and types of content without a charset."""

    def get_openapi_operation_id(self, operation: Any) -> str:
        return str(operation.view_func.__name__)

    def get_content_type(self) -> str:
        return str(self.renderer.media_type)


api = _Api(title="Keepsake's agents", version="1", description=_ABOUT, docs_url=None)
api.add_router("", actions.router)


def addresses() -> list[URLPattern]:
    """The addresses of all operations, each for accounts that may watch alone."""
    patterns: list[URLPattern] = api.urls[0]
    for each in patterns:
        each.callback = access.api(each.callback)
    return patterns


def _answers(shape: type[BaseModel]) -> dict[Any, type[BaseModel]]:
    return {200: shape, _ERRORS: Refused}


# -- all agents


@api.get("/agents", response=_answers(Overview))
def overview(request: HttpRequest) -> Overview:
    """All agents at a glance, and the model servers."""
    return agents.overview(may_act(request.user))


@api.get("/search", response=_answers(SearchView))
def search_all(
    request: HttpRequest, q: Words, limit: QueryEx[int, P(ge=1, le=500)] = 100
) -> SearchView:
    """Words in all agents' memories."""
    return search.search(q, limit)


# -- one of them


@api.get(ONE, response=_answers(AgentRow))
def agent(request: HttpRequest, number: int) -> AgentRow:
    """One agent at a glance."""
    return agents.row(number, may_act(request.user))


@api.get(f"{ONE}/prompt", response=_answers(PromptView))
def prompt(
    request: HttpRequest, number: int, seq: QueryEx[int | None, P(ge=1, le=_LARGEST)] = None
) -> PromptView:
    """The last prompt, or that of the thought with the number ``seq`` in the event log."""
    log, names = agents.event_log(), agents.names(number)
    if seq is not None:
        return why_view.prompt_of(log, names, seq)
    found = agents.prompt(number)
    return found if found.at is not None else why_view.last_prompt(log, names, found)


@api.get(f"{ONE}/prompts", response=_answers(SentPrompts))
def prompts(
    request: HttpRequest,
    number: int,
    before: QueryEx[int | None, P(ge=1, le=_LARGEST)] = None,
    limit: QueryEx[int, P(ge=1, le=100)] = 20,
) -> SentPrompts:
    """Prompts, the newest first, or those of thoughts with a number below ``before``."""
    return why_view.sent_prompts(agents.event_log(), agents.names(number), before, limit)


@api.get(f"{ONE}/book", response=_answers(Book))
def book(
    request: HttpRequest,
    number: int,
    of: BookName,
    limit: QueryEx[int, P(ge=1, le=200)] = 30,
    skip: QueryEx[int, P(ge=0, le=_LARGEST)] = 0,
) -> Book:
    """What it keeps beside its memories; ``kept`` is what is always in its prompts."""
    return books.book(number, of, limit, skip)


@api.get(f"{ONE}/tiers", response=_answers(TiersView))
def tiers(request: HttpRequest, number: int) -> TiersView:
    """Which memory is where."""
    return agents.tiers(number)


@api.get(f"{ONE}/memories", response=_answers(Memories))
def memories(
    request: HttpRequest,
    number: int,
    first: QueryEx[int | None, P(ge=1, le=_LARGEST)] = None,
    last: QueryEx[int | None, P(ge=1, le=_LARGEST)] = None,
) -> Memories:
    """The newest 200 memories, or those from ``first`` to ``last``."""
    known = agents.archive_of(number)
    first = first or max(known.archive.last_number - MOST_MEMORIES + 1, 1)
    last = last or first + MOST_MEMORIES - 1
    if last < first:
        raise BadRequest(f"There is nothing from {first} to {last}", "Give last, at least first")
    return archive_views.memories(known, first, last)


@api.get(f"{ONE}/recall", response=_answers(RecallView))
def recall(
    request: HttpRequest, number: int, q: Words, limit: QueryEx[int, P(ge=1, le=50)] = 12
) -> RecallView:
    """What a search by hand finds."""
    return why_view.recall(number, q, limit)


@api.get(f"{ONE}/compactions", response=_answers(Compactions))
def compactions(
    request: HttpRequest,
    number: int,
    limit: QueryEx[int, P(ge=1, le=100)] = 20,
    before: QueryEx[int | None, P(ge=1, le=_LARGEST)] = None,
) -> Compactions:
    """The newest compactions, or those with a number below ``before``."""
    return archive_views.compactions(agents.archive_of(number), limit, before)


@api.get(f"{ONE}/series", response=_answers(Series))
def series(
    request: HttpRequest, number: int, hours: QueryEx[int, P(ge=1, le=MOST_HOURS)] = 1
) -> Series:
    """Its last hours, for charts."""
    known = agents.archive_of(number)
    total = known.archive.last_number
    return charts.series(agents.event_log(), known.names, total, hours, agents.now())


@api.get(f"{ONE}/why", response=_answers(WhyView))
def why(
    request: HttpRequest,
    number: int,
    n: QueryEx[int, P(ge=1, le=1000)] = 1,
    all: QueryEx[int, P(ge=0, le=1)] = 0,
) -> WhyView:
    """Its last act but ``n`` - 1, and all that led to it.

    With ``all`` = 1 thoughts that came to nothing count as well.
    """
    known = agents.archive_of(number)
    return why_view.why(known, agents.event_log(), n, everything=bool(all))


# -- errors


@api.exception_handler(KeepsakeError)
def _of_ours(_: HttpRequest, error: KeepsakeError) -> HttpResponse:
    match error:
        case BadRequest() | search.NoWord():
            status = HTTPStatus.BAD_REQUEST
        case NotAllowed():
            status = HTTPStatus.FORBIDDEN
        case NoSuchAgent() | NoSuchAct():
            status = HTTPStatus.NOT_FOUND
        case _:  # no services, an archive that cannot be opened, a full disk: not for ever
            status = HTTPStatus.SERVICE_UNAVAILABLE
    return refused(status, str(error))


@api.exception_handler(OSError)
def _of_files(_: HttpRequest, error: OSError) -> HttpResponse:
    problem = f"A file cannot be read ({error.strerror}): see `keepsake doctor`"
    return refused(HTTPStatus.SERVICE_UNAVAILABLE, problem)


@api.exception_handler(ValidationError)
def _of_parameters(_: HttpRequest, error: ValidationError) -> HttpResponse:
    wrong = (f"{each['loc'][-1]}: {each['msg']}" for each in error.errors)
    return refused(HTTPStatus.BAD_REQUEST, "; ".join(wrong)[:250])


@api.exception_handler(HttpError)
def _of_bodies(_: HttpRequest, error: HttpError) -> HttpResponse:
    return refused(error.status_code, f"{error}. Send a JSON object")


@api.exception_handler(SuspiciousOperation)
def _of_addresses(_: HttpRequest, error: SuspiciousOperation) -> HttpResponse:
    return refused(HTTPStatus.BAD_REQUEST, "The address names too much. Give fewer parameters")
