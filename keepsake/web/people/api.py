"""The API about people: everybody whom agents know, and what each agent knows of one person."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import P, QueryEx, Router

from keepsake.web import world
from keepsake.web.people import known
from keepsake.web.people.shapes import PersonRow, PersonView
from keepsake.web.shapes import LARGEST, answers

router = Router()


@router.get("/people", response=answers(list[PersonRow]))
def all_people(request: HttpRequest) -> list[PersonRow]:
    """Everybody whom any agent has met, and the agents; who was met last comes first."""
    return known.people(world.known_agents())


@router.get("/person", response=answers(PersonView))
def person(
    request: HttpRequest,
    key: QueryEx[str, P(max_length=100)] = "",
    name: QueryEx[str, P(max_length=100)] = "",
    id: QueryEx[int | None, P(ge=1, le=LARGEST)] = None,
    by: QueryEx[int | None, P(ge=1, le=LARGEST)] = None,
) -> PersonView:
    """What each agent knows of one person: said when, promises, plans, and what it makes of them.

    The person is given by its identity ``key``, by a ``name``, or, if it is an agent, by its
    number ``id``. Of the agent ``by`` the answer also has what the person said to others in its
    hearing, and weighs all lines by the whole of its memory.
    """
    return known.person(world.known_agents(), key, name, id, by=by)
