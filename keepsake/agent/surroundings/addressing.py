"""Which speech, poses and acts are meant for an agent, and the impulse that they give it."""

from __future__ import annotations

from typing import NamedTuple

from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.surroundings.game_objects import CharacterObject, GameObject
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.naming import name_of, names_heard_for, nicknames, plain_name
from keepsake.agent.surroundings.people import people_near
from keepsake.archive.message_types import BY_RULE, MOVES, MessageType
from keepsake.happening import ME, Deed, KnownVerb, Manner, PersonId, Pose, Sight, Speech, What
from keepsake.language.addressing import addresses
from keepsake.language.perception import names

WAKE = "wake"
"""The verb of shaking a sleeper awake."""

_ALOUD = (Manner.SAY, Manner.SHOUT)
"""Ways of speaking that all in the room hear and may take as said to them."""

_UNANSWERED = MOVES | {
    MessageType.LOOK,
    MessageType.ASLEEP,
    MessageType.THINKING,
    MessageType.FAILURE,
    MessageType.LOGIN,
}
"""Types of messages that are no reason to think: what they show is noticed in another way."""


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
    mine = {agent.key, plain_name(str(agent.get_display_name(looker=speaker))), *nicknames(agent)}
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
        for name in names_heard_for(each, agent)
    )
    return ImpulseKind.HEARD, aside


def is_silent(somebody: CharacterObject) -> bool:
    """Return whether somebody is no agent that answers: a player, a sleeper, anybody else."""
    return not is_agent(somebody) or bool(somebody.db.asleep or somebody.db.paused)


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
        theirs = [name for name in names_heard_for(each, agent) if names(words, name)]
        if theirs and each is not speaker and is_silent(each):
            is_called = any(addresses(words, name) for name in theirs)
            named.append(Mention(identity_of(each), is_called))
    return max(named, key=lambda each: each.is_called, default=None)
