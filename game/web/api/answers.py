"""How a view of the API reads its request and writes its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest, HttpResponseBase, JsonResponse

from game.mind.errors import KeepsakeError
from game.web.api.on_reactor import WorldBusy
from game.web.api.openapi import Operation
from game.web.api.shapes import Shape
from game.web.api.snapshots import NoSuchAgent
from game.web.api.why_view import NoSuchAct
from game.web.site.access import api, refused

Answer = Callable[..., Any]
"""Gives a model of :mod:`game.web.api.shapes`, or a mapping, for a request."""

_SAFE = ("GET", "HEAD")


class BadRequest(KeepsakeError):
    """A parameter that cannot be used."""


class NotAllowed(KeepsakeError):
    """Whoever asks may look, but not do that."""


def answering(
    function: Answer, *methods: str, operation: Operation | None = None
) -> Callable[..., HttpResponseBase]:
    """A view that gives what ``function`` does, as JSON, to whoever may watch.

    Args:
        function: Gets the request and what the address names.
        methods: The HTTP methods that it takes; those of ``operation`` where none are given.
        operation: What may be asked for there, and is refused if it is not told of; None to take
            whatever comes.
    """
    own = ("POST",) if operation is not None and operation.method == "post" else _SAFE

    @api(*(methods or own))
    def view(request: HttpRequest, *rest: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            if operation is not None:
                _known(request, operation)
            found = function(request, *rest, **kwargs)
        except KeepsakeError as error:
            return refused(_status_of(error), str(error))
        except OSError as error:  # an archive, or the log
            problem = f"A file cannot be read ({error.strerror}): see `keepsake doctor`"
            return refused(HTTPStatus.SERVICE_UNAVAILABLE, problem)
        return JsonResponse(found.model_dump() if isinstance(found, Shape) else found)

    return view


def _known(request: HttpRequest, operation: Operation) -> None:
    """Look whether all is told of that the request names, in its address or its body."""
    names = [each.name for each in operation.parameters]
    try:
        unknown = sorted(request.GET.keys() - set(names))
    except TooManyFieldsSent as error:
        raise BadRequest("The address names too much", _only(names)) from error
    if unknown:
        raise BadRequest(f"There is no parameter {unknown[0][:40]!r}", _only(names))
    if operation.method == "post":
        _flags(request, operation.body or {})


def _only(names: Sequence[str]) -> str:
    return f"Give {' or '.join(names)}" if names else "Give none"


def _status_of(error: KeepsakeError) -> HTTPStatus:
    match error:
        case BadRequest():
            return HTTPStatus.BAD_REQUEST
        case NotAllowed():
            return HTTPStatus.FORBIDDEN
        case NoSuchAgent() | NoSuchAct():
            return HTTPStatus.NOT_FOUND
        case WorldBusy():
            return HTTPStatus.SERVICE_UNAVAILABLE
    # The services are not running, an archive cannot be opened, a disk is full: not for ever.
    return HTTPStatus.SERVICE_UNAVAILABLE


def number_in(
    request: HttpRequest, name: str, default: int, least: int = 1, most: int = 2**53
) -> int:
    """A whole number among the parameters of the address.

    Args:
        request: The request.
        name: Which parameter.
        default: What it is if it is not given.
        least: The smallest that is allowed.
        most: The largest.

    Raises:
        BadRequest: It is none, or not within them.
    """
    given = request.GET.get(name, "")
    if not given:
        return default
    if given.isascii() and given.isdecimal() and len(given) <= 16 and least <= int(given) <= most:
        return int(given)
    raise BadRequest(f"{name} cannot be {given[:40]!r}", f"Give a whole number, {least} to {most}")


def words(request: HttpRequest, name: str, most: int) -> str:
    """A text among the parameters of the address, without blanks around it.

    Raises:
        BadRequest: It is not there, or longer than ``most`` characters.
    """
    given = str(request.GET.get(name, "")).strip()
    if not given:
        raise BadRequest(f"{name} is not given", f"Add it to the address: ?{name}=…")
    if len(given) > most:
        raise BadRequest(f"{name} has {len(given)} characters", f"Give at most {most}")
    return given


def flag(request: HttpRequest, name: str) -> bool:
    """Whether the JSON object in the request's body, if there is one, says so.

    Raises:
        BadRequest: The body is no JSON object, or holds something else.
    """
    return _flags(request, (name,)).get(name, False)


def _flags(request: HttpRequest, names: Collection[str]) -> dict[str, bool]:
    """The JSON object in the body, which may say yes or no to each of these names."""
    such = " or ".join(f'{{"{name}": true}}' for name in names)
    cure = f"Send none, or a JSON object such as {such}" if names else "Send none"
    try:
        given = json.loads(request.body or b"{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or not all(isinstance(each, bool) for each in given.values()):
        raise BadRequest("The body cannot be read", cure)
    if unknown := sorted(given.keys() - set(names)):
        raise BadRequest(f"There is no {unknown[0][:40]!r} to be said", cure)
    return given
