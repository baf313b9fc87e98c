"""Which address shows which page: Keepsake's own first, then Evennia's."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.urls import include, path, re_path
from django.urls.resolvers import URLPattern
from evennia.web.urls import urlpatterns as evennia_urlpatterns

from game.web.api import actions, views
from game.web.api.answers import answering
from game.web.api.openapi import OPERATIONS, Operation
from game.web.site import access, pages
from game.web.site.log_in import RegisterView


def _address(operation: Operation) -> URLPattern:
    module, name = actions if operation.method == "post" else views, operation.id
    view = getattr(module, name.removesuffix(".json"))
    address = operation.path.replace("{id}", "<int:number>")
    return path(f"agents/api{address}", answering(view, operation))


@access.api()
def _nowhere(_: HttpRequest, *_rest: str) -> HttpResponse:
    return access.refused(
        HTTPStatus.NOT_FOUND, "There is no such address. GET /agents/api/openapi.json"
    )


urlpatterns = [
    path("agents/", pages.agents, name="agents"),
    path("agents/<int:number>/", pages.agent, name="agent"),
    *map(_address, OPERATIONS),
    # Also what is not there is told to nobody who may not look.
    re_path(r"^agents/api(/.*)?$", _nowhere),
    path("agents/<path:rest>", pages.elsewhere),
    path("admin/", include("evennia.web.admin.urls")),
    path("auth/register", RegisterView.as_view(), name="register"),
    *evennia_urlpatterns,
]
