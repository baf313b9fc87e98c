"""Who may look at the agents' minds in the browser, and what everybody else is told.

Whoever may not look gets the same answer wherever they try, before anything is looked up: not
even that an agent exists can be learned from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt

from game.web.site.headers import HEADERS, with_headers

View = Callable[..., HttpResponseBase]

BUILDER = "builder"
"""The permission that the in-game commands for agents ask for."""
FORBIDDEN = "This is for the staff of this world. Log in as one of them"
UNTRUSTED = (
    "The request does not show that it comes from this page. Load the page again; a program sends "
    "the cookie `csrftoken` back in the header `X-CSRFToken`"
)
TOO_LONG = "The request is too long. Send no body, or a short JSON object"
NO_JSON = "The body is no JSON. Send none, or a JSON object as `application/json`"
LONGEST_BODY = 10_000
"""Bytes: far more than any request has to say."""


class Reader:
    """Whoever opened a record of a world on this machine: sees all, and acts on nothing."""

    is_authenticated = is_active = is_staff = True
    is_superuser = False


def may_watch(account: Any) -> bool:
    """Whether that account may look into the agents: staff, and builders.

    Reads the database, in any thread but the reactor's.
    """
    return bool(_known(account) and (account.is_staff or may_act(account)))


def may_act(account: Any) -> bool:
    """Whether it may pause agents, compact and so on: whoever has the in-game commands for it.

    Reads the database, in any thread but the reactor's.
    """
    if isinstance(account, Reader):
        return False
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
    """A view that shows a page, to whoever may watch; a stranger is shown where to log in."""
    # Rendered without the request: the same to whoever asks, for whatever.
    return _guarded(
        view,
        lambda: HttpResponse(render_to_string("website/403.html"), status=HTTPStatus.FORBIDDEN),
    )


def api(*methods: str) -> Callable[[View], View]:
    """A view that answers with JSON, to whoever may watch; what changes anything needs the token.

    Who asks is looked at first: to a stranger a request without a token is like any other. Then
    what can be known without reading its body.
    """
    return lambda view: _guarded(view, lambda: refused(HTTPStatus.FORBIDDEN, FORBIDDEN), methods)


def refused(status: int, error: str, **headers: str) -> JsonResponse:
    """The answer to a request that is not fulfilled; ``error`` names the cure."""
    return JsonResponse({"error": error}, status=status, headers=headers)


def _guarded(
    view: View, forbidden: Callable[[], HttpResponse], methods: Collection[str] = ()
) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not may_watch(request.user):
            return with_headers(forbidden(), HEADERS)
        refusal = _refusal(request, view, methods)
        answer = view(request, *args, **kwargs) if refusal is None else refusal
        return with_headers(answer, HEADERS)

    # Exempt until it is known who asks; then the token is looked at above.
    exempt: View = csrf_exempt(guarded)
    return exempt


def _refusal(request: HttpRequest, view: View, methods: Collection[str]) -> HttpResponse | None:
    """Why the view need not even be asked; None if it is.

    The token comes last: Django looks for it in the body of a form, and here none is left.
    """
    length = _length(request)
    if length > LONGEST_BODY:
        return refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
    if methods and request.method not in methods:
        cure = f"{request.method} is not for this address. Use {' or '.join(methods)}"
        return refused(HTTPStatus.METHOD_NOT_ALLOWED, cure, Allow=", ".join(methods))
    if length and request.content_type != "application/json":
        return refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, NO_JSON)
    if _TOKENS.process_view(request, view, (), {}) is not None:
        return refused(HTTPStatus.FORBIDDEN, UNTRUSTED)
    return None


def _length(request: HttpRequest) -> int:
    """Bytes of the body, of which Django reads no more than the request says there are."""
    given = str(request.META.get("CONTENT_LENGTH") or "")
    return int(given) if given.isascii() and given.isdecimal() else 0


class _Tokens(CsrfViewMiddleware):
    """Django's check of the token, which says here only that it failed."""

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        return HttpResponse(reason, status=HTTPStatus.FORBIDDEN)


_TOKENS = _Tokens(lambda request: HttpResponse())
