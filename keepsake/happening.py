"""What happens in a world, as data: who spoke, acted or was seen, to whom, and how it was read.

The world makes a happening once. Each agent that perceives it archives it as a memory, as that
agent perceived it: with the names by which it knows the people. All these memories carry the same
:attr:`keepsake.archive.records.Memory.happening`, so they can be joined.

``shown`` is the line as it was read on a screen, or as an agent wrote its act. It is kept for
people and for prompts. Nothing takes it apart to learn what the fields of a happening say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

type PersonId = str
"""The permanent identity of a person, such as ``41-20261121194500``; see ``identity_of``."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody, as one agent knows them.

    Attributes:
        name: The name by which the agent knows them: ``Tom``, or ``a tall man`` in a game with
            short descriptions. It may change; never use it to find out who somebody is.
        id: The permanent identity. Empty if it is not known, as in archives of early versions.
    """

    name: str
    id: PersonId = ""

    @property
    def key(self) -> str:
        """The identity; ``name:Tom`` if it is not known."""
        return self.id or f"name:{self.name}"

    def is_same(self, other: Person) -> bool:
        """Whether this person, from a memory, is ``other``: by identity, if the memory has one.

        Names count only for memories without identities, which early archives have.
        """
        return self.id == other.id if self.id else self.name == other.name


ME = Person("you", "me")
"""The agent in whose archive the happening is."""
UNKNOWN: PersonId = "?"
"""The identity of somebody who heard private words, if an early archive does not record who."""


class Manner(StrEnum):
    """How something was said."""

    SAY = "say"
    WHISPER = "whisper"
    """Only the speaker and the addressees hear it."""
    SHOUT = "shout"
    """People in rooms nearby hear it too."""
    CHANNEL = "channel"
    """Everybody who listens to a channel hears it, wherever they are."""


class KnownVerb(StrEnum):
    """The verbs whose meaning the library knows. A game adds its own, so a verb is any string."""

    SAY = "say"
    WHISPER = "whisper"
    TALK = "talk"
    """Words to somebody else than the partner of a turn."""
    SHOUT = "shout"
    EMOTE = "emote"
    LOOK = "look"
    EXAMINE = "examine"
    GO = "go"
    """Through one exit."""
    WALK = "walk"
    """Through several exits, by the shortest way."""
    GET = "get"
    DROP = "drop"
    GIVE = "give"
    FOLLOW = "follow"
    STAY = "stay"
    """Follow nobody any more."""
    WAIT = "wait"
    """Do nothing."""
    # The memory tools, which nobody else perceives.
    RECALL = "recall"
    REMEMBER = "remember"
    PROMISE = "promise"
    KEPT = "kept"
    """A promise is done."""
    PLAN = "plan"
    DONE = "done"
    """A plan is done."""
    CANCEL = "cancel"
    """A plan is given up."""
    AGREE = "agree"
    """An invitation is accepted."""
    DECLINE = "decline"
    """An invitation is declined."""
    NOTE = "note"
    FORGET = "forget"
    """A note is put away."""
    PIN = "pin"
    UNPIN = "unpin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """Somebody said something.

    Attributes:
        words: What was said, without double quotes, so that nobody can close a quotation and go
            on as somebody else. Equal to ``shown`` if the game did not say which part of the line
            is speech; empty if the reader may not know the words.
        to: The addressees; empty for everybody who hears it.
    """

    speaker: Person
    words: str
    to: tuple[Person, ...] = ()
    manner: Manner = Manner.SAY
    shown: str = ""

    @property
    def listener(self) -> Person | None:
        """The first addressee; None if it was said to everybody."""
        return self.to[0] if self.to else None

    @property
    def to_name(self) -> str:
        """The name of the first addressee: ``you`` for the agent itself; empty for everybody."""
        return self.to[0].name if self.to else ""

    @property
    def is_to_me_or_all(self) -> bool:
        """Whether it was said to the agent or to everybody."""
        return not self.to or ME in self.to


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """Somebody did something by the rules of the world: a gift, a walk, a deed with an effect.

    Attributes:
        verb: ``give``, ``go``, ``ring``; for an agent's own act the verb that it wrote.
        objects: The things that the deed is about, by the names that the agent knows.
        to: The people whom it is directed at.
        outcome: What came of it, in a word or a sentence; empty if that is not known.
    """

    actor: Person
    verb: str
    objects: tuple[str, ...] = ()
    to: tuple[Person, ...] = ()
    outcome: str = ""
    shown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """Somebody acted something out. It may read like speech or a deed, and proves nothing.

    Attributes:
        gesture: What is seen, without the actor's name: ``nods.``; empty if that is not known.
        by_agent: Whether an agent made it, so that no player chose its words.
    """

    actor: Person
    gesture: str = ""
    by_agent: bool = False
    to: tuple[Person, ...] = ()
    shown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Anything else that an agent perceived, and every line of a foreign game without fields.

    Attributes:
        source: Who caused it; None for the world itself, or if that is not known.
    """

    source: Person | None = None
    shown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What an own act of the agent brought: a look, a refusal, a search result.

    Attributes:
        verb: The verb of that act; empty if it is not known.
        act: The number of the memory of that act; 0 if it is not known.
        done: Whether the act was carried out. False for a refusal or a failure.
    """

    verb: str = ""
    act: int = 0
    done: bool = True
    shown: str = ""


type What = Speech | Deed | Pose | Sight | Result


class HappeningKind(StrEnum):
    """The types of happenings, by their names in archive lines and on the dashboard."""

    SPEECH = "speech"
    DEED = "deed"
    POSE = "pose"
    SIGHT = "sight"
    RESULT = "result"


def kind_of(what: What) -> HappeningKind:
    """Return the type of what happened."""
    return HappeningKind(type(what).__name__.casefold())


def actor_of(what: What) -> Person | None:
    """Return who spoke, acted or caused it: ``ME`` for an own act; None if nobody is known."""
    match what:
        case Speech():
            return what.speaker
        case Deed() | Pose():
            return what.actor
        case Sight():
            return what.source
        case Result():
            return None


def is_me(somebody: Person | None) -> bool:
    """Return whether somebody is the agent itself; quick, as a prompt asks it a thousand times."""
    if somebody is None or somebody.id != ME.id:
        return False
    return somebody == ME


def addressees_of(what: What) -> tuple[Person, ...]:
    """Return whom it is directed at; empty for nobody, or everybody."""
    return what.to if isinstance(what, Speech | Deed | Pose) else ()


def shown_as(what: What, shown: str) -> What:
    """Return the same happening with another line to show."""
    return replace(what, shown=shown)


def shown_speech(speaker: str, words: str, to: Iterable[Person], manner: Manner) -> str:
    """Return speech as somebody else sees it: ``Mira says to Tom, "Sit down."``."""
    names = ", ".join(each.name for each in to)
    towards = f" to {names}" if names else ""
    return f'{speaker} {manner.value}s{towards}, "{words}"'


def own_deed_of(what: What, name: str) -> str:
    """Return what an agent itself said or did, as somebody else would tell it.

    In prompts of the agent it stands as it was typed, ``say Sit down.``, which does not tell a
    reader of many memories who spoke.

    Args:
        name: The name of the agent.

    Returns:
        ``Mira says to Tom, "Sit down."``, or nothing if somebody else spoke or acted.
    """
    if not is_me(actor_of(what)):
        return ""
    match what:
        case Speech():
            return shown_speech(name, what.words, what.to, what.manner)
        case Pose():
            return f"{name} {what.gesture}"
    return f"{name} does: {what.shown}"
