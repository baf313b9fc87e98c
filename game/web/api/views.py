"""The API behind the dashboard: ``/agents/api/…``; described in ``docs/openapi.json``.

Each view bears the ``operationId`` of its address (:data:`game.web.api.openapi.OPERATIONS`); what
does something is in :mod:`game.web.api.actions`. Views run in threads. What concerns the world is
asked of :func:`game.web.api.source.source`; what is read from disk is read here.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from django.http import HttpRequest

from game.web.api import archive_views, books, why_view
from game.web.api.archive_views import MOST_MEMORIES
from game.web.api.openapi import BadRequest, document
from game.web.api.shapes import (
    AgentRow,
    Book,
    Compactions,
    Memories,
    Overview,
    PromptView,
    RecallView,
    SearchView,
    SentPrompts,
    Series,
    TiersView,
    TiesView,
    WhyView,
    WorldView,
)
from game.web.api.source import source
from game.web.live.series import Charts, current
from game.web.site.access import may_act
from game.web.world import acquaintances as knowing
from game.web.world import days, searching


def agents(request: HttpRequest) -> Overview:
    """All agents, and the model servers."""
    _charts()  # whoever looks at all will look at one, and then the log has been read
    return source().overview(may_act=may_act(request.user))


def world(_: HttpRequest, day: str | None) -> WorldView:
    """The map, and one day of all agents."""
    return days.world(None if day is None else date.fromisoformat(day))


def search(_: HttpRequest, q: str, limit: int) -> SearchView:
    """Words in all agents' memories."""
    return searching.search(q, limit)


def acquaintances(_: HttpRequest) -> TiesView:
    """Who knows whom."""
    return knowing.acquaintances()


def agent(request: HttpRequest, number: int) -> AgentRow:
    """One agent at a glance."""
    return source().row(number, may_act=may_act(request.user))


def agent_book(_: HttpRequest, number: int, of: str, limit: int, skip: int) -> Book:
    """What it keeps beside its memories."""
    return books.book(number, of, limit, skip)


def agent_prompts(_: HttpRequest, number: int, before: int | None, limit: int) -> SentPrompts:
    """What was sent for it, the newest first."""
    return why_view.sent_prompts(source().events, source().names(number), before, limit)


def agent_prompt(_: HttpRequest, number: int, seq: int | None) -> PromptView:
    """What was last sent for it, or for the thought of that number."""
    if seq is not None:
        return why_view.prompt_of(source().events, source().names(number), seq)
    found = source().prompt(number)
    if found.at is not None:
        return found
    return why_view.last_prompt(source().events, source().names(number), found)


def agent_tiers(_: HttpRequest, number: int) -> TiersView:
    """Which memory is where."""
    return source().tiers(number)


def agent_memories(_: HttpRequest, number: int, first: int | None, last: int | None) -> Memories:
    """Some of its memories: the newest, or those from ``first`` on."""
    life = source().life(number)
    first = first or max(life.archive.last_number - MOST_MEMORIES + 1, 1)
    last = last or first + MOST_MEMORIES - 1
    if last < first:
        raise BadRequest(f"There is nothing from {first} to {last}", "Give last, at least first")
    return archive_views.memories(life, first, last)


def agent_recall(_: HttpRequest, number: int, q: str, limit: int) -> RecallView:
    """What a search by hand finds."""
    return why_view.recall(number, q, limit)


def agent_compactions(_: HttpRequest, number: int, limit: int, before: int | None) -> Compactions:
    """Its newest compactions, or those older than ``before``."""
    return archive_views.compactions(source().life(number), limit, before)


def agent_series(_: HttpRequest, number: int, hours: int) -> Series:
    """Its last hours, for charts."""
    return _charts().series(source().names(number), hours, source().now())


def agent_why(_: HttpRequest, number: int, n: int, all: int) -> WhyView:
    """Its last act but so many, and all that led to it."""
    return why_view.why(source().life(number), source().events, n, everything=bool(all))


def openapi(_: HttpRequest) -> dict[str, Any]:
    """What this API is, for programs."""
    return document()


def _charts() -> Charts:
    shown = source()
    return current.of(shown.events, shown.now) if shown.recorded else current.of(shown.events)
