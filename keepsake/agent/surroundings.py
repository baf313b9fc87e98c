"""The surroundings of a character: people, things, exits, routes; and who is addressed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeGuard

from keepsake.agent.attention import Impulse, ImpulseKind
from keepsake.agent.body import Body as Body  # noqa: PLC0414 - others import it from here
from keepsake.agent.body import CharacterObject, ExitObject, FindBody, GameObject, RoomObject
from keepsake.archive.message_types import BY_RULE, MOVES, MessageType
from keepsake.events.values import Urgency
from keepsake.happening import (
    ME,
    Deed,
    KnownVerb,
    Manner,
    Person,
    PersonId,
    Pose,
    Sight,
    Speech,
    What,
)
from keepsake.language.addressing import addresses
from keepsake.language.perception import names, plain_line, sentences, shorten
from keepsake.prompt.verbs import Options, find_named


@dataclass(frozen=True, slots=True)
class AgentRef:
    """A reference to an agent: its number, name and folder, and how to find its object."""

    number: int  # the agent's database number
    name: str  # its name
    folder: Path  # ``vault/agents/<name>``
    body: FindBody  # returns the agent's object
    names: Callable[[], frozenset[str]]  # of all people and places; fast, for the reactor thread


WAKE = "wake"
"""The verb of shaking a sleeper awake."""
_ALOUD = (Manner.SAY, Manner.SHOUT)


def is_agent(somebody: object) -> TypeGuard[Body]:
    """Return whether this is a Keepsake agent; characters of other classes are not."""
    return bool(getattr(somebody, "is_agent", False))


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


def options_of(agent: Body, *, stays: bool) -> Options:
    """Return the people, things and exits that the agent's verbs can name."""
    place = agent.location
    ways = [way for way in place.exits if way.access(agent, "view")] if place is not None else []
    things = things_seen(agent)
    details = list(map(str, place.db.details or ())) if place is not None else []
    seen = description_of(agent)
    listed = [each for each in details if names(seen, each)]
    leads = ((str(way.key), _name_of_place(way.destination)) for way in ways)
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


def keys_of(objects: Iterable[GameObject]) -> tuple[str, ...]:
    """Return the keys of exits, which are commands, without duplicates."""
    return tuple(dict.fromkeys(str(each.key) for each in objects))


def names_of(objects: Iterable[GameObject], agent: Body) -> tuple[str, ...]:
    """Return the names by which the agent knows people or things, without duplicates."""
    return tuple(dict.fromkeys(name_of(each, agent) for each in objects))


def name_of(somebody: GameObject, agent: GameObject) -> str:
    """Return the name by which the agent, or a player, knows somebody or a thing; without colours.

    It is the name that a player in the agent's place would see and type: ``Tom``, or ``a tall man``
    in a game with short descriptions. It may change; see :func:`identity_of`.
    """
    return _plain(str(somebody.get_display_name(looker=agent))) or _plain(str(somebody.key))


def find_person(agent: Body, name: str) -> CharacterObject | None:
    """Return the character here whom the agent knows by that name; None for none or several."""
    met = [each for each in people_near(agent) if name_of(each, agent) == name]
    return met[0] if len(met) == 1 else None


def place_of(character: CharacterObject) -> str:
    """Return the name of the character's room, without colour codes; empty if it is in none."""
    return _name_of_place(character.location)


def description_of(agent: Body) -> str:
    """Return the description of the agent's room as it sees it; empty if nobody has written one."""
    place = agent.location
    if place is None:
        return ""
    return _description(place, agent)


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


def _name_of_place(place: RoomObject | None) -> str:
    return _plain(str(place.key)) if place is not None else ""


@lru_cache(maxsize=4096)  # called for everybody near, many times per thought
def _plain(name: str) -> str:
    return plain_line(name)


def show(
    agent: Body,
    text: str,
    kind: str,
    *,
    hidden_from: tuple[GameObject, ...] = (),
    **facts: object,
) -> None:
    """Show a line to everybody in the agent's room, except to itself and ``hidden_from``."""
    if agent.location is not None:
        # Evennia formats the message as a template, so the text is passed as a value.
        agent.location.msg_contents(
            ("{shown}", {"type": kind, **facts}),
            exclude=[agent, *hidden_from],
            from_obj=agent,
            mapping={"shown": text},
        )


def show_players(agent: Body, text: str) -> None:
    """Show a line to the players in the room, not to agents, which would only remember it."""
    agents = tuple(person for person in people_near(agent) if is_agent(person))
    show(agent, text, "thinking", hidden_from=agents)


def show_person(agent: Body, person: Person, text: str) -> None:
    """Show a line to one person in the agent's room; nobody else perceives it."""
    for each in people_near(agent):
        if identity_of(each) == person.id:
            each.msg((text, {"type": "hint"}))


def show_no_answer(agent: Body, impulse: Impulse) -> bool:
    """Tell a waiting player who is still here that no answer will come, as no model gave one.

    Returns:
        Whether anybody was told.
    """
    return _show_waiting(agent, impulse, f"{agent.key} seems far away, and does not answer.")


def show_silence(agent: Body, impulse: Impulse) -> None:
    """Show a waiting player who is still here that the agent says nothing: it has no good words."""
    _show_waiting(agent, impulse, f"{agent.key} shrugs, and says nothing.")


def _show_waiting(agent: Body, impulse: Impulse, line: str) -> bool:
    here = [identity_of(person) for person in people_near(agent)]
    waits = impulse.priority is Urgency.PLAYER and impulse.who in here
    if waits:
        show_players(agent, line)
    return waits


def hosts_guests(agent: Body) -> bool:
    """Return whether players are in the place that the agent keeps, even if it is away."""
    if not agent.db.keeps or agent.home is None:
        return False
    there = agent.home.contents_get(content_type="character")
    return any(person.has_account and person is not agent for person in there)


def talkativeness(agent: Body) -> float:
    """Return how often the agent acts unprompted, 0 to 1."""
    share = agent.attributes.get("talkativeness")  # a builder can set the attribute to any value
    return min(max(float(share), 0.0), 1.0) if isinstance(share, int | float) else 0.5


def identity_of(somebody: GameObject | None) -> str:
    """Return the permanent unique identity of a character: ``41-20261121194500``.

    It belongs to the character, not to the account: two characters of one player are two people,
    and a renamed character stays the same. It holds the creation time because a new database
    counts from 1 again, and its characters must not be taken for those of an old vault.

    Returns:
        The database number and the creation time (UTC); empty if the object is no character or is
        deleted.
    """
    if not is_character(somebody):
        return ""
    return _identity(somebody.id, somebody.db_date_created)


def is_character(somebody: GameObject | None) -> TypeGuard[CharacterObject]:
    """Return whether an object is a character, and not deleted."""
    kinds = getattr(somebody, "_content_types", ())
    return somebody is not None and somebody.pk is not None and "character" in kinds


def number_of(identity: PersonId) -> int:
    """Return the database number in an identity; 0 if it is none, as in an early archive."""
    number = identity.partition("-")[0]
    return int(number) if number.isdecimal() else 0


@lru_cache(maxsize=4096)  # called for everybody near, many times per thought
def _identity(number: int, made: datetime) -> str:
    return f"{number}-{made.astimezone(UTC) if made.tzinfo else made:%Y%m%d%H%M%S}"


# -- who is addressed


def impulse_of(
    agent: Body, speaker: GameObject, what: What, *, event: str = "", private: bool = False
) -> Impulse | None:
    """Return the impulse that something gives the agent; None if it gives none.

    Args:
        speaker: The character that spoke or acted.
        what: What happened, as the agent perceived it.
        event: The type of the message; what happens by rule gives no impulse.
        private: Whether the line was sent to this agent alone.
    """
    player = bool(getattr(speaker, "has_account", False))
    if event in BY_RULE or event in _UNANSWERED:
        return None
    aside = False
    match what:
        case Deed(verb=verb, to=to):
            if ME not in to or verb not in (KnownVerb.GIVE, WAKE):
                return None
            meant = ImpulseKind.GIVEN if verb == KnownVerb.GIVE else ImpulseKind.ADDRESSED
        case Speech() | Pose():
            found = _attention_to(agent, speaker, what, player=player)
            if found is None:
                return None
            meant, aside = found
        case Sight():
            if not player:
                return None  # an agent's line that nobody marked as speech starts no talk
            alone = people_near(agent) == [speaker]
            meant = ImpulseKind.ADDRESSED if private or alone else ImpulseKind.HEARD
        case _:
            return None
    who = identity_of(speaker)
    return Impulse(meant, player, name_of(speaker, agent), source_id=who, aside=aside)


def _attention_to(
    agent: Body, speaker: GameObject, what: Speech | Pose, *, player: bool
) -> tuple[ImpulseKind, bool] | None:
    """Return how much speech or a pose is meant for the agent, and whether for somebody else."""
    if ME in what.to:
        return ImpulseKind.ADDRESSED, False
    if what.to:  # agents do not join in when an agent talks to somebody else
        return (ImpulseKind.HEARD, True) if player else None
    words = what.words if isinstance(what, Speech) else what.shown
    aloud = isinstance(what, Speech) and what.manner in _ALOUD
    mine = {agent.key, _plain(str(agent.get_display_name(looker=speaker))), *_nicknames(agent)}
    if any(names(words, each) for each in mine):
        return (ImpulseKind.ADDRESSED if aloud else ImpulseKind.NAMED), False
    if isinstance(what, Pose) and not player:
        return None  # an agent's gesture that names nobody goes with its words, and asks nothing
    if isinstance(what, Speech) and what.manner is Manner.CHANNEL:
        return None  # it is for all who listen, wherever they are
    others = people_near(agent)
    if others == [speaker] and aloud:
        return ImpulseKind.ADDRESSED, False  # alone in a room: each line is for the other one
    to_room = player and isinstance(what, Speech) and what.manner is Manner.SAY
    aside = any(
        names(words, name)
        for each in others
        if each is not speaker and not (to_room and is_silent(each))
        for name in _names_of_one(each, agent)
    )
    return ImpulseKind.HEARD, aside


def is_silent(somebody: CharacterObject) -> bool:
    """Return whether somebody is no agent that answers: a player, a sleeper, anybody else."""
    return not is_agent(somebody) or bool(somebody.db.asleep or somebody.db.paused)


MOST_DESCRIBED = 6
"""The most things of an agent that its prompt describes: a trader may carry a shop."""
LONGEST_DESCRIPTION = 240
"""The most characters of such a description, which is long enough for what is written on a page."""


class Mention(NamedTuple):
    """Somebody here whom words to the room name, and who may not answer.

    Attributes:
        who: The identity.
        is_called: Whether the words call that person, so that they are for them.
    """

    who: PersonId
    is_called: bool


def mention_in(agent: Body, speaker: CharacterObject, words: str) -> Mention | None:
    """Return whom of those here that are no agents who answer words name; None for nobody.

    Who is called comes first.
    """
    named = list[Mention]()
    for each in people_near(agent):
        theirs = [name for name in _names_of_one(each, agent) if names(words, name)]
        if theirs and each is not speaker and is_silent(each):
            is_called = any(addresses(words, name) for name in theirs)
            named.append(Mention(identity_of(each), is_called))
    return max(named, key=lambda each: each.is_called, default=None)


SHORTEST = 3
"""The fewest letters of an alias that is a name. Shorter ones save typing, and are in any talk."""


def _names_of_one(somebody: CharacterObject, agent: Body) -> tuple[str, ...]:
    """Return all names by which an agent may hear of somebody."""
    return (name_of(somebody, agent), *_nicknames(somebody))


def _nicknames(somebody: CharacterObject) -> list[str]:
    """Return the other names that somebody answers to: the aliases in the game."""
    return [each for each in map(str, somebody.aliases.all()) if len(each) >= SHORTEST]


_UNANSWERED = MOVES | {
    MessageType.LOOK,
    MessageType.ASLEEP,
    MessageType.THINKING,
    MessageType.FAILURE,
    MessageType.LOGIN,
}
"""Types of messages that are no reason to think: what they show is noticed in another way."""


type Route = list[ExitObject]
"""The exits to pass, in order; none for the room where one is."""

MOST_ROOMS = 200
"""Rooms that a route search visits at most. An agent without a route home is moved there."""


def route_to(agent: Body, goal: RoomObject | None) -> Route | None:
    """Return the shortest route to a room through exits that the agent may pass; else None."""
    return next((ways for room, ways in routes_from(agent) if room is goal), None)


def routes_from(agent: Body) -> Iterator[tuple[RoomObject, Route]]:
    """Yield rooms, the nearest first, each with the shortest route there; at most MOST_ROOMS."""
    start = agent.location
    if start is None:
        return
    ways: dict[RoomObject, Route] = {start: []}
    ahead = deque([start])
    while ahead:
        room = ahead.popleft()
        yield room, ways[room]
        for way in room.exits:
            there = way.destination
            if there is None or there in ways or len(ways) >= MOST_ROOMS:
                continue
            if way.access(agent, "traverse"):
                ways[there] = [*ways[room], way]
                ahead.append(there)


def place_names(agent: Body) -> frozenset[str]:
    """Return the names of the places that the agent can walk to."""
    return frozenset(name_of(room, agent) for room, _ in routes_from(agent))


class Goal(NamedTuple):
    """Where an agent wants to walk.

    Attributes:
        room: The room; that of the person, if one is meant.
        ways: The exits to pass.
        person: Who is meant; None for a place.
    """

    room: RoomObject
    ways: Route
    person: CharacterObject | None = None

    def is_reached_by(self, agent: Body) -> bool:
        """Return whether the agent is there, or with the person, who may have moved."""
        room = self.room if self.person is None else self.person.location
        return agent.location is room


def find_goal(agent: Body, words: str) -> Goal | None:
    """Return the place or person that words name, and the way there.

    Args:
        words: ``the Quay``, ``Oswin``.

    Returns:
        The goal; None if the agent knows no way to such a place or person.
    """
    routes = list(routes_from(agent))
    rooms = {name_of(room, agent): Goal(room, ways) for room, ways in reversed(routes)}
    if (name := find_named(words, tuple(rooms))) is not None:
        return rooms[name]
    people = {
        name_of(each, agent): Goal(room, ways, each)
        for room, ways in reversed(routes)
        for each in room.contents_get(content_type="character")
        if each is not agent
    }
    found = find_named(words, tuple(people))
    return people[found] if found is not None else None
