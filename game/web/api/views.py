"""The API behind the dashboard: ``/agents/api/…``; described in ``docs/openapi.json``.

Each view bears the ``operationId`` of its address (:data:`game.web.api.openapi.OPERATIONS`); what
does something is in :mod:`game.web.api.actions`. Views run in threads. What concerns the world's
objects is asked of the reactor thread, and is quick; what is read from disk is read here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest

from game.agent.naming import names_of
from game.agent.services import services
from game.mind.events.agent_names import Names
from game.web.api import archive_views, recalling, snapshots, why_view
from game.web.api.archive_views import MOST_MEMORIES
from game.web.api.on_reactor import on_reactor
from game.web.api.openapi import BadRequest, document
from game.web.api.shapes import (
    AgentRow,
    Compactions,
    Memories,
    Overview,
    PromptView,
    RecallView,
    Series,
    TiersView,
    WhyView,
)
from game.web.live.series import Charts, current
from game.web.site.access import may_act


def agents(request: HttpRequest) -> Overview:
    """All agents, and the model servers."""
    _charts()  # whoever looks at all will look at one, and then the log has been read
    return snapshots.overview(may_act=may_act(request.user))


def agent(request: HttpRequest, number: int) -> AgentRow:
    """One agent at a glance."""
    acts = may_act(request.user)  # which asks the database, so here and not on the reactor
    return on_reactor(lambda: snapshots.row(snapshots.agent_with(number), may_act=acts))


def agent_prompt(_: HttpRequest, number: int) -> PromptView:
    """What was last sent for it."""
    found = on_reactor(lambda: snapshots.prompt(number))
    if found.at is not None:
        return found
    names, _now = on_reactor(lambda: _names_and_now(number))
    return why_view.last_prompt(services().places.events, names, found)


def agent_tiers(_: HttpRequest, number: int) -> TiersView:
    """Which memory is where."""
    return on_reactor(lambda: snapshots.tiers(number))


def agent_memories(_: HttpRequest, number: int, first: int | None, last: int | None) -> Memories:
    """Some of its memories: the newest, or those from ``first`` on."""
    life = _life(number)
    first = first or max(life.archive.last_number - MOST_MEMORIES + 1, 1)
    last = last or first + MOST_MEMORIES - 1
    if last < first:
        raise BadRequest(f"There is nothing from {first} to {last}", "Give last, at least first")
    return archive_views.memories(life, first, last)


def agent_recall(_: HttpRequest, number: int, q: str, limit: int) -> RecallView:
    """What a search by hand finds."""
    return recalling.recall(number, q, limit)


def agent_compactions(_: HttpRequest, number: int, limit: int, before: int | None) -> Compactions:
    """Its newest compactions, or those older than ``before``."""
    return archive_views.compactions(_life(number), limit, before)


def agent_series(_: HttpRequest, number: int, hours: int) -> Series:
    """Its last hours, for charts."""
    names, now = on_reactor(lambda: _names_and_now(number))
    return _charts().series(names, hours, now)


def agent_why(_: HttpRequest, number: int, n: int, all: int) -> WhyView:
    """Its last act but so many, and all that led to it."""
    return why_view.why(_life(number), services().places.events, n, everything=bool(all))


def openapi(_: HttpRequest) -> dict[str, Any]:
    """What this API is, for programs."""
    return document()


def _charts() -> Charts:
    return current.of(services().places.events)


def _names_and_now(number: int) -> tuple[Names, datetime]:
    return names_of(snapshots.agent_with(number)), services().clock.now()


def _life(number: int) -> snapshots.ArchiveAccess:
    return on_reactor(lambda: snapshots.life(number))
