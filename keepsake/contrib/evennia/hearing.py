"""Tells agents what happens in the game, as data: who spoke or acted, to whom, with which words.

A game that knows what happens says so, and each agent turns it into its own view: it is ``ME``, and
other people have the names by which it knows them. There are two ways:

* :func:`happens` is a context manager around the game's own way to show a line::

      with happens(Speech(speaker=person_of(caller), words=words)):
          caller.location.msg_contents(f"{caller.key} sagt: »{words}«", from_obj=caller)

* :func:`hear` shows the line, too.

Without either, a line may show an act that an agent carries out now, or a gift. Else Evennia's
message itself says something: its ``from_obj`` and, for speech and poses, its ``type``. Every other
line is a :class:`Sight`. No line is ever taken apart to find out who speaks.

Everything here runs on the reactor thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from django.utils.translation import gettext as _
from evennia.accounts.accounts import DefaultAccount
from evennia.objects.models import ObjectDB

from keepsake.agent.acting import CurrentAct
from keepsake.agent.body import Body, CharacterObject, GameObject
from keepsake.agent.happening_ids import new_id
from keepsake.agent.runtime import running, runtime
from keepsake.agent.surroundings import identity_of, is_agent, name_of, number_of
from keepsake.archive.message_types import MessageType
from keepsake.archive.records import MemoryFacts
from keepsake.contrib.evennia.minds import mind_of
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
    actor_of,
)
from keepsake.language import perception

POSE_MARK = "* "
"""Begins a pose in games that mark poses, as the village does. It is not remembered."""
_MANNERS = {manner.value: manner for manner in Manner}
"""Types of messages that are speech, with its manner."""
_LINES = {
    Manner.SAY: '{speaker} says, "{words}"',
    Manner.WHISPER: '{speaker} whispers, "{words}"',
    Manner.SHOUT: '{speaker} shouts, "{words}"',
    Manner.CHANNEL: '{speaker}: "{words}"',
}
"""How :func:`hear` shows speech without a line of its own."""
_SLOT = re.compile(r"\{(speaker|words|to)\}")


def person_of(somebody: Any) -> Person:
    """Return a character of the game as a :class:`Person`, for :func:`happens` and :func:`hear`.

    Agents replace its name by the one by which they know the character. For an account, as a
    channel has for a sender, it is the character that the account plays.
    """
    if isinstance(somebody, DefaultAccount):
        somebody = next(iter(somebody.get_all_puppets()), somebody)
    return Person(str(somebody.key), identity_of(somebody))


def persons_of(people: Any) -> tuple[Person, ...]:
    """Return characters as a tuple of :class:`Person`: one, several, or None for nobody."""
    if people is None:
        return ()
    several = people if isinstance(people, Iterable) else (people,)
    return tuple(person_of(each) for each in several)


# -- what the game says about the lines that it shows


@dataclass
class Happening:
    """Something that happens now, as the game tells it.

    Attributes:
        id: Its id, which all who perceive it archive.
        what: What happens, with the people's own names.
        facts: Other fields of the memories of it.
        perceived: The database numbers of the agents that have perceived it.
    """

    id: str
    what: What
    facts: MemoryFacts = field(default_factory=MemoryFacts)
    perceived: set[int] = field(default_factory=set)

    def is_shown_by(self, line: str, sender: GameObject | None) -> bool:
        """Return whether a line from a sender shows it.

        A line without a sender must have the words: something else may be shown meanwhile.
        """
        actor = actor_of(self.what)
        if sender is not None:
            return actor is not None and actor.key == person_of(sender).key
        return isinstance(self.what, Speech) and _has_words(line, self.what.words)


_now: list[Happening] = []
"""What happens now; the innermost last."""


@contextmanager
def happens(what: What, **facts: Unpack[MemoryFacts]) -> Iterator[str]:
    """Tell agents what the lines mean that are shown within the ``with`` block.

    The lines must have the actor as their ``from_obj``, or no ``from_obj``. An agent that gets
    several of them remembers the first. The block must not wait for anything.

    Args:
        what: What happens. People are made with :func:`person_of`.
        **facts: Other fields of the memories, such as ``importance``.

    Yields:
        The id of the happening.
    """
    inside = _now[-1] if _now else None
    if inside is not None and _same_words(inside.what, what):
        yield inside.id  # a command that speaks through ``at_say`` knows more than ``at_say``
        return
    act = _current_act_of(actor_of(what))
    if act is None:
        happening = Happening(new_id(), what, facts)
    else:
        happening = Happening(act.happening, what, MemoryFacts(**{**act.facts, **facts}))
        if isinstance(what, Speech) and act.has_words(what.words):
            happening.perceived = act.perceived  # `say` may have shown them to some agents already
    _now.append(happening)
    try:
        yield happening.id
    finally:
        _now.remove(happening)


def _same_words(outer: What, inner: What) -> bool:
    """Whether both are speech of the same person, and the inner one has the outer one's words."""
    if not (isinstance(outer, Speech) and isinstance(inner, Speech)):
        return False
    return outer.speaker == inner.speaker and outer.words in inner.words


def is_spoken_to(character: CharacterObject) -> bool:
    """Return whether what is shown now is speech to this character, and not to everybody."""
    what = _now[-1].what if _now else None
    return isinstance(what, Speech) and identity_of(character) in {each.id for each in what.to}


def _current_act_of(actor: Person | None) -> CurrentAct | None:
    """Return the act that an agent carries out now; None if it carries out none."""
    somebody = object_of(actor.id) if actor is not None else None
    mind = mind_of(somebody) if is_agent(somebody) else None
    return mind.actor.current if mind is not None else None


def hear(where: Any, speech: Speech, *, players: bool = True) -> None:
    """Let people hear speech: show it to players, and let agents remember and answer it.

    Args:
        where: A room, for all characters in it; a character; or several characters. If it is not a
            room and the speech is not on a channel, only these people may know of it.
        speech: What is said. ``shown`` is the line; in it ``{speaker}``, ``{words}`` and ``{to}``
            are replaced, names as the reader knows them. If it is empty, it is English.
        players: Whether players are shown the line. With False only agents perceive it.
    """
    is_room = hasattr(where, "contents_get") and not identity_of(where)
    if is_room:
        readers = list(where.contents_get(content_type="character"))
    else:
        readers = list(where) if isinstance(where, Iterable) else [where]
    facts = MemoryFacts()
    if not (is_room or speech.manner is Manner.CHANNEL):
        everybody = (speech.speaker.id, *map(identity_of, readers))
        facts["witnesses"] = tuple(dict.fromkeys(filter(None, everybody)))
    template = speech.shown or _LINES[speech.manner]
    speaker = object_of(speech.speaker.id)
    with happens(speech, **facts):
        for reader in readers:
            if players or is_agent(reader):
                line = _SLOT.sub(lambda slot: _filling(speech, slot[1], reader), template)  # noqa: B023
                reader.msg((line, {"type": speech.manner.value}), from_obj=speaker)


def _filling(speech: Speech, slot: str, reader: CharacterObject) -> str:
    if slot == "words":
        return speech.words
    people = (speech.speaker,) if slot == "speaker" else speech.to
    return ", ".join(_shown_name(each, reader) for each in people)


def _shown_name(somebody: Person, reader: CharacterObject) -> str:
    found = object_of(somebody.id)
    return str(found.get_display_name(reader)) if found is not None else somebody.name


def object_of(identity: PersonId) -> CharacterObject | None:
    """Return the character with that identity; None if it is not known or has been deleted."""
    if not (number := number_of(identity)):
        return None
    # Evennia keeps loaded objects: this asks the database only the first time.
    found = ObjectDB.objects.get_id(number)
    return found if found is not None and identity_of(found) == identity else None


# -- what an agent makes of a line


@dataclass(frozen=True)
class Heard:
    """A line that an agent got, as this agent perceives it.

    Attributes:
        what: What happened.
        kind: The type of the message; empty if it had none.
        facts: Other fields of the memory.
        private: Whether it was sent to this agent alone.
        again: Whether the agent has perceived the same happening already.
    """

    what: What
    kind: str = ""
    facts: MemoryFacts = field(default_factory=MemoryFacts)
    private: bool = False
    again: bool = False


def perceived(
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
    if (happening := _happening_shown_by(line, sender)) is not None:
        if agent.id in happening.perceived:
            return Heard(Sight(shown=line), kind, again=True)
        happening.perceived.add(agent.id)
        if isinstance(happening.what, Deed) and happening.what.verb == KnownVerb.GIVE:
            _gifts.pop(agent.id, None)
        facts = MemoryFacts(**happening.facts)
        facts["happening"] = happening.id
        if (witnesses := facts.get("witnesses")) is not None:
            me = identity_of(agent)
            facts["witnesses"] = tuple(each for each in witnesses if each != me)
        what = _view(agent, happening.what, line)
        if isinstance(what, Speech) and facts.get("told", "") not in what.words:
            del facts["told"]  # in a language that the agent does not speak
        return Heard(what, kind, facts)
    if sender is None and direct and (gift := _gifts.pop(agent.id, None)) is not None:
        return Heard(replace(gift, shown=line), MessageType.GIVE, MemoryFacts(happening=new_id()))
    source = _sender_known(agent, sender) if sender is not None else None
    facts = MemoryFacts(happening=_shared_id(agent, sender, line))
    if direct and sender is not None and _announces(line, sender, agent):
        return Heard(Sight(source=source, shown=line), MessageType.LOGIN, facts)
    private = direct and agent.private_lines
    if private:
        facts["witnesses"] = (source.id,) if source is not None and source.id else ()
    return Heard(_by_type(kind, source, line), kind, facts, private)


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
    leaves = line.startswith(perception.perceive(left[0])) and line.endswith(left[2])
    return line == perception.perceive(entered) or leaves


def _happening_shown_by(line: str, sender: GameObject | None) -> Happening | None:
    """Return what a line shows: what the game says that happens, or the act of an agent."""
    for happening in reversed(_now):
        if happening.is_shown_by(line, sender):
            return happening
    mind = mind_of(sender) if is_agent(sender) else None
    act = mind.actor.current if mind is not None else None
    if act is None:
        return None
    me = person_of(sender)
    match act.what:
        case Speech(words=words) if _has_words(line, words):
            what: What = replace(act.what, speaker=me)
        case Deed(verb=KnownVerb.GIVE):
            what = replace(act.what, actor=me)
        case _:
            return None
    return Happening(act.happening, what, act.facts, perceived=act.perceived)


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
    words = perception.perceive(speech.words)
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
    gesture = perception.perceive(pose.gesture)
    if not gesture or gesture not in shown:
        gesture = shown.removeprefix(pose.actor.name).strip()
    actor = object_of(pose.actor.id)
    by_agent = is_agent(actor) and not actor.has_account  # a builder may play one
    return replace(pose, gesture=gesture, by_agent=by_agent, shown=shown)


def _has_words(line: str, words: str) -> bool:
    plain = perception.perceive(words).replace('"', "'")
    return bool(plain) and plain in line.replace('"', "'")


# -- one id for a line that several agents get


_burst: dict[tuple[int, str], tuple[str, set[int]]] = {}
"""Lines of this turn of the reactor, by sender and text: their id, and which agents got them."""


def _shared_id(agent: Body, sender: GameObject | None, line: str) -> str:
    """Return the id of a line without data: the same for all agents that get it now."""
    key = (getattr(sender, "id", None) or 0, line)
    if not _burst and running():
        runtime().post(_burst.clear)
    known, agents = _burst.get(key, ("", {agent.id}))
    if agent.id in agents:  # it is new, or the same person said the same again
        known, agents = _burst[key] = (new_id(), set())
    agents.add(agent.id)
    return known


# -- gifts, of which Evennia's own line has neither a type nor a sender

_gifts: dict[int, Deed] = {}
"""What was given to agents in this turn of the reactor, by the agent's database number."""


def expect_gift(agent: Body, giver: CharacterObject, thing: GameObject) -> None:
    """Take the next line that only the agent gets as the one that shows this gift."""
    if not _gifts and running():
        runtime().post(_gifts.clear)
    name = str(thing.get_numbered_name(1, agent, return_string=True))
    things: tuple[str, ...] = (perception.perceive(name),)
    before = _gifts.get(agent.id)
    actor = _known(agent, person_of(giver))
    if before is not None and before.actor == actor:
        things = (*before.objects, *things)
    _gifts[agent.id] = Deed(actor=actor, verb=KnownVerb.GIVE, objects=things, to=(ME,))
