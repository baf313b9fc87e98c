"""What an agent can do where it is now, read off the world."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from game.mind.prompt.options import Options
from typeclasses.components.surroundings import exits_of, people_near, things_near

if TYPE_CHECKING:
    from typeclasses.agents import Agent


def options_of(agent: Agent, *, stays: bool | None = None) -> Options:
    """The people, things and exits that are there.

    Args:
        agent: Who acts.
        stays: Whether it must not leave; None to ask its thinker.
    """
    things, mind = things_near(agent), agent.mind
    if stays is None:
        stays = mind is not None and mind.thinker.stays
    return Options(
        exits=tuple(exits_of(agent)),
        people=_names(people_near(agent)),
        things=(*_names(things), *details_of(agent.location)),
        lying=_names(thing for thing in things if thing.access(agent, "get")),
        carried=_names(agent.contents),
        stays=stays,
    )


def details_of(place: Any) -> tuple[str, ...]:
    """What the description of a place mentions and can be looked at."""
    return tuple(str(each) for each in (place.db.details or {})) if place is not None else ()


def _names(objects: Iterable[Any]) -> tuple[str, ...]:
    """Their names, each once."""
    return tuple(dict.fromkeys(str(each.key) for each in objects))
