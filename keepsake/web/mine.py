"""The players' page: the agents, where they are, what they know about you and promised you.

Every logged-in account may see it. It shows only what agents know about the account's characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from keepsake.agent.mind import Mind
from keepsake.agent.plans.shown_plans import reminds_of
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.identity import identity_of
from keepsake.books.plan import Plan
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import mind_of
from keepsake.errors import KeepsakeError
from keepsake.happening import PersonId
from keepsake.web.access import HEADERS, with_headers
from keepsake.web.people.promised_to import may_know, promised_to
from keepsake.web.world import on_reactor


def plans_for(plans: Iterable[Plan], keys: set[str]) -> tuple[str, ...]:
    """Return when and where agents mean to meet these characters, unless it is kept from them.

    What an agent means to do then is a note to itself: it may be a surprise, or not meant for their
    eyes.
    """
    return tuple(
        each.appointment
        for each in plans
        if each.whom is not None
        and (each.when is not None or each.where)
        and each.whom.id in keys
        and may_know(each.private, keys)
    )


@on_reactor
def _keys(account: Any) -> list[PersonId]:
    """Return the identities of an account's characters."""
    return [identity_of(each) for each in account.characters.all()]


@on_reactor
def _minds() -> dict[int, Mind]:
    """Return the minds of all listed agents, by number."""
    listed = filter(lambda each: each.is_listed, all_agents())
    return {each.id: mind for each in listed if (mind := mind_of(each)) is not None}


def _with_promises(account: Any) -> list[dict[str, Any]]:
    """Return what :func:`_agents` does, with what each agent has promised to the player."""
    runtime()  # raises an error with the cure if the agents are not running
    keys = _keys(account)
    promised = promised_to(_minds(), keys)
    agents = _agents(keys)
    return [{**each, "promises": promised.get(each["id"], ())} for each in agents]


@on_reactor
def _agents(keys: list[PersonId]) -> list[dict[str, Any]]:
    """Return every listed agent; first those that a player met most often.

    ``keys``: The identities of the player's characters.
    """
    found = []
    for agent in filter(lambda each: each.is_listed, all_agents()):
        mind = mind_of(agent)
        known = mind.books.people.known if mind is not None else {}
        place = agent.location.key if agent.location else "away"
        pages = tuple(known[key] for key in keys if key in known)
        met = -sum(page.meetings for page in pages)
        shown = {"id": agent.id, "name": agent.key, "place": place}
        shown |= {"asleep": bool(agent.db.asleep), "knows": ()}
        whispered = mind.memory.private.is_whispered if mind is not None else None
        shown["knows"] = tuple(
            {
                "page": page,
                "lines": [(each, any(map(whispered, each.numbers))) for each in page.lines],
            }
            for page in pages
            if whispered is not None
        )
        made = mind.books.commitments.items if mind is not None else ()
        current = mind.books.plans.current if mind is not None else ()
        plans = [each for each in current if reminds_of(each, made) is None]
        shown["plans"] = plans_for(plans, set(keys))
        found.append((met, agent.key, shown))
    return [shown for _, _, shown in sorted(found, key=lambda each: each[:2])]


@require_safe  # type: ignore[untyped-decorator]  # Django ships no types
@login_required  # type: ignore[untyped-decorator]  # Django ships no types
def mine(request: HttpRequest) -> HttpResponse:
    """Show the page; a visitor who is not logged in is sent to the log-in page first."""
    try:
        shown: dict[str, Any] = {"agents": _with_promises(request.user)}
    except KeepsakeError as error:
        shown = {"trouble": str(error)}
    answer = render(request, "keepsake/mine.html", shown)
    with_headers(answer, HEADERS)
    return answer
