"""Which address shows which page: Keepsake's own first, then Evennia's."""

from django.urls import include, path, re_path
from django.urls.resolvers import URLPattern
from evennia.web.urls import urlpatterns as evennia_urlpatterns

from game.web.api import views as api
from game.web.api.answers import Answer, answering
from game.web.api.openapi import Operation, operation
from game.web.site import pages

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def _look(address: str, answer: Answer) -> URLPattern:
    return path(f"agents/api/{address}", answering(answer, operation=_told(address, "get")))


def _do(address: str, answer: Answer) -> URLPattern:
    told = _told(address, "post")
    return path(f"agents/api/{address}", answering(answer, "POST", operation=told))


def _told(address: str, method: str) -> Operation:
    return operation(f"/{address.replace('<int:number>', '{id}')}", method)


urlpatterns = [
    path("agents/", pages.agents, name="agents"),
    path("agents/<int:number>/", pages.agent, name="agent"),
    _look("agents", api.agents),
    _look("openapi.json", api.description),
    _look("agents/<int:number>", api.agent),
    _look("agents/<int:number>/prompt", api.prompt),
    _look("agents/<int:number>/tiers", api.tiers),
    _look("agents/<int:number>/memories", api.memories),
    _look("agents/<int:number>/recall", api.recall),
    _look("agents/<int:number>/compactions", api.compactions),
    _look("agents/<int:number>/series", api.series),
    _look("agents/<int:number>/why", api.why),
    _do("agents/<int:number>/pause", api.pause),
    _do("agents/<int:number>/resume", api.resume),
    _do("agents/<int:number>/compact", api.compact),
    _do("agents/<int:number>/sleep", api.sleep),
    _do("agents/<int:number>/wake", api.wake),
    # Also what is not there is told to nobody who may not look.
    re_path(r"^agents/api(/.*)?$", answering(api.nowhere, *_METHODS)),
    path("agents/<path:rest>", pages.elsewhere),
    path("admin/", include("evennia.web.admin.urls")),
    *evennia_urlpatterns,
]
