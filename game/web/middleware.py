"""Django middleware: response headers, sessions, and throttled logins.

Evennia stores a session for each request without one, so that anybody could fill the database with
requests. Here a session is stored only where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth import SESSION_KEY
from django.core.exceptions import ValidationError
from django.forms import Form
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseBase,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from evennia.utils import logger
from evennia.web.utils.backends import CaseInsensitiveModelBackend
from evennia.web.utils.middleware import SharedLoginMiddleware
from evennia.web.website.views.accounts import AccountCreateView
from twisted.web.http import Request
from twisted.web.pages import forbidden
from twisted.web.resource import IResource
from twisted.web.static import File

from game.web.requests import ACCOUNT_IN_SESSION
from keepsake.web.access import HEADERS, SITE_HEADERS, address_of, with_headers
from keepsake.web.world import on_reactor
from typeclasses import throttle
from typeclasses.accounts import Account

type View = Callable[[HttpRequest], HttpResponseBase]

_CLIENT = "/webclient"
"""The only page that needs a session before a login: the game gets the session's key."""
_STRICT = ("login", "logout")
"""Names of the URLs whose pages are Keepsake's own, like the pages about agents."""


def site_headers(answer_of: View) -> View:
    """Return middleware that sets security headers on every answer."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        answer = answer_of(request)
        if request.is_secure():
            for cookie in getattr(answer, "cookies", {}).values():
                cookie["secure"] = True
        match = request.resolver_match  # None if the address is unknown
        strict = match is not None and match.view_name in _STRICT
        return with_headers(answer, HEADERS if strict else SITE_HEADERS)

    return answer


class SharedLogin(SharedLoginMiddleware):
    """Evennia's shared login of site and web client, without sessions that nobody needs."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and share the login if there is one."""
        # Reading the session first shows whether the browser's key belongs to an existing one.
        anybody = SESSION_KEY in request.session or request.session.session_key is not None
        shares = anybody or request.path_info.startswith(_CLIENT)
        answer: HttpResponseBase = (super().__call__ if shares else self.get_response)(request)
        return answer


def adopt_session(request: HttpRequest) -> HttpResponse:
    """Give the browser the session that began when its web client logged in.

    The web socket cannot set a cookie. It tells the new session's key to the page, which posts it
    here. The session before the log-in is deleted: somebody else may know its key.
    """
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    fresh = type(request.session)(session_key=request.POST.get("key", ""))
    if not fresh.get(ACCOUNT_IN_SESSION):
        return HttpResponseBadRequest("There is no such session.")
    request.session.delete()
    fresh.modified = True  # so that the answer sets the cookie
    request.session = fresh
    return HttpResponse(status=204)


class StaticFiles(File):
    """A folder of files without a directory listing.

    Browsers must revalidate their copies: after an upgrade no page mixes old and new modules.
    """

    def render_GET(self, request: Request) -> Any:  # noqa: N802 - Twisted's name
        """Send the file, or that it has not changed."""
        request.setHeader(b"cache-control", b"no-cache")
        request.setHeader(b"x-content-type-options", b"nosniff")
        return super().render_GET(request)

    render_HEAD = render_GET  # noqa: N815 - Twisted's name

    def directoryListing(self) -> IResource:  # noqa: N802 - Twisted's name
        """Refuse to list the folder."""
        return forbidden()


class ThrottledBackend(CaseInsensitiveModelBackend):
    """Django's password check, throttled: for the login page, the admin pages and others."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        autologin: Account | None = None,
    ) -> Account | None:
        """Return the account; None if the password is wrong.

        Raises:
            ValidationError: The attempt was refused without a check; forms show the reason.
        """
        if autologin is not None:
            autologin.backend = f"{type(self).__module__}.{type(self).__qualname__}"
            return autologin
        if request is None:  # the game itself: `Account.authenticate` has asked the throttle
            return self._check(username, password)
        address = address_of(request)
        username = throttle.clean_name(username or "")
        attempt = throttle.attempt(username, address)
        if attempt.refusal:
            raise ValidationError(attempt.refusal, code="throttled")
        if Account.is_banned(username=username, ip=address):
            raise ValidationError("You have been banned.", code="banned")
        account = self._check(username, password)
        if account is not None:
            attempt.take_back()
            on_reactor(account.store_address)(address)
        else:
            logger.log_sec(f"Authentication Failure: {username!r} at a page (IP: {address}).")
        return account

    def _check(self, username: str | None, password: str | None) -> Account | None:
        found: Account | None = super().authenticate(None, username=username, password=password)
        return found


class RegisterView(AccountCreateView):
    """Evennia's page for new accounts, with the client's address for the throttle."""

    def form_valid(self, form: Form) -> HttpResponse:
        """Create the account, or show the errors."""
        given = form.cleaned_data
        account, errors = Account.create(
            username=given["username"],
            password=given["password1"],
            email=given.get("email", ""),
            ip=address_of(self.request),
        )
        if account is None:
            form.add_error("username", " ".join(errors))  # the only place for errors on its page
            return self.form_invalid(form)
        messages.success(self.request, f"The account {account.name} was made. Log in.")
        return HttpResponseRedirect(self.success_url)
