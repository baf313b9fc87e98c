"""Players' characters: a mixin for a game's Character class, and who answers and greets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.python.failure import Failure

from keepsake.agent.attention.recent_talks import TALK_SECONDS
from keepsake.agent.body import Body
from keepsake.agent.runtime import now, running, runtime
from keepsake.agent.surroundings.game_objects import CharacterObject, RoomObject
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.people import players_near
from keepsake.agent.unprompted.unprompted import talkativeness
from keepsake.contrib.evennia.hearing import happens, person_of, persons_of
from keepsake.contrib.evennia.minds import mind_of, open_minds
from keepsake.contrib.evennia.news import Absentee, News, newest_news, news_of
from keepsake.errors import KeepsakeError
from keepsake.events.files import time_of
from keepsake.happening import Manner, Speech
from keepsake.logs import Subsystem, get_logger

if TYPE_CHECKING:
    from evennia.objects.objects import DefaultCharacter as Base
else:
    Base = object

log = get_logger(Subsystem.NEWS)

LEFT = "left"
"""The attribute with the time when a player left, in ISO format."""
TIMEOUT_SECONDS = 30.0
"""Seconds to wait for the news of an absence. Later news is not shown."""


_AGENT_OPTIONS = frozenset({"work"})
"""Options of a message that only agents get. They are not sent to a client."""


class CharacterMixin(Base):
    """Adds news of an absence to a game's Character, and flags that agents read.

    It is optional: agents treat other characters as people, too.
    """

    is_agent = False
    """True for agents, False for people."""
    unannounced = False
    """Whether agents do not notice this character's arrivals and departures."""

    def msg(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> None:
        """Send a message, without the options that only agents get."""
        match text:
            case (line, {**facts}) if not _AGENT_OPTIONS.isdisjoint(facts):
                text = (line, {name: facts[name] for name in facts if name not in _AGENT_OPTIONS})
        super().msg(text=text, from_obj=from_obj, **kwargs)

    def at_forgotten(self) -> None:
        """Called when the player's words are deleted: delete what your game stores about them.

        It may be called again for the same request, after a crash.
        """

    def at_say(
        self,
        message: str,
        msg_self: Any = None,
        msg_location: Any = None,
        receivers: Any = None,
        msg_receivers: Any = None,
        **kwargs: Any,
    ) -> None:
        """Speak as the game does, and tell agents the words, to whom, and whether it is a whisper.

        The arguments are those of Evennia's ``at_say``, which shows the line.
        """
        speech = Speech(
            speaker=person_of(self),
            words=str(message),
            to=persons_of(receivers),
            manner=Manner.WHISPER if kwargs.get("whisper") else Manner.SAY,
        )
        with happens(speech):
            super().at_say(
                message,
                msg_self=msg_self,
                msg_location=msg_location,
                receivers=receivers,
                msg_receivers=msg_receivers,
                **kwargs,
            )

    def at_post_puppet(self, **kwargs: Any) -> None:
        """Show the news of the player's absence."""
        super().at_post_puppet(**kwargs)
        show_absence_news(self)

    def at_post_unpuppet(self, account: Any = None, session: Any = None, **kwargs: Any) -> None:
        """Store the time when the player left."""
        super().at_post_unpuppet(account=account, session=session, **kwargs)
        self.attributes.add(LEFT, now().isoformat())


def show_absence_news(character: CharacterObject) -> None:
    """Search for news of the player's absence in a worker thread, and show what is found."""
    left = time_of(character.attributes.get(LEFT))
    character.attributes.add(LEFT, now().isoformat())  # a crash does not store when they left
    if left is None or not running():
        return
    ignored = dict(character.db.ignored or {})
    who = Absentee(character.key, identity_of(character), left, ignored)
    minds = [(mind, agent) for mind in open_minds() if (agent := mind.thinker.body())]
    known = [(mind, agent.key, identity_of(agent)) for mind, agent in minds]

    def work() -> list[News]:
        found: list[News] = []
        for mind, name, key in known:
            try:
                archive = mind.memory.memory.archive
            except KeepsakeError:  # it cannot be opened: the log has the reason already
                continue
            try:
                found += news_of(archive, name, key, who)
            except (KeepsakeError, OSError) as error:  # the others' news is shown
                log.error("An agent's news could not be read", agent=name, exc_info=error)
        return newest_news(found)

    def failed(failure: Failure) -> None:
        told = "The news of an absence failed"
        log.error(told, player=character.key, exc_info=failure.value)

    def show(found: list[News]) -> None:
        if found and character.pk is not None:
            lines = (f"  {each.text.replace('|', '||')}" for each in found)
            character.msg("\n".join(["|wWhile you were away|n", *lines]))

    runtime().in_thread(work, TIMEOUT_SECONDS).addCallbacks(show, failed)


def hosts_of(room: RoomObject) -> list[Body]:
    """Return the agents that keep this room, also those that are elsewhere now."""
    agents = (mind.thinker.body() for mind in open_minds())
    return [each for each in agents if each and each.db_home_id == room.id and each.db.keeps]


def call_hosts(room: RoomObject) -> None:
    """Call the agents that keep this room back to it."""
    for host in hosts_of(room):
        mind = mind_of(host) if host.location is not room else None
        if mind is not None and not mind.presence.is_occupied:
            mind.sleeper.come_home()


def awake_in(room: RoomObject | None) -> list[Body]:
    """Return the agents in the room that are awake and not paused."""
    here = room.contents_get(content_type="character") if room is not None else []
    return [each for each in here if is_agent(each) and not (each.db.asleep or each.db.paused)]


def greeter(room: RoomObject | None, guest: CharacterObject) -> Body | None:
    """Return the agent that greets a guest, or None.

    One that stays comes before one that walks away, then one at home here, then the most talkative.
    """
    others = (each for each in awake_in(room) if each is not guest)
    return max(others, key=lambda each: (_stays(each), _welcome(each)), default=None)


def _welcome(agent: Body) -> tuple[bool, float, int]:
    return agent.home is agent.location, talkativeness(agent), -int(agent.id)


def _stays(agent: Body) -> bool:
    mind = mind_of(agent)
    return mind is not None and not mind.presence.is_leaving


def answers_room(agent: Body, player: CharacterObject, now: float) -> bool:
    """Whether a player's words without an addressee are for this agent.

    For some minutes they are for the agent with whom the player spoke last: see
    :func:`note_partner`. If there is none here, or it walks away, and no other player is here, they
    are for the first of :func:`listeners`. ``now``: Seconds of the runtime's clock.
    """
    listener, is_partner = _listener_to(player, agent.location, now)
    return listener is agent and (is_partner or not players_near(player))


def note_partner(player: CharacterObject, agent: Body) -> None:
    """Note that an agent and a player have spoken to each other, whoever of them began.

    ``player.ndb.spoken_to`` holds the last such agent, and when that was.
    """
    player.ndb.spoken_to = (agent, runtime().seconds())


def may_join_in(agent: Body, player: CharacterObject, now: float) -> bool:
    """Whether this agent may think about what a player says or does to nobody.

    One agent of a room may, so that a line costs one call of the model. The others remember it.
    """
    return _listener_to(player, agent.location, now)[0] is agent


def _listener_to(
    player: CharacterObject, room: RoomObject | None, now: float
) -> tuple[Body | None, bool]:
    """Return the agent in a room that listens most to a player, and whether they talk already."""
    last, at = player.ndb.spoken_to or (None, now)
    partner = last if now - at < TALK_SECONDS else None
    best = next(iter(listeners(player, room, partner)), None)
    return best, best is not None and best is partner


def listeners(
    player: CharacterObject, room: RoomObject | None, partner: Body | None = None
) -> list[Body]:
    """Return the agents in a room that may listen to a player, the first to answer first.

    One that stays comes before one that walks away, then the partner of the player's talk, then one
    that is not busy with somebody else, then who would greet the player.
    """
    who = identity_of(player)

    def attention(agent: Body) -> tuple[bool, bool, bool, tuple[bool, float, int]]:
        mind = mind_of(agent)
        busy = mind is None or mind.presence.is_busy_with_others(who)
        return _stays(agent), agent is partner, not busy, _welcome(agent)

    others = (each for each in awake_in(room) if each is not player)
    return sorted(others, key=attention, reverse=True)
