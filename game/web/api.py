"""The API behind the dashboard: ``/agents/api/…``; described in ``docs/openapi.json``.

Views run in threads. What concerns the world's objects is asked of the reactor thread, and is
quick; what is read from disk is read here.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from game.web import snapshots
from game.web.on_reactor import on_reactor
from game.web.shapes import AgentRow, Overview, PromptView, TiersView


def agents(_: HttpRequest) -> Overview:
    """All agents, and the model servers."""
    return on_reactor(snapshots.overview)


def agent(_: HttpRequest, number: int) -> AgentRow:
    """One agent at a glance."""
    return on_reactor(lambda: snapshots.row(snapshots.agent_with(number)))


def prompt(_: HttpRequest, number: int) -> PromptView:
    """What was last sent for it."""
    return on_reactor(lambda: snapshots.prompt(number))


def tiers(_: HttpRequest, number: int) -> TiersView:
    """Which memory is where."""
    return on_reactor(lambda: snapshots.tiers(number))


def nowhere(_: HttpRequest, **_rest: Any) -> Any:
    """No address of the API."""
    raise snapshots.NoSuchAgent("There is no such address", "GET /agents/api/openapi.json")
