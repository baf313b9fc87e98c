"""The dashboard's JSON API at ``/agents/api/``; its schema is ``docs/openapi.json``.

Each operation runs in a view's thread. The world is asked in :mod:`keepsake.web.world`; what is
read from disk is read here. What builders do is in :mod:`keepsake.web.actions`.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Literal

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.urls.resolvers import URLPattern
from ninja import NinjaAPI, P, Query, QueryEx
from ninja.errors import HttpError, ValidationError
from pydantic import StringConstraints

from keepsake.errors import KeepsakeError
from keepsake.events.why import Why, why_did
from keepsake.web import access, actions, books, charts, history, prompts, world
from keepsake.web.access import NotAllowed, may_act, refused
from keepsake.web.actions import ONE
from keepsake.web.charts import MOST_HOURS
from keepsake.web.history import MOST_MEMORIES
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
    WorldView,
)
from keepsake.web.world import NoSuchAgent

_ABOUT = (
    "What the dashboard at /agents/ shows, as JSON, for staff accounts. Log in at /auth/login/ "
    "and send the session's cookie; what changes anything is a POST and needs the cookie "
    "`csrftoken` in the header `X-CSRFToken` as well. To anybody else every address answers 403, "
    "whether there is anything behind it or not. What happens is streamed live by /agents-live. An "
    "agent's number stays when it is renamed, and so do its charts, reasons, prompts and events."
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


class NoSuchAct(KeepsakeError):
    """The agent has no such act, as far as log and archive show."""


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


def _answers(shape: type) -> dict[Any, type]:
    return {200: shape, _ERRORS: Refused}


# -- all agents


@api.get("/agents", response=_answers(Overview))
def overview(request: HttpRequest) -> Overview:
    """All agents at a glance, and the model servers."""
    return world.overview(may_act(request.user))


@api.get("/search", response=_answers(SearchView))
def search_all(
    request: HttpRequest, q: Words, limit: QueryEx[int, P(ge=1, le=500)] = 100
) -> SearchView:
    """Words in all agents' memories."""
    return history.search(q, limit)


@api.get("/world", response=_answers(WorldView))
def rooms(request: HttpRequest) -> WorldView:
    """The places in which agents are, and who is there."""
    return world.rooms()


# -- one of them


@api.get(ONE, response=_answers(AgentRow))
def agent(request: HttpRequest, number: int) -> AgentRow:
    """One agent at a glance."""
    return world.row(number, may_act(request.user))


@api.get(f"{ONE}/prompt", response=_answers(PromptView))
def prompt(
    request: HttpRequest, number: int, seq: QueryEx[int | None, P(ge=1, le=_LARGEST)] = None
) -> PromptView:
    """The last prompt, or that of the thought with the number ``seq`` in the event log."""
    log, _ = world.event_log(), world.name_of(number)
    if seq is not None:
        return prompts.prompt_of(log, number, seq)
    found = world.prompt(number)
    return found if found.at is not None else prompts.last_prompt(log, number, found)


@api.get(f"{ONE}/prompts", response=_answers(SentPrompts))
def sent_prompts(
    request: HttpRequest,
    number: int,
    before: QueryEx[int | None, P(ge=1, le=_LARGEST)] = None,
    limit: QueryEx[int, P(ge=1, le=100)] = 20,
) -> SentPrompts:
    """Prompts, the newest first, or those of thoughts with a number below ``before``."""
    log, _ = world.event_log(), world.name_of(number)
    return prompts.sent_prompts(log, number, before, limit)


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
    return world.tiers(number)


@api.get(f"{ONE}/memories", response=_answers(Memories))
def memories(
    request: HttpRequest,
    number: int,
    first: QueryEx[int | None, P(ge=1, le=_LARGEST)] = None,
    last: QueryEx[int | None, P(ge=1, le=_LARGEST)] = None,
) -> Memories:
    """The newest 200 memories, or those from ``first`` to ``last``."""
    known = world.archive_of(number)
    first = first or max(known.archive.last_number - MOST_MEMORIES + 1, 1)
    last = last or first + MOST_MEMORIES - 1
    if last < first:
        raise BadRequest(f"There is nothing from {first} to {last}", "Give last, at least first")
    found = known.archive.read(first, min(last, first + MOST_MEMORIES - 1))
    return Memories(memories=tuple(found))


@api.get(f"{ONE}/recall", response=_answers(RecallView))
def recall(
    request: HttpRequest, number: int, q: Words, limit: QueryEx[int, P(ge=1, le=50)] = 12
) -> RecallView:
    """What a search by hand finds."""
    return prompts.recall(number, q, limit)


@api.get(f"{ONE}/compactions", response=_answers(Compactions))
def compactions(
    request: HttpRequest,
    number: int,
    limit: QueryEx[int, P(ge=1, le=100)] = 20,
    before: QueryEx[int | None, P(ge=1, le=_LARGEST)] = None,
) -> Compactions:
    """The newest compactions, or those with a number below ``before``."""
    return history.compactions(world.archive_of(number), limit, before)


@api.get(f"{ONE}/series", response=_answers(Series))
def series(
    request: HttpRequest, number: int, hours: QueryEx[int, P(ge=1, le=MOST_HOURS)] = 1
) -> Series:
    """Its last hours, for charts."""
    total = world.archive_of(number).archive.last_number
    return charts.series(world.event_log(), number, total, hours, world.now())


@api.get(f"{ONE}/why", response=_answers(Why))
def why(
    request: HttpRequest,
    number: int,
    n: QueryEx[int, P(ge=1, le=1000)] = 1,
    all: QueryEx[int, P(ge=0, le=1)] = 0,
) -> Why:
    """Its last act but ``n`` - 1, and all that led to it.

    With ``all`` = 1 thoughts that came to nothing count as well.
    """
    known = world.archive_of(number)
    try:
        return why_did(
            world.event_log(), known.archive, known.name, number, n, everything=bool(all)
        )
    except KeepsakeError as error:
        if isinstance(error.__cause__, OSError):
            raise
        raise NoSuchAct(error.what, error.cure) from error


# -- errors


@api.exception_handler(KeepsakeError)
def _of_ours(_: HttpRequest, error: KeepsakeError) -> HttpResponse:
    match error:
        case BadRequest() | history.NoWord():
            status = HTTPStatus.BAD_REQUEST
        case NotAllowed():
            status = HTTPStatus.FORBIDDEN
        case NoSuchAgent() | NoSuchAct() | prompts.NoSuchPrompt():
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
