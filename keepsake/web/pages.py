"""The dashboard's pages; what they show comes from the API."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.urls import path

from keepsake.errors import KeepsakeError
from keepsake.web.access import page
from keepsake.web.agents import NoSuchAgent, names


@page
def agents(request: HttpRequest) -> HttpResponse:
    """All agents."""
    get_token(request)  # so that the cookie is there when a button is pressed
    return render(request, "keepsake/agents.html")


@page
def agent(request: HttpRequest, number: int) -> HttpResponse:
    """One of them."""
    get_token(request)
    try:
        name = names(number).now
    except NoSuchAgent:
        return elsewhere(request)
    except KeepsakeError as error:
        return HttpResponse(str(error), status=503, content_type="text/plain; charset=utf-8")
    return render(request, "keepsake/agent.html", {"id": number, "name": name})


@page
def search(request: HttpRequest) -> HttpResponse:
    """Words in all agents' memories."""
    return render(request, "keepsake/search.html")


@page
def elsewhere(request: HttpRequest, rest: str = "") -> HttpResponse:
    """An address below ``/agents/`` that does not exist, told to accounts that may look."""
    return render(request, "404.html", status=404)


urlpatterns = [
    path("", agents, name="agents"),
    path("search/", search, name="search"),
    path("<int:number>/", agent, name="agent"),
]
