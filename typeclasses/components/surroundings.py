"""What is around somebody: people, things, exits."""

from __future__ import annotations

from typing import Any


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
