"""Which address shows which page: Keepsake's own first, then Evennia's."""

from django.urls import include, path, re_path
from django.urls.resolvers import URLPattern
from evennia.web.urls import urlpatterns as evennia_urlpatterns

from game.web.api import views as api
from game.web.api.answers import Answer, answering
from game.web.api.openapi import OPERATIONS
from game.web.site import pages
from game.web.site.log_in import RegisterView

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def _api(address: str, answer: Answer) -> URLPattern:
    operation = OPERATIONS[f"/{address.replace('<int:number>', '{id}')}"]
    return path(f"agents/api/{address}", answering(answer, operation=operation))


urlpatterns = [
    path("agents/", pages.agents, name="agents"),
    path("agents/<int:number>/", pages.agent, name="agent"),
    _api("agents", api.agents),
    _api("openapi.json", api.description),
    _api("agents/<int:number>", api.agent),
    _api("agents/<int:number>/prompt", api.prompt),
    _api("agents/<int:number>/tiers", api.tiers),
    _api("agents/<int:number>/memories", api.memories),
    _api("agents/<int:number>/recall", api.recall),
    _api("agents/<int:number>/compactions", api.compactions),
    _api("agents/<int:number>/series", api.series),
    _api("agents/<int:number>/why", api.why),
    _api("agents/<int:number>/pause", api.pause),
    _api("agents/<int:number>/resume", api.resume),
    _api("agents/<int:number>/compact", api.compact),
    _api("agents/<int:number>/sleep", api.sleep),
    _api("agents/<int:number>/wake", api.wake),
    # Also what is not there is told to nobody who may not look.
    re_path(r"^agents/api(/.*)?$", answering(api.nowhere, *_METHODS)),
    path("agents/<path:rest>", pages.elsewhere),
    path("admin/", include("evennia.web.admin.urls")),
    path("auth/register", RegisterView.as_view(), name="register"),
    *evennia_urlpatterns,
]
