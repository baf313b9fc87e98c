"""The players' page: who is here, and what they make of you.

Everybody who has logged in sees it, and only what the agents know of their own characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings import identity_of
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import mind_of
from keepsake.errors import KeepsakeError
from keepsake.web.access import HEADERS, with_headers
from keepsake.web.world import on_reactor

MOST_WORDS = 5
"""The newest sentences and deeds of a character that are shown of each agent."""


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """What an agent knows of one character."""

    who: str  # the character
    first_met: datetime
    last_met: datetime
    meetings: int
    portrait: str  # what the agent makes of them
    lines: tuple[str, ...]  # what they said and did, the newest first


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An agent, as everybody may see it, with what it knows of the reader."""

    name: str
    place: str
    asleep: bool
    knows: tuple[Acquaintance, ...]


@on_reactor
def neighbours(account: Any) -> list[Neighbour]:
    """Every agent, those who know most of this account's characters first."""
    runtime()  # whose error says what to do where the agents do not run
    characters = [*account.characters.all()]
    found = []
    for agent in all_agents():
        place = agent.location.key if agent.location else "away"
        knows = tuple(_known(agent, characters))
        found.append(Neighbour(agent.key, place, bool(agent.db.asleep), knows))
    return sorted(found, key=lambda each: (-sum(k.meetings for k in each.knows), each.name))


def _known(agent: Any, characters: list[Any]) -> Iterator[Acquaintance]:
    if (mind := mind_of(agent)) is None:
        return
    for character in characters:
        page = mind.books.people.known.get(identity_of(character))
        if page is not None:
            yield Acquaintance(
                who=character.key,
                first_met=page.first_met,
                last_met=page.last_met,
                meetings=page.meetings,
                portrait=page.portrait,
                lines=tuple(each.shown for each in page.lines[: -MOST_WORDS - 1 : -1]),
            )


@require_safe  # type: ignore[untyped-decorator]
@login_required  # type: ignore[untyped-decorator]
def mine(request: HttpRequest) -> HttpResponse:
    """The page; somebody unknown is sent to log in first."""
    try:
        shown: dict[str, Any] = {"agents": neighbours(request.user)}
    except KeepsakeError as error:
        shown = {"trouble": str(error)}
    answer = render(request, "keepsake/mine.html", shown)
    with_headers(answer, HEADERS)
    return answer
