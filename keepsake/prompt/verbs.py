"""The verbs that an agent can use.

A synonym matches only if its verb is among those passed to the function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import takewhile

from keepsake.archive.tool_verbs import TOOL_VERBS
from keepsake.errors import KeepsakeError
from keepsake.happening import KnownVerb


class Takes(Enum):
    """The kind of argument that a verb takes."""

    NOTHING = "nothing"
    TEXT = "text"  # free words: say, emote
    THING = "thing"  # a thing or person here, or a carried thing: examine
    MAYBE_THING = "maybe a thing"  # look
    LYING = "thing that can be taken"  # get
    CARRIED = "carried thing"  # drop
    EXIT = "exit"  # go
    PERSON = "person"  # follow
    WAY = "place, person or exit"  # walk
    WHISPER = "person = text"
    GIFT = "thing to person"
    ENTRY = "title: text"
    PROMISE = "person, time: text"
    WORDS = "words of its own"  # free words that are not spoken: recall, pin, forget
    NUMBER = "number"
    ASKER = "person who asked"  # agree, decline
    OWN = "what its usage names"  # a game's own verb: ``throw <item> at <person>``


@dataclass(frozen=True, slots=True)
class Verb:
    """A kind of act that an agent can choose."""

    usage: str  # the syntax, as shown in the prompt: ``get <thing>``
    help: str
    takes: Takes = Takes.NOTHING
    # whether it is a memory tool: nobody else perceives it, and no command of the game executes it
    private: bool = False
    name: str = field(init=False)  # the first word of the usage

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.usage.partition(" ")[0])


@dataclass(frozen=True, slots=True)
class Command:
    """A verb with its argument, to be executed.

    Attributes:
        argument: What follows the verb, as the game's command expects it: one line; may be empty.
        reason: The agent's private reason: archived, not shown to others.
        to: The name of the person whom it is directed at; empty for nobody.
        words: The free words in the argument: speech, a gesture, a promise, the text of a note.
        thing: The thing, exit or title in the argument.
        when: The time that a promise is for, as it was written; empty for none.
    """

    verb: str
    argument: str = ""
    reason: str = ""
    to: str = ""
    words: str = ""
    thing: str = ""
    when: str = ""

    @property
    def line(self) -> str:
        """The command as a player would type it: ``say Good day!``."""
        return f"{self.verb} {self.argument}".rstrip()


VERBS: tuple[Verb, ...] = (
    Verb("say <words>", "speak so that everybody here can hear you", Takes.TEXT),
    Verb("emote <what you do>", "do something with your body or face", Takes.TEXT),
    Verb("whisper <name> = <words>", "speak to one person only", Takes.WHISPER),
    Verb("talk <name> = <words>", "speak aloud to somebody else here", Takes.WHISPER),
    Verb("look [thing]", "look around, or at one thing", Takes.MAYBE_THING),
    Verb("examine <thing>", "look at something closely", Takes.THING),
    Verb("go <exit>", "walk through an exit", Takes.EXIT),
    Verb(
        "walk to <place or person>",
        "go there by the shortest way; the lines after it are done when you are there",
        Takes.WAY,
    ),
    Verb("get <thing>", "pick something up", Takes.LYING),
    Verb("drop <thing>", "put something down", Takes.CARRIED),
    Verb("give <thing> to <name>", "hand something over", Takes.GIFT),
    Verb("follow <name>", "go where somebody goes, until you > stay", Takes.PERSON),
    Verb("stay", "follow nobody any more"),
    Verb("wait", "do nothing, let the others speak"),
    Verb(
        "recall <words>",
        "search your memory and notes; several things: recall <one>; <two>",
        Takes.WORDS,
        True,
    ),
    Verb("remember <a fact>", "keep a fact where a search finds it", Takes.WORDS, True),
    Verb(
        "promise <name>, <when>: <what>",
        "note a promise that you give; <when> only if it is for a certain day, with the hour if you"
        " said it: you are reminded then",
        Takes.PROMISE,
        True,
    ),
    Verb(
        "plan <when>, <where>, <whom>: <what>",
        "mean to do it, and be reminded then; only <what> is needed, with all its steps. <when>:"
        " now (and begin it in this answer), a time, in 3 minutes, when somebody comes or leaves",
        Takes.WORDS,
        True,
    ),
    Verb("done <words of a plan>", "that plan is done", Takes.WORDS, True),
    Verb("cancel <words of a plan>: <why>", "that plan is given up", Takes.WORDS, True),
    Verb("agree <name>", "say that you will come; it becomes a plan", Takes.ASKER, True),
    Verb("decline <name>", "say that you will not come", Takes.ASKER, True),
    Verb("kept <number>", "the promise of that memory is done", Takes.NUMBER, True),
    Verb("note <title>: <text>", "write into your private notes", Takes.ENTRY, True),
    Verb("pin <text>", "keep a fact always before you", Takes.WORDS, True),
    Verb("unpin <number>", "let go of a pinned fact", Takes.WORDS, True),
    Verb("forget <title>", "put one of your notes away", Takes.WORDS, True),
)
"""The built-in verbs of every agent."""

ANSWERS = frozenset({KnownVerb.AGREE, KnownVerb.DECLINE})
"""The verbs that answer an invitation. They are offered only while one is open."""
PRIVATE = TOOL_VERBS
"""The verbs of the memory tools; a test compares them with :data:`VERBS`."""

SLOT = re.compile(r"<(\w+)>")
"""A slot in the usage of a game's own verb."""
WORDS = "words"
_SLOTS = dict.fromkeys(("person", "thing", "item", "exit", WORDS))
_TOOL = re.compile(r"[\w-]+", re.ASCII)  # what model servers accept as the name of a tool


def own_verbs(usages: Mapping[str, str]) -> tuple[Verb, ...]:
    """Return a game's own verbs, from a mapping of usages to help texts.

    Raises:
        KeepsakeError: A usage has an unknown slot, or begins with a verb that already exists.
    """
    verbs = list[Verb]()
    taken = {*PRIVATE, *(verb.name for verb in VERBS)}
    for usage, does in usages.items():
        verb = Verb(" ".join(usage.split()), does, Takes.OWN)
        good = _TOOL.fullmatch(verb.name) and {*SLOT.findall(usage)} <= _SLOTS.keys()
        if not good or verb.name in taken:
            cure = f"Begin it with a word that no other verb has; use <{'>, <'.join(_SLOTS)}>"
            raise KeepsakeError(f"{usage!r} is no usage of a new verb", cure)
        taken.add(verb.name)
        verbs.append(verb)
    return tuple(verbs)


_SYNONYM_WORDS: Mapping[str, str] = {
    KnownVerb.GO: "walk move run enter leave",
    KnownVerb.GET: "take grab pick",
    KnownVerb.DROP: "put",
    KnownVerb.GIVE: "hand offer",
    KnownVerb.EXAMINE: "inspect",
}
SYNONYMS: Mapping[str, str] = {
    word: verb for verb, words in _SYNONYM_WORDS.items() for word in words.split()
}
"""Synonyms, each with its verb."""

_COMPASS = """
    n:north s:south e:east w:west u:up d:down ne:northeast nw:northwest se:southeast sw:southwest
"""
COMPASS: Mapping[str, str] = dict(entry.split(":") for entry in _COMPASS.split())
_LETTERS = {long: short for short, long in COMPASS.items()}


def find_verb(word: str, verbs: Sequence[Verb]) -> Verb | None:
    """Return the verb that ``word`` names, directly or as a synonym; None if there is none.

    ``word``: One word, any case: ``give``, ``TAKE``.
    """
    known = {verb.name: verb for verb in verbs}
    word = word.casefold()
    return known.get(word) or known.get(SYNONYMS.get(word, ""))


def find_exit(word: str, exits: Sequence[str]) -> str | None:
    """Return the exit that ``word`` names: in full, by some of its words, or by compass letter."""
    wanted = bare_name(word)
    other = COMPASS.get(wanted) or _LETTERS.get(wanted, "")
    return find_named(wanted, exits) or find_named(other, exits)


_LISTED = 12
"""The most names that a list of options shows; a crowded room would fill the prompt."""
_NAMES = {
    Takes.EXIT: "exits",
    Takes.LYING: "lying",
    Takes.WHISPER: "people",
    Takes.PERSON: "people",
    Takes.ASKER: "people",
    Takes.CARRIED: "carried",
    Takes.GIFT: "carried",
}
"""The field of :class:`Options` with the names for each kind of argument."""
LEAVING = frozenset({Takes.EXIT, Takes.PERSON})
"""Kinds of argument of the verbs by which one leaves a place: go, follow."""
_WHERE = frozenset({"from", "on", "in", "with", "near", "off", "under", "behind", "by"})
_ARTICLES = frozenset({"the", "a", "an", "my", "some"})


@dataclass(frozen=True, slots=True)
class Options:
    """The things, people and exits that an agent's verbs can name."""

    exits: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    things: tuple[str, ...] = ()  # things here, then details that the place's description names
    # names of other details: whoever has read of one may look at it, but no list gives it away
    unlisted: tuple[str, ...] = ()
    lying: tuple[str, ...] = ()  # the things that can be picked up
    carried: tuple[str, ...] = ()
    # the visible exits, each with its destination: ``north to The Quay``
    ways: Mapping[str, str] = field(default_factory=dict)
    stays: bool = False  # whether it must not leave now: it is in a talk, or has guests
    others: tuple[str, ...] = ()  # other people here, to whom nothing may be said now

    @property
    def takers(self) -> tuple[str, ...]:
        """Those to whom a thing can be given, which says nothing: everybody here."""
        return (*self.people, *self.others)

    def known(self, takes: Takes) -> tuple[str, ...]:
        """Return the names that are understood for a kind of argument, unlisted ones included."""
        listed = self.of(takes)
        return (*listed, *self.unlisted) if takes in (Takes.THING, Takes.MAYBE_THING) else listed

    def of(self, takes: Takes) -> tuple[str, ...]:
        """Return the names for a kind of argument (for a gift, the things); empty if none apply."""
        if takes in (Takes.THING, Takes.MAYBE_THING):
            return (*dict.fromkeys((*self.things, *self.lying, *self.carried, *self.people)),)
        stays = self.stays and takes in LEAVING
        if stays or (takes is Takes.GIFT and not self.takers):
            return ()
        names: tuple[str, ...] = getattr(self, _NAMES.get(takes, ""), ())
        return names

    def filling(self, slot: str) -> tuple[str, ...]:
        """Return the names for a slot in a game's own usage; empty for free words."""
        named = {"person": self.people, "thing": self.things, "item": self.carried}
        return {**named, "exit": self.exits}.get(slot, ())

    def usages(self, verbs: Sequence[Verb]) -> dict[Verb, str]:
        """Return the verbs that have something to act on here, each with its usage and names."""
        found = {}
        for verb in verbs:
            if verb.takes is Takes.OWN:
                named = {slot: self.filling(slot) for slot in SLOT.findall(verb.usage)}
                named.pop(WORDS, None)
                lists = [f"{slot}: {', '.join(each[:_LISTED])}" for slot, each in named.items()]
                if all(named.values()):
                    found[verb] = f"{verb.usage} ({'; '.join(lists)})" if lists else verb.usage
                continue
            names = self.of(verb.takes)
            if names or verb.takes not in NAMING:
                to = f"; to {either(self.takers)}" if verb.takes is Takes.GIFT else ""
                shown = f" ({', '.join(names[:_LISTED])}{to})" if names else ""
                found[verb] = f"{verb.usage}{shown}"
        return found


NAMING = frozenset(
    {
        Takes.EXIT,
        Takes.PERSON,
        Takes.ASKER,
        Takes.THING,
        Takes.LYING,
        Takes.CARRIED,
        Takes.GIFT,
        Takes.WHISPER,
    }
)
"""Kinds of argument that must name a thing, person or exit that is present."""


def either(names: Sequence[str]) -> str:
    """Return ``north, up or out``, with the first dozen names."""
    *others, last = names[:_LISTED] or ("",)
    return f"{', '.join(others)} or {last}" if others else last


def find_named(said: str, names: Sequence[str]) -> str | None:
    """Return the one of ``names`` that is meant, in full or by some of its words; else None.

    ``said``: ``the lamp``, ``Lamp on the shelf``.
    """
    wanted = bare_name(said)
    known = {bare_name(name): name for name in reversed(names)}
    first, *rest = wanted.split() or [""]
    where = " ".join([first, *takewhile(lambda word: word not in _WHERE, rest)])
    for spelling in (wanted, where):
        having = [key for key in known if set(spelling.split()) <= set(key.split())]
        if spelling in known or (spelling and len(having) == 1):
            return known[spelling if spelling in known else having[0]]
    return None


def bare_name(name: str) -> str:
    """Return a name in lower case and without an article: ``the Quay`` is ``quay``."""
    words = name.casefold().split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in _ARTICLES else words)
