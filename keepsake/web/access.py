"""Who may look at the agents' minds in the browser, and what everybody else is told.

An account that may not look gets the same answer for every address, before anything is looked up:
not even that an agent exists can be learned from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt

from keepsake.errors import KeepsakeError

_NO_FRAME = "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
SITE_HEADERS: dict[str, str] = {
    "Content-Security-Policy": _NO_FRAME,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
"""What every answer of the site carries, Evennia's own pages included, which load from elsewhere:
nobody can put a page with a password in a frame of theirs."""
HEADERS: dict[str, str] = SITE_HEADERS | {
    "Content-Security-Policy": f"default-src 'self'; img-src 'self' data:; {_NO_FRAME}",
    "Cache-Control": "no-store",
}
"""What every answer about agents carries: nothing from elsewhere, in no frame, kept by nobody."""


def with_headers(answer: HttpResponseBase, headers: Mapping[str, str]) -> HttpResponseBase:
    """The same answer with these headers, where it has none of that name."""
    for name, value in headers.items():
        answer.headers.setdefault(name, value)
    return answer


def address_of(request: HttpRequest) -> str:
    """From where it really comes: the Portal says so, whatever a browser claims."""
    # Evennia's middleware reads the Portal's word; the connection itself is always the Portal's.
    return str(getattr(request, "origin_ip", "") or request.META.get("REMOTE_ADDR") or "")


type View = Callable[..., HttpResponseBase]

BUILDER = "builder"
"""The permission that the in-game commands for agents ask for."""
FORBIDDEN = "This is for the staff of this world. Log in as one of them"
UNTRUSTED = (
    "The request does not show that it comes from this page. Load the page again; a program sends "
    "the cookie `csrftoken` back in the header `X-CSRFToken`"
)
TOO_LONG = "The request is too long. Send no body, or a short JSON object"
NO_JSON = "The body is no JSON. Send none, or a JSON object as `application/json`"
NOWHERE = "There is no such address. GET /agents/api/openapi.json"
LONGEST_BODY = 10_000
"""Bytes: far more than any request has to say."""


class NotAllowed(KeepsakeError):
    """An account may look, but not do that."""


def may_watch(account: Any) -> bool:
    """Whether that account may look into the agents: staff, and builders.

    Reads the database, in any thread but the reactor's.
    """
    return bool(_known(account) and (account.is_staff or may_act(account)))


def may_act(account: Any) -> bool:
    """Whether it may pause agents, compact and so on, as by the commands in the game.

    Reads the database, in any thread but the reactor's.
    """
    return bool(_known(account) and (account.is_superuser or _builds(account)))


def _known(account: Any) -> bool:
    return account is not None and account.is_authenticated and account.is_active


def _builds(account: Any) -> bool:
    # Asked of the database: Evennia's own cache of it belongs to the reactor thread.
    levels = [level.casefold() for level in settings.PERMISSION_HIERARCHY]
    enough = levels[levels.index(BUILDER) :]
    # As Evennia keeps them, and in the plural, in which they may be given as well.
    spelt = [*enough, *(f"{level}s" for level in enough)]
    return bool(account.db_tags.filter(db_tagtype="permission", db_key__in=spelt).exists())


def page(view: View) -> View:
    """A view that shows a page to accounts that may watch; a stranger is shown where to log in."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if may_watch(request.user):
            return with_headers(view(request, *args, **kwargs), HEADERS)
        # Rendered without the request: the same for everybody and for every address.
        refusal = render_to_string("keepsake/403.html")
        return with_headers(HttpResponse(refusal, status=HTTPStatus.FORBIDDEN), HEADERS)

    return guarded


def api(view: View) -> View:
    """A view that answers with JSON to accounts that may watch; each POST needs the CSRF token.

    The account is looked at first: to a stranger a request without a token is like any other. Then
    what can be known without reading its body.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not may_watch(request.user):
            return with_headers(refused(HTTPStatus.FORBIDDEN, FORBIDDEN), HEADERS)
        refusal = _refusal(request)
        answer = _answer(request, view, *args, **kwargs) if refusal is None else refusal
        return with_headers(answer, HEADERS)

    # Exempt until it is known who asks; then the token is looked at above.
    exempt: View = csrf_exempt(guarded)
    return exempt


def _answer(request: HttpRequest, view: View, *args: Any, **kwargs: Any) -> HttpResponseBase:
    """What a view of django-ninja answers, also to HEAD; its errors as JSON."""
    method = request.method
    if method == "HEAD":
        request.method = "GET"
    try:
        answer = view(request, *args, **kwargs)
    except Http404:
        return refused(HTTPStatus.NOT_FOUND, NOWHERE)
    finally:
        request.method = method
    if answer.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
        return answer
    allowed = answer["Allow"].replace("GET", "GET, HEAD")
    cure = f"{method} is not for this address. Use {allowed.replace(', ', ' or ')}"
    return refused(HTTPStatus.METHOD_NOT_ALLOWED, cure, Allow=allowed)


def refused(status: int, error: str, **headers: str) -> JsonResponse:
    """The answer to a request that is not fulfilled; ``error`` names the cure."""
    return JsonResponse({"error": error}, status=status, headers=headers)


@api
def nowhere(_: HttpRequest, *_rest: str) -> HttpResponse:
    """An address that does not exist, which only accounts that may look are told."""
    return refused(HTTPStatus.NOT_FOUND, NOWHERE)


def _refusal(request: HttpRequest) -> HttpResponse | None:
    """Why the view is not even called; None if it is.

    The token comes last: Django looks for it in the body of a form, and here none is left.
    """
    given = str(request.META.get("CONTENT_LENGTH") or "")
    length = int(given) if given.isascii() and given.isdecimal() else 0
    if length > LONGEST_BODY:
        return refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
    if length and request.content_type != "application/json":
        return refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, NO_JSON)
    # Not of the view itself, which is exempt: django-ninja makes all of its views so.
    if _TOKENS.process_view(request, _refusal, (), {}) is not None:
        return refused(HTTPStatus.FORBIDDEN, UNTRUSTED)
    return None


class _Tokens(CsrfViewMiddleware):
    """Django's check of the token, which says here only that it failed."""

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        return HttpResponse(reason, status=HTTPStatus.FORBIDDEN)


_TOKENS = _Tokens(lambda request: HttpResponse())
