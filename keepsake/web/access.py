"""Access to the dashboard: which accounts may use it, and the answers to all others.

An account without access gets the same answer for every address, before anything is looked up. So
it cannot even learn whether an agent exists.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Callable, Mapping
from functools import cache, wraps
from http import HTTPMethod, HTTPStatus
from math import ceil
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.gzip import GZipMiddleware
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt

from keepsake.bearer import bearer_token
from keepsake.contrib.evennia.apps import places
from keepsake.errors import KeepsakeError
from keepsake.web.programs.tokens import PER_MINUTE, Token, TokenStore

_NO_FRAME = "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
SITE_HEADERS: dict[str, str] = {
    "Content-Security-Policy": _NO_FRAME,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
"""Headers of every answer of the site. They also fit Evennia's own pages, which load files from
other sites. No other site can put a page with a password field in a frame."""
HEADERS: dict[str, str] = SITE_HEADERS | {
    "Content-Security-Policy": f"default-src 'self'; img-src 'self' data:; {_NO_FRAME}",
    "Cache-Control": "no-store",
}
"""Headers of every answer about agents: no files from other sites, no frames, no caches."""
BUILDER = "builder"
"""The permission that the in-game commands for agents require."""
FORBIDDEN = "Only staff accounts have access. Log in with one"
UNTRUSTED = (
    "The CSRF token is missing or wrong. Load the page again; a program sends the cookie "
    "`csrftoken` in the header `X-CSRFToken`"
)
UNKNOWN_ADDRESS = "There is no such address. GET /agents/api/openapi.json lists all"
METRICS_TOKEN = "KEEPSAKE_METRICS_TOKEN"

type View = Callable[..., HttpResponseBase]


class BadRequest(KeepsakeError):
    """The request has a value that cannot be used."""

    status = HTTPStatus.BAD_REQUEST


class NotAllowed(KeepsakeError):
    """The account may see the dashboard, but not do this."""

    status = HTTPStatus.FORBIDDEN


class NotFound(KeepsakeError):
    """There is no such agent, act or prompt."""

    status = HTTPStatus.NOT_FOUND


def with_headers(answer: HttpResponseBase, headers: Mapping[str, str]) -> HttpResponseBase:
    """Add these headers to the answer, except those that it has already; return it."""
    for name, value in headers.items():
        answer.headers.setdefault(name, value)
    return answer


def address_of(request: HttpRequest) -> str:
    """Return the client's address as Evennia's Portal saw it, not as the client claims it."""
    # Evennia's middleware sets origin_ip from the Portal; the connection itself is the Portal's.
    return str(getattr(request, "origin_ip", "") or request.META.get("REMOTE_ADDR") or "")


def may_watch(account: Any) -> bool:
    """Whether the account may see the dashboard: staff and builders may."""
    return bool(_known(account) and (account.is_staff or may_act(account)))


def may_act(account: Any) -> bool:
    """Whether the account may pause agents, compact and so on, as with the in-game commands."""
    return bool(_known(account) and (account.is_superuser or _builds(account)))


def _known(account: Any) -> bool:
    return account is not None and account.is_authenticated and account.is_active


def _builds(account: Any) -> bool:
    # Read from the database: Evennia's cache of permissions belongs to the reactor thread.
    levels = [level.casefold() for level in settings.PERMISSION_HIERARCHY]
    enough = levels[levels.index(BUILDER) :]
    # Evennia also accepts the plural of a permission.
    spelt = [*enough, *(f"{level}s" for level in enough)]
    return bool(account.db_tags.filter(db_tagtype="permission", db_key__in=spelt).exists())


def acts(request: HttpRequest) -> bool:
    """Whether whoever asks may change anything: a builder, or a program with such a token."""
    token = token_of(request)
    return token.writes if token is not None else may_act(request.user)


def token_of(request: HttpRequest) -> Token | None:
    """Return the token with which a program asks; None for an account."""
    found: Token | None = getattr(request, "keepsake_token", None)
    return found


def page(view: View) -> View:
    """Wrap a view so that only accounts that may watch get its page; others get a log-in link."""

    def refusal(request: HttpRequest) -> HttpResponse:
        # Of the request it says only who asks, so it is the same for all addresses.
        account = request.user.get_username() if _known(request.user) else ""
        page = render_to_string("keepsake/403.html", {"account": account})
        return HttpResponse(page, status=HTTPStatus.FORBIDDEN)

    return _guarded(view, refusal)


def api(view: View) -> View:
    """Wrap a JSON view so that only accounts that may watch get it, and programs with a token.

    A POST of an account needs the CSRF token; of a program a token that may write. The account is
    checked first, so others get the same answer with or without a CSRF token.
    """

    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if (token := token_of(request)) is not None:  # another site cannot send its header
            return _for_token(token, request) or view(request, *args, **kwargs)
        # ``answer`` and not ``view``: django-ninja marks all its views as exempt from the check.
        if _TOKENS.process_view(request, answer, (), {}) is not None:
            return refused(HTTPStatus.FORBIDDEN, UNTRUSTED)
        return view(request, *args, **kwargs)

    @wraps(view)
    def known(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        request.keepsake_token = _shown_token(request)
        return _compressed(request, guarded(request, *args, **kwargs))

    guarded = _guarded(answer, lambda _: refused(HTTPStatus.FORBIDDEN, FORBIDDEN))
    exempt: View = csrf_exempt(known)
    return exempt


def _compressed(request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
    """Compress an answer for a client that reads that: words of many memories shrink to a fifth.

    A stream of events is left as it is: each event must arrive at once.
    """
    if answer.streaming or not isinstance(answer, HttpResponse):
        return answer
    return _COMPRESSING.process_response(request, answer)


@cache
def tokens() -> TokenStore:
    """Return the tokens of this copy of Keepsake."""
    return TokenStore(places().home)


def _shown_token(request: HttpRequest) -> Token | None:
    """Return the token that a program shows, if it is known and its maker may still do so much."""
    secret = bearer_token(request.headers.get("Authorization", ""))
    if not secret:
        return None
    found = tokens().find(secret)
    if found is None or not found.account:
        return found
    maker = get_user_model().objects.filter(id=found.account).first()
    return found if may_act(maker) else None


def _for_token(token: Token, request: HttpRequest) -> HttpResponse | None:
    """Return why a request with a token is refused; None if it is not."""
    if wait := tokens().seconds_left(token):
        told = f"This token has made {PER_MINUTE} requests in a minute. Wait {wait:.0f} seconds"
        answer = refused(HTTPStatus.TOO_MANY_REQUESTS, told)
        answer.headers["Retry-After"] = str(ceil(wait))
        return answer
    if request.method not in (HTTPMethod.GET, HTTPMethod.HEAD) and not token.writes:
        told = "This token may only read. A builder can make one that may write, at /agents/tokens"
        return refused(HTTPStatus.FORBIDDEN, told)
    return None


def _guarded(view: View, refusal: Callable[[HttpRequest], HttpResponse]) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        watches = token_of(request) is not None or may_watch(request.user)
        answer = view(request, *args, **kwargs) if watches else refusal(request)
        return with_headers(answer, HEADERS)

    return guarded


def refused(status: int, error: str) -> JsonResponse:
    """Return the answer to a refused request; ``error`` includes the cure."""
    return JsonResponse({"error": error}, status=status)


@api
def unknown_address(_: HttpRequest, *_rest: str) -> HttpResponse:
    """Answer 404 for an unknown address; accounts without access get 403 as everywhere."""
    return refused(HTTPStatus.NOT_FOUND, UNKNOWN_ADDRESS)


class _Tokens(CsrfViewMiddleware):
    """Django's check of the CSRF token; its refusal only says that the check failed."""

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        return HttpResponse(reason, status=HTTPStatus.FORBIDDEN)


_TOKENS = _Tokens(lambda request: HttpResponse())
_COMPRESSING = GZipMiddleware(lambda request: HttpResponse())


def may_read_metrics(request: HttpRequest) -> bool:
    """Whether the client may read the metrics: with the token if one is set, else locally only."""
    if token := os.environ.get(METRICS_TOKEN, "").strip():
        shown = request.headers.get("Authorization", "").encode()
        return hmac.compare_digest(shown, f"Bearer {token}".encode())
    try:
        return ipaddress.ip_address(address_of(request)).is_loopback
    except ValueError:
        return False
