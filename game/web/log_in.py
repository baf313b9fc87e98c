"""Passwords and new accounts that come by the pages, asked of the game's own throttle."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from evennia.utils import logger
from evennia.web.utils.backends import CaseInsensitiveModelBackend
from evennia.web.website.views.accounts import AccountCreateView

from keepsake.web.access import address_of
from keepsake.web.world import on_reactor
from typeclasses import throttle
from typeclasses.accounts import Account


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
