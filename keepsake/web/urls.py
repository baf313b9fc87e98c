"""The dashboard's URL patterns: a game includes them with ``path("agents/", include(…))``."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path, re_path
from django.views.decorators.http import require_safe
from django.views.generic import TemplateView
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from keepsake.errors import KeepsakeError
from keepsake.web.access import NotFound, View, may_read_metrics, page, unknown_address
from keepsake.web.api import addresses
from keepsake.web.kinds import SECTIONS
from keepsake.web.mine import mine
from keepsake.web.questions.clock import world_clock
from keepsake.web.questions.panel import panel
from keepsake.web.questions.views import urlpatterns as questions
from keepsake.web.watching import watching
from keepsake.web.world import agent_names, agent_numbers, name_of

APPS = ("keepsake.contrib.evennia", "keepsake.web")
"""The apps that a game with the dashboard installs."""
_SHARED: dict[str, Any] = {
    **world_clock(),
    "agent_numbers": agent_numbers,
    "agents": agent_names,
}
"""What each page needs to know: the world's time zone, which agents live by and pages show; the
agents' numbers by identity, so that what an agent did leads to why it did it; and their names."""


@page
def agent(request: HttpRequest, number: int) -> HttpResponse:
    """Show the page of one agent."""
    try:
        name = name_of(number)
    except NotFound:
        return unknown_page(request)
    except KeepsakeError as error:
        return HttpResponse(str(error), status=503, content_type="text/plain; charset=utf-8")
    known = {**_SHARED, "id": number, "name": name, "sections": SECTIONS}
    return render(request, "keepsake/agent.html", {**known, "questions": panel(number)})


@page
def agents(request: HttpRequest) -> HttpResponse:
    """Show the start page: what people want to know, and all agents."""
    return render(request, "keepsake/agents.html", {**_SHARED, "questions": panel()})


@require_safe  # type: ignore[untyped-decorator]  # Django ships no types
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with the metrics as text; 403 without a body if the client may not read them."""
    if not may_read_metrics(request):
        return HttpResponse(status=403)
    return HttpResponse(watching().metrics.text(), content_type=CONTENT_TYPE_PLAIN_0_0_4)


@page
def unknown_page(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Answer 404 for an unknown address below ``/agents/``; without access 403."""
    return render(request, "keepsake/404.html", status=404)


def _template(name: str) -> View:
    template = f"keepsake/{name}.html"
    return page(TemplateView.as_view(template_name=template, extra_context=_SHARED))


urlpatterns = [
    path("", agents, name="agents"),
    path("ask/", include(questions)),
    path("mine/", mine, name="mine"),
    path("metrics", metrics, name="metrics"),
    path("fact", _template("fact"), name="fact"),
    path("live", _template("live"), name="live"),
    path("person", _template("person"), name="person"),
    path("plans", _template("plans"), name="plans"),
    path("compare", _template("compare"), name="compare"),
    path("tokens", _template("tokens"), name="tokens"),
    path("search/", _template("search"), name="search"),
    path("world/", _template("world"), name="world"),
    path("<int:number>/", agent, name="agent"),
    path("api/", include((addresses(), "api"), namespace="api-1")),
    re_path(r"^api(/.*)?$", unknown_address),
    path("<path:rest>", unknown_page),
]
if missing := [app for app in APPS if not apps.is_installed(app)]:  # there are no templates then
    named = " and ".join(missing)
    lacks = f"INSTALLED_APPS in server/conf/settings.py does not name {named}. Add it"
    urlpatterns = [re_path("", lambda _: HttpResponse(lacks, "text/plain", 503))]
