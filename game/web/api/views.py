"""The API behind the dashboard: ``/agents/api/…``; described in ``docs/openapi.json``.

Views run in threads. What concerns the world's objects is asked of the reactor thread, and is
quick; what is read from disk is read here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest

from game.agent.naming import names_of
from game.agent.services import services
from game.mind.events.agent_names import Names
from game.mind.events.why import MOST_BACK
from game.web.api import (
    actions,
    archive_views,
    last_prompt,
    openapi,
    recalling,
    snapshots,
    why_view,
)
from game.web.api.answers import BadRequest, NotAllowed, flag, number_in, words
from game.web.api.archive_views import MOST_MEMORIES
from game.web.api.on_reactor import on_reactor
from game.web.api.shapes import (
    AgentRow,
    Compactions,
    Done,
    Memories,
    Overview,
    PromptView,
    RecallView,
    Series,
    TiersView,
    WhyView,
)
from game.web.live.series import MOST_HOURS, Charts, current
from game.web.site.access import may_act

LONGEST_QUESTION = 1000


def agents(request: HttpRequest) -> Overview:
    """All agents, and the model servers."""
    _charts()  # whoever looks at all will look at one, and then the log has been read
    return snapshots.overview(may_act=may_act(request.user))


def agent(request: HttpRequest, number: int) -> AgentRow:
    """One agent at a glance."""
    acts = may_act(request.user)  # which asks the database, so here and not on the reactor
    return on_reactor(lambda: snapshots.row(snapshots.agent_with(number), may_act=acts))


def prompt(_: HttpRequest, number: int) -> PromptView:
    """What was last sent for it."""
    found = on_reactor(lambda: snapshots.prompt(number))
    if found.at is not None:
        return found
    names, _ = on_reactor(lambda: _names_and_now(number))
    return last_prompt.prompt(services().places.events, names, found)


def tiers(_: HttpRequest, number: int) -> TiersView:
    """Which memory is where."""
    return on_reactor(lambda: snapshots.tiers(number))


def memories(request: HttpRequest, number: int) -> Memories:
    """Some of its memories: the newest, or those from ``first`` on."""
    life = _life(number)
    total = life.archive.last_number
    first = number_in(request, "first", max(total - MOST_MEMORIES + 1, 1))
    last = number_in(request, "last", first + MOST_MEMORIES - 1)
    if last < first:
        raise BadRequest(f"There is nothing from {first} to {last}", "Give last, at least first")
    return archive_views.memories(life, first, last)


def recall(request: HttpRequest, number: int) -> RecallView:
    """What a search by hand finds."""
    question = words(request, "q", LONGEST_QUESTION)
    return recalling.recall(number, question, number_in(request, "limit", 12, most=50))


def compactions(request: HttpRequest, number: int) -> Compactions:
    """Its newest compactions, or those older than ``before``."""
    limit = number_in(request, "limit", 20, most=archive_views.MOST_COMPACTIONS)
    before = number_in(request, "before", 0)
    return archive_views.compactions(_life(number), limit, before or None)


def series(request: HttpRequest, number: int) -> Series:
    """Its last hours, for charts."""
    hours = number_in(request, "hours", 1, most=MOST_HOURS)
    names, now = on_reactor(lambda: _names_and_now(number))
    return _charts().series(names, hours, now)


def why(request: HttpRequest, number: int) -> WhyView:
    """Its last act but so many, and all that led to it."""
    nth = number_in(request, "n", 1, most=MOST_BACK)
    everything = bool(number_in(request, "all", 0, least=0, most=1))
    life, log = _life(number), services().places.events
    return why_view.why(life, log, nth, everything=everything)


def pause(request: HttpRequest, number: int) -> Done:
    """Let it perceive, but not think."""
    return actions.pause(number, _who(request))


def resume(request: HttpRequest, number: int) -> Done:
    """Let it think again."""
    return actions.resume(number, _who(request))


def compact(request: HttpRequest, number: int) -> Done:
    """Compact its memory now."""
    return actions.compact(number, _who(request))


def sleep(request: HttpRequest, number: int) -> Done:
    """Send it to bed; with ``{"here": true}`` it lies down where it is."""
    who = _who(request)
    return actions.sleep(number, who, here=flag(request, "here"))


def wake(request: HttpRequest, number: int) -> Done:
    """Wake it."""
    return actions.wake(number, _who(request))


def description(_: HttpRequest) -> dict[str, Any]:
    """What this API is, for programs."""
    return openapi.document()


def _charts() -> Charts:
    return current.of(services().places.events)


def _names_and_now(number: int) -> tuple[Names, datetime]:
    return names_of(snapshots.agent_with(number)), services().clock.now()


def _life(number: int) -> snapshots.ArchiveAccess:
    return on_reactor(lambda: snapshots.life(number))


def _who(request: HttpRequest) -> str:
    """The name of whoever asks for something to be done."""
    if not may_act(request.user):
        raise NotAllowed("That is for builders", "Ask one, or to be made one: @perm")
    return str(request.user.get_username())


def nowhere(_: HttpRequest, *_rest: str) -> Any:
    """No address of the API."""
    raise snapshots.NoSuchAgent("There is no such address", "GET /agents/api/openapi.json")
