"""What an agent can do where it is now, read off the world."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from keepsake.agent.body import Body
from keepsake.agent.surroundings import exits_of, people_near, things_near
from keepsake.prompt.options import Options


def options_of(agent: Body, *, stays: bool | None = None) -> Options:
    """The people, things and exits that are there."""
    things, ways = things_near(agent), agent.location.exits if agent.location else ()
    passable = {str(each.key) for each in ways if each.access(agent, "traverse")}
    return Options(
        exits=tuple(each for each in exits_of(agent) if each in passable),
        people=_names(people_near(agent)),
        things=(*_names(things), *details_of(agent.location)),
        lying=_names(thing for thing in things if thing.access(agent, "get")),
        carried=_names(agent.contents),
        stays=agent.stays if stays is None else stays,
    )


def details_of(place: Any) -> tuple[str, ...]:
    """What the description of a place mentions and can be looked at."""
    return tuple(str(each) for each in (place.db.details or {})) if place is not None else ()


def _names(objects: Iterable[Any]) -> tuple[str, ...]:
    """Their names, each once."""
    return tuple(dict.fromkeys(str(each.key) for each in objects))
