"""Which address of the API is which view."""

from __future__ import annotations

from http import HTTPStatus
from types import ModuleType

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.urls.resolvers import URLPattern

from game.web.api import views
from game.web.api.answers import answering
from game.web.api.openapi import OPERATIONS, Operation
from game.web.site import access


def address(operation: Operation, module: ModuleType) -> URLPattern:
    """The address of an operation, whose view of that name is in ``module``."""
    view = getattr(module, operation.id.removesuffix(".json"))
    where = operation.path.replace("{id}", "<int:number>")
    return path(f"agents/api{where}", answering(view, operation))


looking = [address(each, views) for each in OPERATIONS if each.method == "get"]
"""All that only look."""


@access.api()
def nowhere(_: HttpRequest, *_rest: str) -> HttpResponse:
    """What is not there, told to nobody who may not look."""
    return access.refused(
        HTTPStatus.NOT_FOUND, "There is no such address. GET /agents/api/openapi.json"
    )
