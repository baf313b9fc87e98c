"""What a line of the game means to an agent.

What the game tells about the line comes first (:mod:`keepsake.contrib.evennia.hearing`). If it
tells nothing, the line may show an act that an agent carries out now, or a gift. Otherwise
Evennia's message itself says something: its ``from_obj`` and, for speech and poses, its ``type``.
Every other line is a :class:`Sight`. No line is ever taken apart to find out who speaks.

Everything here runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _

from keepsake.agent.acting.happening_ids import new_id
from keepsake.agent.body import Body
from keepsake.agent.runtime import running, runtime
from keepsake.agent.surroundings.game_objects import CharacterObject, GameObject
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.naming import name_of
from keepsake.archive.message_types import MessageType
from keepsake.archive.records import MemoryFacts
from keepsake.contrib.evennia.hearing import (
    POSE_MARK,
    Happening,
    has_words,
    object_of,
    person_of,
    told_by_game,
)
from keepsake.contrib.evennia.minds import mind_of
from keepsake.happening import (
    ME,
    Deed,
    KnownVerb,
    Manner,
    Person,
    Pose,
    Sight,
    Speech,
    What,
)
from keepsake.language import perception

_MANNERS = {manner.value: manner for manner in Manner}
"""Types of messages that are speech, with its manner."""


@dataclass(frozen=True)
class Heard:
    """A line that an agent got, as this agent perceives it.

    Attributes:
        line: The line as plain text.
        sender: The object that it comes from; None if the message had no ``from_obj``.
        what: What happened.
        kind: The type of the message; empty if it had none.
        facts: Other fields of the memory.
        private: Whether it was sent to this agent alone.
        again: Whether the agent has perceived the same happening already.
    """

    line: str
    sender: GameObject | None
    what: What
    kind: str = ""
    facts: MemoryFacts = field(default_factory=MemoryFacts)
    private: bool = False
    again: bool = False


def meaning_of(
    agent: Body, line: str, sender: GameObject | None, options: Mapping[str, Any], *, direct: bool
) -> Heard:
    """Return what a line means to an agent.

    Args:
        line: The line as plain text.
        sender: The object that it comes from; None if the message had no ``from_obj``.
        options: The options of the message, such as its ``type``.
        direct: Whether the game sent the line to this agent alone.
    """
    kind = str(options.get("type", ""))
    happening = told_by_game(line, sender) or _act_shown_by(line, sender)
    if happening is not None:
        return _as_happening(agent, line, sender, kind, happening)
    if sender is None and direct and (gift := _gifts.pop(agent.id, None)) is not None:
        facts = MemoryFacts(happening=new_id())
        return Heard(line, sender, replace(gift, shown=line), MessageType.GIVE, facts)
    source = _sender_known(agent, sender) if sender is not None else None
    facts = MemoryFacts(happening=_shared_id(agent, sender, line))
    if direct and sender is not None and _announces(line, sender, agent):
        return Heard(line, sender, Sight(source=source, shown=line), MessageType.LOGIN, facts)
    private = direct and agent.private_lines
    if private:
        facts["witnesses"] = (source.id,) if source is not None and source.id else ()
    return Heard(line, sender, _by_type(kind, source, line), kind, facts, private)


def _as_happening(
    agent: Body, line: str, sender: GameObject | None, kind: str, happening: Happening
) -> Heard:
    """Return a line as what is known to happen; each agent perceives that once."""
    if agent.id in happening.perceived:
        return Heard(line, sender, Sight(shown=line), kind, again=True)
    happening.perceived.add(agent.id)
    if isinstance(happening.what, Deed) and happening.what.verb == KnownVerb.GIVE:
        _gifts.pop(agent.id, None)
    facts = MemoryFacts(**happening.facts)
    facts["happening"] = happening.id
    witnesses = facts.get("witnesses")
    if witnesses is not None:
        me = identity_of(agent)
        facts["witnesses"] = tuple(each for each in witnesses if each != me)
    what = _view(agent, happening.what, line)
    if isinstance(what, Speech) and facts.get("told", "") not in what.words:
        del facts["told"]  # in a language that the agent does not speak
    return Heard(line, sender, what, kind, facts)


def _act_shown_by(line: str, sender: GameObject | None) -> Happening | None:
    """Return the act that an agent carries out now, if a line shows it."""
    mind = mind_of(sender) if is_agent(sender) else None
    act = mind.actor.current if mind is not None else None
    if act is None:
        return None
    me = person_of(sender)
    match act.what:
        case Speech(words=words) if has_words(line, words):
            what: What = replace(act.what, speaker=me)
        case Deed(verb=KnownVerb.GIVE):
            what = replace(act.what, actor=me)
        case _:
            return None
    return Happening(act.happening, what, act.facts, perceived=act.perceived)


def _sender_known(agent: Body, sender: GameObject) -> Person:
    """Return who sent a line, as the agent knows them; things have a name, too."""
    source = _known(agent, person_of(sender))
    if source != ME and not source.id:
        source = replace(source, name=name_of(sender, agent))
    return source


def _announces(line: str, sender: GameObject, agent: Body) -> bool:
    """Return whether a line is Evennia's own that a player enters or leaves the game.

    Evennia sends it to everybody in the room by a plain ``msg``.
    """
    name = str(sender.get_display_name(agent))
    entered = _("{name} has entered the game.").format(name=name)
    left = _("{name} has left the game{reason}.").format(name=name, reason="\n").partition("\n")
    leaves = line.startswith(perception.plain_line(left[0])) and line.endswith(left[2])
    return line == perception.plain_line(entered) or leaves


def _by_type(kind: str, source: Person | None, line: str) -> What:
    """Return what a line is by Evennia's type of message; the words of speech are not known."""
    if source is not None and (manner := _MANNERS.get(kind)):
        plain = line.replace('"', "'")
        to = (ME,) if manner is Manner.WHISPER else ()
        return Speech(speaker=source, words=plain, to=to, manner=manner, shown=plain)
    if source is not None and kind == MessageType.POSE:
        return _pose(Pose(actor=source), line)
    return Sight(source=source, shown=line)


def _view(agent: Body, what: What, line: str) -> What:
    """Return what happens as an agent sees it: it is ``ME``, and others have known names."""
    match what:
        case Speech():
            to = tuple(_known(agent, each) for each in what.to)
            return _speech(replace(what, speaker=_known(agent, what.speaker), to=to), line)
        case Deed():
            to = tuple(_known(agent, each) for each in what.to)
            return replace(what, actor=_known(agent, what.actor), to=to, shown=line)
        case Pose():
            to = tuple(_known(agent, each) for each in what.to)
            return _pose(replace(what, actor=_known(agent, what.actor), to=to), line)
        case Sight():
            source = _known(agent, what.source) if what.source is not None else None
            return replace(what, source=source, shown=line)
    return replace(what, shown=line)


def _known(agent: Body, somebody: Person) -> Person:
    """Return somebody as the agent knows them."""
    if somebody.id and somebody.id == identity_of(agent):
        return ME
    found = object_of(somebody.id)
    return replace(somebody, name=name_of(found, agent)) if found is not None else somebody


def _speech(speech: Speech, line: str) -> Speech:
    """Return speech with its line; neither has double quotes within the words.

    If the line does not have the words, the agent does not know them: a language that it does not
    speak, for example. Then the whole line stands for them.
    """
    words = perception.plain_line(speech.words)
    plain = words.replace('"', "'")
    if speech.speaker == ME:
        return replace(speech, words=plain, shown=_own_line(speech, plain))
    if words and words in line:
        return replace(speech, words=plain, shown=line.replace(words, plain))
    plain = line.replace('"', "'")
    return replace(speech, words=plain, shown=plain)


def _own_line(speech: Speech, words: str) -> str:
    """Return an agent's own speech as the line that it would have written."""
    if speech.manner is Manner.WHISPER and speech.to:
        return f"whisper {speech.to_name} = {words}"
    return f"{'shout' if speech.manner is Manner.SHOUT else 'say'} {words}"


def _pose(pose: Pose, line: str) -> Pose:
    """Return a pose with its line.

    If the line does not have the gesture, it is the line without the actor's name: a gesture that
    is worded for each reader, or that the game did not give.
    """
    shown = line.removeprefix(POSE_MARK)
    gesture = perception.plain_line(pose.gesture)
    if not gesture or gesture not in shown:
        gesture = shown.removeprefix(pose.actor.name).strip()
    actor = object_of(pose.actor.id)
    by_agent = is_agent(actor) and not actor.has_account  # a builder may play one
    return replace(pose, gesture=gesture, by_agent=by_agent, shown=shown)


# -- one id for a line that several agents get


_burst: dict[tuple[int, str], tuple[str, set[int]]] = {}
"""Lines of this turn of the reactor, by sender and text: their id, and which agents got them."""


def _shared_id(agent: Body, sender: GameObject | None, line: str) -> str:
    """Return the id of a line without data: the same for all agents that get it now."""
    key = (getattr(sender, "id", None) or 0, line)
    if not _burst and running():
        runtime().post(_burst.clear)
    before = _burst.get(key)
    if before is not None and agent.id not in before[1]:
        known, agents = before
        agents.add(agent.id)
        return known
    known = new_id()  # it is new, or the same person said the same again
    _burst[key] = (known, {agent.id})
    return known


# -- gifts, of which Evennia's own line has neither a type nor a sender

_gifts: dict[int, Deed] = {}
"""What was given to agents in this turn of the reactor, by the agent's database number."""


def expect_gift(agent: Body, giver: CharacterObject, thing: GameObject) -> None:
    """Take the next line that only the agent gets as the one that shows this gift."""
    if not _gifts and running():
        runtime().post(_gifts.clear)
    name = str(thing.get_numbered_name(1, agent, return_string=True))
    things: tuple[str, ...] = (perception.plain_line(name),)
    before = _gifts.get(agent.id)
    actor = _known(agent, person_of(giver))
    if before is not None and before.actor == actor:
        things = (*before.objects, *things)
    _gifts[agent.id] = Deed(actor=actor, verb=KnownVerb.GIVE, objects=things, to=(ME,))
