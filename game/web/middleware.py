"""Django's middleware: headers of every answer, and sessions.

Evennia writes a session into the database for each request that comes without one, so that anybody
could fill it by asking over and over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth import SESSION_KEY
from django.core.exceptions import ValidationError
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from evennia.utils import logger
from evennia.web.utils.backends import CaseInsensitiveModelBackend
from evennia.web.utils.middleware import SharedLoginMiddleware
from evennia.web.website.views.accounts import AccountCreateView
from twisted.web.http import Request
from twisted.web.pages import forbidden
from twisted.web.resource import IResource
from twisted.web.static import File

from keepsake.web.access import HEADERS, SITE_HEADERS, address_of, with_headers
from keepsake.web.world import on_reactor
from typeclasses import throttle
from typeclasses.accounts import Account

type View = Callable[[HttpRequest], HttpResponseBase]

_CLIENT = "/webclient"
"""Its page alone needs a session before anybody has logged in: the game gets its key."""
_STRICT = ("login", "logout")
"""Names of the addresses whose pages are Keepsake's own, as those about agents are."""


def site_headers(answer_of: View) -> View:
    """Django's middleware that sets them on every answer."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        answer = answer_of(request)
        if request.is_secure():
            for cookie in getattr(answer, "cookies", {}).values():
                cookie["secure"] = True
        match = request.resolver_match  # None where there is no such address
        strict = match is not None and match.view_name in _STRICT
        return with_headers(answer, HEADERS if strict else SITE_HEADERS)

    return answer


class SharedLogin(SharedLoginMiddleware):
    """Evennia's one log-in for site and web client; makes no session where none is needed."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and share the log-in where there is one."""
        # Whether somebody is logged in is read first: only then is it known whether the key that
        # the browser sent is of any session.
        anybody = SESSION_KEY in request.session or request.session.session_key is not None
        shares = anybody or request.path_info.startswith(_CLIENT)
        answer: HttpResponseBase = (super().__call__ if shares else self.get_response)(request)
        return answer


class StaticFiles(File):
    """A folder of files, without a list of them.

    Browsers ask each time whether their copy is still the newest: after an upgrade none runs old
    modules of a page beside new ones.
    """

    def render_GET(self, request: Request) -> Any:  # noqa: N802 - Twisted's name
        """Send the file, or that it has not changed."""
        request.setHeader(b"cache-control", b"no-cache")
        request.setHeader(b"x-content-type-options", b"nosniff")
        return super().render_GET(request)

    render_HEAD = render_GET  # noqa: N815 - Twisted's name

    def directoryListing(self) -> IResource:  # noqa: N802 - Twisted's name
        """Nothing."""
        return forbidden()


class ThrottledBackend(CaseInsensitiveModelBackend):
    """Django's way to try a password: the log-in page, the admin pages, whatever else asks it."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        autologin: Account | None = None,
    ) -> Account | None:
        """The account; None if the password is wrong.

        Raises:
            ValidationError: It was not even tried; forms show why.
        """
        if autologin is not None:
            autologin.backend = f"{type(self).__module__}.{type(self).__qualname__}"
            return autologin
        if request is None:  # the game itself: `Account.authenticate` has asked the throttle
            return self._right(username, password)
        address, username = address_of(request), throttle.cut(username or "")
        attempt = throttle.attempt(username, address)
        if attempt.refusal:
            raise ValidationError(attempt.refusal, code="throttled")
        if Account.is_banned(username=username, ip=address):
            raise ValidationError("You have been banned.", code="banned")
        account = self._right(username, password)
        if account is not None:
            attempt.take_back()
            on_reactor(account.came_from)(address)
        else:
            logger.log_sec(f"Authentication Failure: {username!r} at a page (IP: {address}).")
        return account

    def _right(self, username: str | None, password: str | None) -> Account | None:
        found: Account | None = super().authenticate(None, username=username, password=password)
        return found


class RegisterView(AccountCreateView):
    """Evennia's page for new accounts, which does not say from where they come."""

    def form_valid(self, form: Form) -> HttpResponse:
        """Make the account, or show why not."""
        given = form.cleaned_data
        account, errors = Account.create(
            username=given["username"],
            password=given["password1"],
            email=given.get("email", ""),
            ip=address_of(self.request),
        )
        if account is None:
            form.add_error("username", " ".join(errors))  # all that its page has a place for
            return self.form_invalid(form)
        messages.success(self.request, f"You are {account.name} now. Log in with your password.")
        return HttpResponseRedirect(self.success_url)
