"""Tells agents what happens in the game, as data: who spoke or acted, to whom, with which words.

A game that knows what happens says so, and each agent turns it into its own view: it is ``ME``, and
other people have the names by which it knows them. There are two ways:

* :func:`happens` is a context manager around the game's own way to show a line::

      with happens(Speech(speaker=person_of(caller), words=words)):
          caller.location.msg_contents(f"{caller.key} sagt: »{words}«", from_obj=caller)

* :func:`hear` shows the line, too.

What an agent makes of a line, with this or without it, is in
:mod:`keepsake.contrib.evennia.meaning`. Everything here runs on the reactor thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Unpack, cast

from evennia.accounts.accounts import DefaultAccount
from evennia.objects.models import ObjectDB

from keepsake.agent.acting.acts import CurrentAct
from keepsake.agent.acting.happening_ids import new_id
from keepsake.agent.surroundings.game_objects import CharacterObject, GameObject, RoomObject
from keepsake.agent.surroundings.identity import identity_of, is_agent, is_character, number_of
from keepsake.archive.records import MemoryFacts
from keepsake.contrib.evennia.minds import mind_of
from keepsake.happening import (
    Manner,
    Person,
    PersonId,
    Speech,
    What,
    actor_of,
)
from keepsake.language import perception

POSE_MARK = "* "
"""Begins a pose in games that mark poses, as the village does. It is not remembered."""
_LINES = {
    Manner.SAY: '{speaker} says, "{words}"',
    Manner.WHISPER: '{speaker} whispers, "{words}"',
    Manner.SHOUT: '{speaker} shouts, "{words}"',
    Manner.CHANNEL: '{speaker}: "{words}"',
}
"""How :func:`hear` shows speech without a line of its own."""
_SLOT = re.compile(r"\{(speaker|words|to)\}")


def person_of(somebody: GameObject | DefaultAccount) -> Person:
    """Return a character of the game as a :class:`Person`, for :func:`happens` and :func:`hear`.

    Agents replace its name by the one by which they know the character. An account, which is the
    sender on a channel, becomes the character that it plays.
    """
    if isinstance(somebody, DefaultAccount):
        somebody = next(iter(somebody.get_all_puppets()), somebody)
    return Person(str(somebody.key), identity_of(somebody))


def persons_of(people: GameObject | Iterable[GameObject] | None) -> tuple[Person, ...]:
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
        return isinstance(self.what, Speech) and has_words(line, self.what.words)


_now: list[Happening] = []
"""What happens now; the innermost last."""


@contextmanager
def happens(what: What, **facts: Unpack[MemoryFacts]) -> Iterator[str]:
    """Tell agents what the lines mean that are shown within the ``with`` block.

    The lines must have the actor as their ``from_obj``, or no ``from_obj``. An agent that gets
    several of them remembers the first. The block must not wait for anything. Within a block about
    the same words of the same person it is no happening of its own.

    Args:
        what: What happens. People are made with :func:`person_of`.
        **facts: Other fields of the memories, such as ``importance``; ``happening`` if it is the
            same as one that was told before, to others.

    Yields:
        The id of the happening.
    """
    inside = _now[-1] if _now else None
    if inside is not None and _same_words(inside.what, what):
        yield inside.id  # a command that speaks through ``at_say`` knows more than ``at_say``
        return
    known = facts.pop("happening", "")
    act = _current_act_of(actor_of(what))
    if act is None:
        happening = Happening(known or new_id(), what, facts)
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


def is_told(sender: CharacterObject) -> bool:
    """Return whether the game says what somebody does or says now."""
    me = person_of(sender).key
    actors = (actor_of(each.what) for each in _now)
    return any(actor is not None and actor.key == me for actor in actors)


def is_spoken_to(character: CharacterObject) -> bool:
    """Return whether what is shown now is speech to this character, and not to everybody."""
    what = _now[-1].what if _now else None
    return isinstance(what, Speech) and identity_of(character) in {each.id for each in what.to}


def _current_act_of(actor: Person | None) -> CurrentAct | None:
    """Return the act that an agent carries out now; None if it carries out none."""
    somebody = object_of(actor.id) if actor is not None else None
    mind = mind_of(somebody) if is_agent(somebody) else None
    return mind.actor.current if mind is not None else None


def hear(
    where: RoomObject | CharacterObject | Iterable[CharacterObject],
    speech: Speech,
    *,
    players: bool = True,
) -> None:
    """Let people hear speech: show it to players, and let agents remember and answer it.

    Args:
        where: A room, for all characters in it; a character; or several characters. If it is not a
            room and the speech is not on a channel, only these people may know of it.
        speech: What is said. ``shown`` is the line; in it ``{speaker}``, ``{words}`` and ``{to}``
            are replaced, names as the reader knows them. If it is empty, it is English.
        players: Whether players are shown the line. With False only agents perceive it.
    """
    alone = True
    if isinstance(where, Iterable):
        readers = list(where)
    elif is_character(where):
        readers = [where]
    else:
        readers = cast("RoomObject", where).contents_get(content_type="character")
        alone = False
    facts = MemoryFacts()
    if alone and speech.manner is not Manner.CHANNEL:
        everybody = (speech.speaker.id, *map(identity_of, readers))
        facts["witnesses"] = tuple(dict.fromkeys(filter(None, everybody)))
    template = speech.shown or _LINES[speech.manner]
    speaker = object_of(speech.speaker.id)
    with happens(speech, **facts):
        for reader in readers:
            if players or is_agent(reader):
                filling = partial(_filling, speech, reader)
                line = _SLOT.sub(filling, template)
                reader.msg((line, {"type": speech.manner.value}), from_obj=speaker)


def _filling(speech: Speech, reader: CharacterObject, found: re.Match[str]) -> str:
    slot = found[1]
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


def has_words(line: str, words: str) -> bool:
    """Return whether a line shows these words; quotation marks in them may have been changed."""
    plain = perception.plain_line(words).replace('"', "'")
    return bool(plain) and plain in line.replace('"', "'")


def told_by_game(line: str, sender: GameObject | None) -> Happening | None:
    """Return what the game says that a line shows; None if it says nothing about this line."""
    return next((each for each in reversed(_now) if each.is_shown_by(line, sender)), None)
