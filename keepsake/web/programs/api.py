"""Builders make, list and revoke tokens for programs; a program with a token cannot."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Router
from pydantic import Field, PositiveInt, StrictBool, StrictStr

from keepsake.web.access import BadRequest, NotAllowed, may_act, token_of, tokens
from keepsake.web.actions import RequestBody, audit
from keepsake.web.programs.tokens import LONGEST_NAME, Token, TokenRefused
from keepsake.web.shapes import ERRORS, Refused, Shape

router = Router()


class TokenView(Shape):
    """A token, without its secret."""

    id: int
    name: str
    writes: bool
    """Whether it may change anything; else it may only read."""
    by: str
    """The account of the builder who made it; empty if the ``keepsake`` command did."""
    made: datetime
    last_used: datetime | None
    """When a program used it last, since the server's start."""


class NewTokenView(Shape):
    """A token that was just made."""

    token: TokenView
    secret: str
    """The token itself. It is shown this once: only its hash is stored."""


class NewToken(RequestBody):
    """A token to make."""

    name: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_NAME)]
    writes: StrictBool = False


class TokenNumber(RequestBody):
    """A token."""

    id: PositiveInt


def _view(token: Token) -> TokenView:
    return TokenView(
        id=token.id,
        name=token.name,
        writes=token.writes,
        by=token.by,
        made=datetime.fromisoformat(token.made),
        last_used=tokens().last_used(token),
    )


def _only_builders(request: HttpRequest) -> None:
    if token_of(request) is not None or not may_act(request.user):
        raise NotAllowed("Only builders who have logged in manage tokens", "Log in as a builder")


@router.get("/tokens", response={200: list[TokenView], ERRORS: Refused})
def list_tokens(request: HttpRequest) -> list[TokenView]:
    """All tokens of programs, without their secrets; for builders only."""
    _only_builders(request)
    return list(map(_view, tokens().all()))


@router.post("/tokens", response={200: NewTokenView, ERRORS: Refused})
def make_token(request: HttpRequest, body: NewToken) -> NewTokenView:
    """Make a token for a program. It works as long as its maker is a builder."""
    _only_builders(request)
    who = str(request.user.get_username())
    try:
        account = int(request.user.pk or 0)
        made, secret = tokens().make(body.name, writes=body.writes, account=account, by=who)
    except TokenRefused as error:
        raise BadRequest(error.what, error.cure) from error
    audit(request, who, f"make the token {made.name!r}")
    return NewTokenView(token=_view(made), secret=secret)


@router.post("/tokens/revoke", response={200: TokenView, ERRORS: Refused})
def revoke_token(request: HttpRequest, body: TokenNumber) -> TokenView:
    """Revoke a token: it is refused from the next request on."""
    _only_builders(request)
    try:
        revoked = tokens().revoke(str(body.id))
    except TokenRefused as error:
        raise BadRequest(error.what, error.cure) from error
    audit(request, str(request.user.get_username()), f"revoke the token {revoked.name!r}")
    return _view(revoked)
