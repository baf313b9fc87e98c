"""Django's middleware: headers of every answer, and sessions.

Evennia writes a session into the database for each request that comes without one, so that anybody
could fill it by asking over and over.
"""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest, HttpResponseBase
from evennia.web.utils.middleware import SharedLoginMiddleware

from keepsake.web.access import HEADERS, SITE_HEADERS, with_headers

_CLIENT = "/webclient"
"""Its page alone needs a session before anybody has logged in: the game gets its key."""
_STRICT = ("login", "logout")
"""Names of the addresses whose pages are Keepsake's own, as those about agents are."""


class SiteHeaders:
    """Django's middleware that sets them on every answer."""

    def __init__(self, answer_of: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._answer_of = answer_of

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer."""
        answer = self._answer_of(request)
        if request.is_secure():
            for cookie in getattr(answer, "cookies", {}).values():
                cookie["secure"] = True
        match = request.resolver_match  # None where there is no such address
        strict = match is not None and match.view_name in _STRICT
        return with_headers(answer, HEADERS if strict else SITE_HEADERS)


class SharedLogin(SharedLoginMiddleware):
    """Evennia's one log-in for site and web client; makes no session where none is needed."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and share the log-in where there is one."""
        # Whether somebody is logged in is read first: only then is it known whether the key that
        # the browser sent is of any session.
        anybody = SESSION_KEY in request.session or request.session.session_key is not None
        if anybody or request.path_info.startswith(_CLIENT):
            answer: HttpResponseBase = super().__call__(request)
            return answer
        answer = self.get_response(request)
        return answer
