"""The API about people: everybody whom agents know, and what each agent knows of one person."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import P, QueryEx, Router

from keepsake.web import people, world
from keepsake.web.people_shapes import PersonRow, PersonView
from keepsake.web.shapes import Refused

router = Router()
_ERRORS = frozenset({400, 403, 404, 503})
_LARGEST = 2**53


@router.get("/people", response={200: list[PersonRow], _ERRORS: Refused})
def all_people(request: HttpRequest) -> list[PersonRow]:
    """Everybody whom any agent has met, and the agents; who was met last comes first."""
    return people.people(world.known_agents())


@router.get("/person", response={200: PersonView, _ERRORS: Refused})
def person(
    request: HttpRequest,
    key: QueryEx[str, P(max_length=100)] = "",
    name: QueryEx[str, P(max_length=100)] = "",
    id: QueryEx[int | None, P(ge=1, le=_LARGEST)] = None,
) -> PersonView:
    """What each agent knows of one person: said when, promises, plans, and what it makes of them.

    The person is given by its identity ``key``, by a ``name``, or, if it is an agent, by its
    number ``id``.
    """
    return people.person(world.known_agents(), key, name, id)
