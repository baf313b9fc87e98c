"""What happened, as a program tells it to a memory: by names, without the parts of a world.

A person is a name, or a :class:`keepsake.happening.Person` with an id of the program's own. Two
people with one name need ids; a name alone is an identity too, whatever its case.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from keepsake import happening
from keepsake.archive.message_types import MessageType
from keepsake.errors import KeepsakeError
from keepsake.happening import ME, Manner, Person, What
from keepsake.language.perception import fit_name, inner_quotes, one_line

type Who = str | Person
"""A name, or a person with an id."""

MOST_CHARACTERS = 10_000
"""The most characters of one happening: a quarter of a large prompt. A document is no memory."""
_ID = re.compile(r"[\w:.-]{1,60}")
"""What an identity may be: the files of plans and requests hold it."""
_TAKEN = frozenset({ME.id})
_CURE_ID = "Use 1 to 60 letters, digits, and : . _ -, such as discord:1234"


@dataclass(frozen=True, slots=True)
class Speech:
    """Somebody said something. By the agent itself, if ``speaker`` is its name.

    Attributes:
        to: Whom it was said to; empty for everybody who hears it. The agent's own name means the
            agent.
        manner: ``say``, ``whisper`` (only speaker and addressees hear it), ``shout`` or
            ``channel``.
        shown: The line as people read it; empty for one made of the other fields.
    """

    speaker: Who
    words: str
    to: Sequence[Who] = ()
    manner: str = Manner.SAY
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Deed:
    """Somebody did something that really happened: a gift, a purchase, a move in a game.

    Attributes:
        verb: ``give``, ``buy`` …
        objects: The things that it is about.
        to: The people whom it is directed at.
        outcome: What came of it.
        shown: The line as people read it: ``Anneke gives you a blue cup.``
    """

    actor: Who
    verb: str
    objects: Sequence[str] = ()
    to: Sequence[Who] = ()
    outcome: str = ""
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Pose:
    """Somebody acted something out, as a player types it. It proves nothing.

    Attributes:
        gesture: What is seen, without the actor's name: ``waves.``
    """

    actor: Who
    gesture: str
    to: Sequence[Who] = ()
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Sight:
    """Anything else that the agent perceives.

    Attributes:
        shown: The line: ``The ferry leaves without Bram.``
        source: Who caused it; None for nobody.
    """

    shown: str
    source: Who | None = None


type Happened = Speech | Deed | Pose | Sight
"""What a memory perceives."""


def person_of(who: Who) -> Person:
    """Return a person with an identity.

    Raises:
        KeepsakeError: The name is empty, or the id cannot be used.
    """
    name = who.name if isinstance(who, Person) else who
    if not isinstance(name, str) or not any(map(str.isalnum, name)):
        raise KeepsakeError("A person has no name", "Give a name with a letter or a digit")
    name = fit_name(name)
    given = who.id if isinstance(who, Person) else ""
    if not given:
        digest = hashlib.sha256(name.casefold().encode("utf-8", "replace")).hexdigest()
        return Person(name, f"name-{digest[:16]}")
    if not _ID.fullmatch(given) or given in _TAKEN:
        raise KeepsakeError(f"{given[:80]!r} cannot be the id of a person", _CURE_ID)
    return Person(name, given)


class HappeningReader:
    """Turns what a program tells into what one agent perceives.

    Args:
        agent: The agent's name, which means the agent itself.
    """

    def __init__(self, agent: str) -> None:
        self._agent = agent

    def person(self, who: Who) -> Person:
        """Return a person; ``ME`` for the agent itself. It raises as :func:`person_of`."""
        is_me = isinstance(who, str) and who.strip().casefold() in (self._agent.casefold(), ME.name)
        return ME if who == ME or is_me else person_of(who)

    def people(self, given: Sequence[Who]) -> tuple[Person, ...]:
        """Return several people. It raises as :func:`person_of`."""
        if isinstance(given, str):  # a sequence of its letters, by mistake
            raise KeepsakeError(f"{given[:80]!r} is no list of people", f"Write [{given[:80]!r}]")
        return tuple(map(self.person, given))

    def what(self, told: Happened) -> tuple[What, str]:
        """Return what happened as the agent perceives it, and the type of its message.

        Raises:
            KeepsakeError: A field is empty, too long or unknown; the message says which.
        """
        match told:
            case Speech():
                return self._speech(told)
            case Deed():
                return self._deed(told), MessageType.DEED
            case Pose():
                return self._pose(told), MessageType.POSE
            case Sight():
                source = None if told.source is None else self.person(told.source)
                shown = _line(told.shown, "shown of a Sight")
                return happening.Sight(source=source, shown=shown), ""
        what = f"{type(told).__name__} is nothing that happens"
        raise KeepsakeError(what, "Pass a keepsake.Speech, Deed, Pose or Sight")

    def _speech(self, told: Speech) -> tuple[happening.Speech, str]:
        speaker = self.person(told.speaker)
        to = self.people(told.to)
        words = inner_quotes(_line(told.words, "words of a Speech"))
        try:
            manner = Manner(told.manner)
        except ValueError:
            cure = f"Write one of: {', '.join(Manner)}"
            raise KeepsakeError(f"{told.manner!r} is no manner of speech", cure) from None
        if manner is Manner.WHISPER and not to:
            raise KeepsakeError("A whisper has no addressee", "Name them: to=[…]")
        shown = one_line(told.shown) or _shown_speech(speaker, words, to, manner)
        what = happening.Speech(speaker=speaker, words=words, to=to, manner=manner, shown=shown)
        return what, "" if speaker == ME else MessageType(manner.value)

    def _deed(self, told: Deed) -> happening.Deed:
        actor = self.person(told.actor)
        to = self.people(told.to)
        if isinstance(told.objects, str):
            cure = f"Write [{told.objects[:80]!r}]"
            raise KeepsakeError(f"{told.objects[:80]!r} is no list of things", cure)
        objects = tuple(_line(each, "objects of a Deed") for each in told.objects)
        verb = _line(told.verb, "verb of a Deed")
        outcome = one_line(told.outcome)
        shown = one_line(told.shown)
        if not shown:
            towards = f" to {', '.join(each.name for each in to)}" if to else ""
            done = f"{verb} {', '.join(objects)}".strip() + towards
            shown = done if actor == ME else f"{actor.name} does: {done}"
            shown = f"{shown} ({outcome})" if outcome else shown
        return happening.Deed(
            actor=actor, verb=verb, objects=objects, to=to, outcome=outcome, shown=shown
        )

    def _pose(self, told: Pose) -> happening.Pose:
        actor = self.person(told.actor)
        gesture = _line(told.gesture, "gesture of a Pose")
        own = f"emote {gesture}" if actor == ME else f"{actor.name} {gesture}"
        return happening.Pose(
            actor=actor,
            gesture=gesture,
            by_agent=actor == ME,
            to=self.people(told.to),
            shown=one_line(told.shown) or own,
        )


def own_speech(words: str, to: Sequence[Person], manner: Manner) -> happening.Speech:
    """Return words of the agent itself. ``words``: one line."""
    words = inner_quotes(words)
    return happening.Speech(
        speaker=ME, words=words, to=tuple(to), manner=manner, shown=_own(words, to, manner)
    )


def _line(text: str, field: str) -> str:
    """Return a text as one line.

    Raises:
        KeepsakeError: It is no text, empty or too long.
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        raise KeepsakeError(f"There is no text in the {field}, but a {kind}", "Pass a str")
    if len(text) > MOST_CHARACTERS:
        length = f"{len(text):,} characters"
        what = f"There are {length} in the {field}, and a memory holds {MOST_CHARACTERS:,}"
        raise KeepsakeError(what, "Tell it in several happenings")
    line = one_line(text)
    if not line:
        raise KeepsakeError(f"There is nothing in the {field}", "Leave out what says nothing")
    return line


def _shown_speech(speaker: Person, words: str, to: Sequence[Person], manner: Manner) -> str:
    if speaker == ME:
        return _own(words, to, manner)
    return happening.shown_speech(speaker.name, words, to, manner)


def _own(words: str, to: Sequence[Person], manner: Manner) -> str:
    """Return a line of the agent as it would type it."""
    if manner is Manner.WHISPER:
        return f"whisper {', '.join(each.name for each in to)} = {words}"
    return f"{manner.value} {words}"
