"""What an agent sees in its place and carries, as its prompts and its verbs name it."""

from __future__ import annotations

from collections.abc import Iterable

from keepsake.agent.body import Body
from keepsake.agent.surroundings.game_objects import GameObject
from keepsake.agent.surroundings.naming import name_of, name_of_place, names_of
from keepsake.agent.surroundings.people import people_near
from keepsake.language.perception import names, plain_line, sentences, shorten
from keepsake.prompt.verbs import Options

MOST_DESCRIBED = 6
"""The most things of an agent that its prompt describes: a trader may carry a shop."""

LONGEST_DESCRIPTION = 240
"""The most characters of such a description, which is long enough for what is written on a page."""


def options_of(agent: Body, *, stays: bool) -> Options:
    """Return the people, things and exits that the agent's verbs can name."""
    place = agent.location
    ways = [way for way in place.exits if way.access(agent, "view")] if place is not None else []
    things = things_seen(agent)
    details = list(map(str, place.db.details or ())) if place is not None else []
    seen = description_of(agent)
    listed = [each for each in details if names(seen, each)]
    leads = ((str(way.key), name_of_place(way.destination)) for way in ways)
    return Options(
        exits=keys_of(way for way in ways if way.access(agent, "traverse")),
        people=names_of(people_near(agent), agent),
        things=(*names_of(things, agent), *listed),
        unlisted=tuple(each for each in details if each not in listed),
        lying=names_of((thing for thing in things if thing.access(agent, "get")), agent),
        carried=names_of(agent.contents, agent),
        ways={way: f"{way} to {there}" if there else way for way, there in leads},
        stays=stays,
    )


def things_seen(agent: Body) -> list[GameObject]:
    """Return the things in the agent's room that it can see, as ``look`` shows them."""
    place = agent.location
    if place is None:
        return []
    return list(place.filter_visible(place.contents_get(content_type="object"), agent))


def is_thing_near(agent: Body, name: str) -> bool:
    """Return whether a thing of that name is in the agent's room, or somebody there carries it."""
    carried = [thing for each in (agent, *people_near(agent)) for thing in each.contents]
    near = names_of((*things_seen(agent), *carried), agent)
    return any(names(each, name) for each in near)


def description_of(agent: Body) -> str:
    """Return the description of the agent's room as it sees it; empty if nobody has written one."""
    place = agent.location
    if place is None:
        return ""
    return _description(place, agent)


def detail_named(agent: Body, words: str) -> str:
    """Return the first sentence of what a look at a detail of the room shows, if words name one.

    If words name several, the first of the room's list is taken. A detail that the agent's own
    profile or examples name is left out: a small model would repeat its description instead of what
    the agent itself has to say about it.

    Returns:
        The sentence; empty if no detail is named.
    """
    place = agent.location
    details = dict(place.db.details or {}) if place is not None and words else {}
    own = "\n".join((str(agent.db.profile or ""), *map(str, agent.db.examples or ())))
    shown = (
        text
        for name, text in details.items()
        if names(words, str(name)) and not names(own, str(name))
    )
    return next(iter(sentences(plain_line(str(next(shown, ""))))), "")


def keys_of(objects: Iterable[GameObject]) -> tuple[str, ...]:
    """Return the keys of exits, which are commands, without duplicates."""
    return tuple(dict.fromkeys(str(each.key) for each in objects))


def belongings_of(agent: Body) -> tuple[str, ...]:
    """Return what the agent carries, as it knows its things: ``log page (Folded small …)``.

    The first :data:`MOST_DESCRIBED` things have a beginning of their description.
    """
    found = list[str]()
    for place, thing in enumerate(agent.contents):
        name = name_of(thing, agent)
        told = _description(thing, agent) if place < MOST_DESCRIBED else ""
        found.append(f"{name} ({shorten(told, LONGEST_DESCRIPTION)})" if told else name)
    return tuple(found)


def _description(thing: GameObject, agent: Body) -> str:
    """Return what an agent sees of a place or a thing; empty if nobody has described it."""
    shown = plain_line(str(thing.get_display_desc(agent) or ""))
    return "" if shown == plain_line(str(thing.default_description)) else shown
