"""The API behind the dashboard: ``/agents/api/…``; described in ``docs/openapi.json``.

Views run in threads. What concerns the world's objects is asked of the reactor thread, and is
quick; what is read from disk is read here.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from game.web import doing, lives, recalling, snapshots
from game.web.access import may_act
from game.web.answers import BadRequest, NotAllowed, flag, number_in, words
from game.web.lives import MOST_MEMORIES
from game.web.on_reactor import on_reactor
from game.web.shapes import (
    AgentRow,
    Compactions,
    Done,
    Memories,
    Overview,
    PromptView,
    RecallView,
    TiersView,
)

LONGEST_QUESTION = 1000


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


def memories(request: HttpRequest, number: int) -> Memories:
    """Some of its memories: the newest, or those from ``first`` on."""
    life = _life(number)
    total = life.archive.last_number
    first = number_in(request, "first", max(total - MOST_MEMORIES + 1, 1))
    last = number_in(request, "last", first + MOST_MEMORIES - 1)
    if last < first:
        raise BadRequest(f"There is nothing from {first} to {last}", "Give last, at least first")
    return lives.memories(life, first, last)


def recall(request: HttpRequest, number: int) -> RecallView:
    """What a search by hand finds."""
    question = words(request, "q", LONGEST_QUESTION)
    return recalling.recall(number, question, number_in(request, "limit", 12, most=50))


def compactions(request: HttpRequest, number: int) -> Compactions:
    """Its newest compactions."""
    limit = number_in(request, "limit", 20, most=lives.MOST_COMPACTIONS)
    return lives.compactions(_life(number), limit)


def pause(request: HttpRequest, number: int) -> Done:
    """Let it perceive, but not think."""
    return doing.pause(number, _who(request))


def resume(request: HttpRequest, number: int) -> Done:
    """Let it think again."""
    return doing.resume(number, _who(request))


def compact(request: HttpRequest, number: int) -> Done:
    """Compact its memory now."""
    return doing.compact(number, _who(request))


def sleep(request: HttpRequest, number: int) -> Done:
    """Send it to bed; with ``{"here": true}`` it lies down where it is."""
    who = _who(request)
    return doing.sleep(number, who, here=flag(request, "here"))


def wake(request: HttpRequest, number: int) -> Done:
    """Wake it."""
    return doing.wake(number, _who(request))


def _life(number: int) -> snapshots.Life:
    return on_reactor(lambda: snapshots.life(number))


def _who(request: HttpRequest) -> str:
    """The name of whoever asks for something to be done.

    Raises:
        NotAllowed: The in-game commands for that are not for them either.
    """
    if not may_act(request.user):
        raise NotAllowed("That is for builders", "Ask one, or to be made one: @perm")
    return str(request.user.get_username())


def nowhere(_: HttpRequest, **_rest: Any) -> Any:
    """No address of the API."""
    raise snapshots.NoSuchAgent("There is no such address", "GET /agents/api/openapi.json")
