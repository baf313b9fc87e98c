"""What is around somebody: people, things, exits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evennia.objects.models import ObjectDB

if TYPE_CHECKING:
    from typeclasses.services import Services

NAMES_SECONDS = 30.0
_NAMED = (
    "typeclasses.agents.Agent",
    "typeclasses.characters.Character",
    "typeclasses.rooms.Room",
)


def people_near(character: Any) -> list[Any]:
    """Everybody else in the same room, players and agents."""
    if character.location is None:
        return []
    here = character.location.contents_get(content_type="character")
    return [person for person in here if person is not character]


def players_near(character: Any) -> list[Any]:
    """The people in the same room that a person plays."""
    return [person for person in people_near(character) if person.has_account]


def things_near(character: Any) -> list[Any]:
    """The things in the same room."""
    if character.location is None:
        return []
    return list(character.location.contents_get(content_type="object"))


def exits_of(character: Any) -> list[str]:
    """The names of the exits that the character can see."""
    if character.location is None:
        return []
    return [way.key for way in character.location.exits if way.access(character, "view")]


def known_names(services: Services) -> frozenset[str]:
    """Everybody's and every place's name, as of half a minute ago at most.

    Recall treats a mention of one differently from a plain word.
    """
    now = float(services.timer.seconds())
    asked_at, names = services.names
    if asked_at is None or not asked_at <= now < asked_at + NAMES_SECONDS:
        found = ObjectDB.objects.filter(db_typeclass_path__in=_NAMED)
        names = frozenset(found.values_list("db_key", flat=True))
        services.names = (now, names)
    return names
