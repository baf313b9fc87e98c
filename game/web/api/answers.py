"""Which address of the API is which view; how that reads its request and writes its answer."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from http import HTTPStatus
from types import ModuleType
from typing import Any

from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import path
from django.urls.resolvers import URLPattern

from game.web.api import views
from game.web.api.lives import NoSuchAgent
from game.web.api.openapi import FORM, FORMS, OPERATIONS, BadRequest, Operation
from game.web.api.shapes import Shape
from game.web.api.source import source
from game.web.api.why_view import NoSuchAct
from game.web.site.access import api, refused
from keepsake.errors import KeepsakeError
from keepsake.language.perception import for_cell

Answer = Callable[..., Any]
"""Gives a model of :mod:`game.web.api.shapes`, or a mapping, for a request."""


class NotAllowed(KeepsakeError):
    """Whoever asks may look, but not do that."""


NOW = "X-Keepsake-Now"
"""The header that has the present of a recorded world."""
_STATUS: dict[type[KeepsakeError], HTTPStatus] = {
    BadRequest: HTTPStatus.BAD_REQUEST,
    NotAllowed: HTTPStatus.FORBIDDEN,
    NoSuchAgent: HTTPStatus.NOT_FOUND,
    NoSuchAct: HTTPStatus.NOT_FOUND,
}
"""Of any other error 503: services that do not run, an archive that cannot be opened, a full disk
are not so for ever."""


def answering(function: Answer, operation: Operation) -> Callable[..., HttpResponseBase]:
    """A view that gives what ``function`` does, as JSON, to whoever may watch.

    It gets the request, what the address names, and all parameters of ``operation``.
    """

    @api(*(("POST",) if operation.method == "post" else ("GET", "HEAD")))
    def view(request: HttpRequest, **named: Any) -> HttpResponseBase:
        try:
            found = function(request, **named, **_asked(request, operation))
        except KeepsakeError as error:
            status = _STATUS.get(type(error), HTTPStatus.SERVICE_UNAVAILABLE)
            return refused(status, str(error))
        except OSError as error:  # an archive, or the log
            problem = f"A file cannot be read ({error.strerror}): see `keepsake doctor`"
            return refused(HTTPStatus.SERVICE_UNAVAILABLE, problem)
        if isinstance(found, Shape) and request.GET.get(FORM) == "csv":
            disposition = {"Content-Disposition": f'attachment; filename="{operation.id}.csv"'}
            kind = "text/csv; charset=utf-8"
            return HttpResponse(table(found), content_type=kind, headers=disposition)
        shown = source()  # of a record its present, by which the pages say how long ago all was
        headers = {NOW: shown.now().isoformat()} if shown.recorded else {}
        return JsonResponse(
            found.model_dump() if isinstance(found, Shape) else found, headers=headers
        )

    return view


def address(operation: Operation, module: ModuleType) -> URLPattern:
    """The address of an operation, whose view of that name is in ``module``."""
    view = getattr(module, operation.id.removesuffix(".json"))
    where = operation.path.replace("{id}", "<int:number>")
    return path(f"agents/api{where}", answering(view, operation))


looking = [address(each, views) for each in OPERATIONS if each.method == "get"]
"""The addresses of all that only look."""


@api()
def nowhere(_: HttpRequest, *_rest: str) -> HttpResponse:
    """What is not there, told to nobody who may not look."""
    return refused(HTTPStatus.NOT_FOUND, "There is no such address. GET /agents/api/openapi.json")


def table(found: Shape) -> str:
    """What an answer lists as CSV, a row each; of one that lists nothing all of it as one row."""
    lists = (value for _, value in found if isinstance(value, tuple))
    rows = next((each for each in lists if all(isinstance(row, Shape) for row in each)), (found,))
    cells = [{name: _cell(value) for name, value in row.model_dump().items()} for row in rows]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in cells for name in row)))
    writer.writeheader()
    writer.writerows(cells)
    return out.getvalue()


def _cell(value: object) -> object:
    """Texts and numbers as they are, but for what a spreadsheet would run; all else as JSON."""
    if isinstance(value, str):
        return for_cell(value)
    if value is None or isinstance(value, int | float):
        return value
    return json.dumps(value, ensure_ascii=False)


def _asked(request: HttpRequest, operation: Operation) -> dict[str, Any]:
    """All parameters, of the address and of the body.

    Raises:
        BadRequest: One cannot be used, or is not told of.
    """
    names = [each.name for each in operation.parameters]
    cure = f"Give {' or '.join(names)}" if names else "Give none"
    forms = {FORM} if operation.method == "get" and operation.answer else set()
    try:
        unknown = sorted(request.GET.keys() - set(names) - forms)
    except TooManyFieldsSent as error:
        raise BadRequest("The address names too much", cure) from error
    if unknown:
        raise BadRequest(f"There is no parameter {unknown[0][:40]!r}", cure)
    if request.GET.get(FORM, FORMS[0]) not in FORMS:
        raise BadRequest(f"There is no {FORM} of that name", f"Use {' or '.join(FORMS)}")
    body = _body(request, operation) if operation.method == "post" else {}
    asked = {each.name: each.read(request.GET.get(each.name, "")) for each in operation.parameters}
    return asked | body


def _body(request: HttpRequest, operation: Operation) -> dict[str, bool | str]:
    """What the JSON object in the body says: all the texts, and of the rest whether it is so."""
    flags, texts = operation.body, operation.texts
    such = [f'{{"{name}": true}}' for name in flags]
    such += ["{" + ", ".join(f'"{name}": "…"' for name in texts) + "}"] if texts else []
    none = "a" if texts else "none, or a"
    cure = f"Send {none} JSON object such as {' or '.join(such)}" if such else "Send none"
    try:
        given = json.loads(request.body or b"{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or any(
        not isinstance(each, str if name in texts else bool) for name, each in given.items()
    ):
        raise BadRequest("The body cannot be read", cure)
    if unknown := sorted(given.keys() - flags.keys() - texts.keys()):
        raise BadRequest(f"There is no {unknown[0][:40]!r} to be said", cure)
    if missing := sorted(texts.keys() - given.keys()):
        raise BadRequest(f"There is no {missing[0]!r} in the body", cure)
    said: dict[str, bool | str] = given
    return {**dict.fromkeys(flags, False), **said}
