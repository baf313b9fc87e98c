"""The dashboard's pages; all that they show comes from the API."""

from __future__ import annotations

import json

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.urls import path

from game.web.api.lives import NoSuchAgent
from game.web.api.source import source, titles
from game.web.site.access import page
from keepsake.errors import KeepsakeError


@page
def agents(request: HttpRequest) -> HttpResponse:
    """All agents."""
    get_token(request)  # so that the cookie is there when a button is pressed
    return render(request, "website/agents.html")


@page
def agent(request: HttpRequest, number: int) -> HttpResponse:
    """One of them."""
    get_token(request)
    try:
        name = source().names(number).now
    except NoSuchAgent:
        return missing(request)
    except KeepsakeError as error:
        return HttpResponse(str(error), status=503, content_type="text/plain; charset=utf-8")
    return render(request, "website/agent.html", {"id": number, "name": name})


@page
def elsewhere(request: HttpRequest, rest: str) -> HttpResponse:
    """An address below ``/agents/`` that is none, told to whoever may look only."""
    return missing(request)


def missing(request: HttpRequest) -> HttpResponse:
    """Evennia's page for what is not there."""
    return render(request, "404.html", status=404)


@page
def plain(request: HttpRequest, template: str) -> HttpResponse:
    """A page that needs to know nothing: the world's, and the search's."""
    return render(request, f"website/{template}")


@page
def beside(request: HttpRequest) -> HttpResponse:
    """Two agents side by side, of one world or of two that are shown."""
    source()  # without which it is not known what is shown
    return render(request, "website/beside.html", {"worlds": json.dumps(titles())})


urlpatterns = [
    path("agents/", agents, name="agents"),
    path("agents/world/", plain, {"template": "world.html"}, name="world"),
    path("agents/search/", plain, {"template": "search.html"}, name="search"),
    path("agents/beside/", beside, name="beside"),
    path("agents/<int:number>/", agent, name="agent"),
]
