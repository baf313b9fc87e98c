"""Who is in the same room as a character."""

from __future__ import annotations

from keepsake.agent.body import Body
from keepsake.agent.surroundings.game_objects import CharacterObject
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of
from keepsake.happening import Person


def people_near(character: CharacterObject) -> list[CharacterObject]:
    """Return the other characters in the same room, players and agents."""
    if character.location is None:
        return []
    here = character.location.contents_get(content_type="character")
    return [person for person in here if person is not character]


def persons_near(agent: Body) -> tuple[Person, ...]:
    """Return the other characters in the same room as the agent knows them."""
    return tuple(Person(name_of(each, agent), identity_of(each)) for each in people_near(agent))


def players_near(character: CharacterObject) -> list[CharacterObject]:
    """Return the other characters in the same room that a player controls."""
    return [person for person in people_near(character) if person.has_account]


def find_person(agent: Body, name: str) -> CharacterObject | None:
    """Return the character here whom the agent knows by that name; None for none or several."""
    met = [each for each in people_near(agent) if name_of(each, agent) == name]
    return met[0] if len(met) == 1 else None


def hosts_guests(agent: Body) -> bool:
    """Return whether players are in the place that the agent keeps, even if it is away."""
    if not agent.db.keeps or agent.home is None:
        return False
    there = agent.home.contents_get(content_type="character")
    return any(person.has_account and person is not agent for person in there)
