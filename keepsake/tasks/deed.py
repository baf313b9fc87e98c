"""Parses a model's deed, such as ``> give rosemary to Anneke``, into a command of the game.

Only the given verbs are valid, with the people, things and exits that are present. The reason of a
refusal goes into the character's memory, so that the next answer can do better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import Any

from keepsake.happening import KnownVerb
from keepsake.language.perception import disarm, one_line, pattern, shorten, unquoted
from keepsake.ports import Tool, ToolCall
from keepsake.prompt.verbs import (
    LEAVING,
    SLOT,
    VERBS,
    WORDS,
    Command,
    Options,
    Takes,
    Verb,
    either,
    find_exit,
    find_named,
    find_verb,
)

LONGEST_WORDS = 1000
"""The most characters of spoken words in a deed, which is the limit of the game's ``say``."""
LONGEST_ARGUMENT = 80
"""The most characters of a name of a thing."""
LONGEST_ENTRY = 400
"""The most characters of a note or a search; cut at the end of a word."""
_QUOTE = '"“”„«»'
_ARTICLES = {
    "up",
    "down",
    "at",
    "to",
    "into",
    "through",
    "toward",
    "towards",
    "the",
    "a",
    "an",
    "my",
    "this",
    "that",
}
_LONGEST_TITLE = 60
"""The most characters of a note's title; a longer one is shortened, as a book refuses it."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A deed that cannot be done.

    Attributes:
        verb: The verb that was tried; the word as it was written, in lower case, if it is none.
        reason: Why it cannot be done, told to the character.
    """

    verb: str
    reason: str


_COLON = re.compile(r"\s*:(?!\d\d)\s*")
"""A colon that is none of a time: ``9:00``."""
_LONGEST_WAIT = 80
"""The most characters of what is waited for, which a prompt shows beside the plan."""


class _Refused(Exception):
    """The deed cannot be done; the message tells the model why."""


def read_deed(line: str, verbs: Sequence[Verb], options: Options) -> Command | Refusal:
    """Parse a line into a command, or into why it cannot be done.

    Args:
        line: The line without its ``>``; a private reason may follow after `` | ``.
    """
    text, _, reason = line.partition(" | ")
    word, _, rest = text.strip().partition(" ")
    word = word.strip(".:,!")
    verb = find_verb(word, verbs)
    if verb is None:
        known = find_verb(word, VERBS)  # one that may not be used now
        names = ", ".join(each.name for each in options.usages(verbs))
        told = f"You tried to {shorten(text, 60)}: there is no such deed. You can: {names}"
        return Refusal(known.name if known else word.casefold(), told)
    try:
        if options.stays and verb.takes in LEAVING:
            raise _Refused(", but you stay now: you have guests")
        nothing = verb.takes is Takes.NOTHING or verb.usage == verb.name
        read = _by_usage if verb.takes is Takes.OWN else _argument
        command = Command(verb.name) if nothing else read(verb, rest.strip(), options)
        if verb.name == KnownVerb.WAIT:  # ``wait for Bob``: a plan goes on when he comes
            command = replace(command, words=shorten(rest.strip(), _LONGEST_WAIT))
        if not (command.argument or nothing or verb.takes is Takes.MAYBE_THING):
            raise _Refused(f": say what. Write: > {verb.usage}")
    except _Refused as refused:
        return Refusal(verb.name, f"You tried to {verb.name}{refused}")
    return replace(command, reason=reason.strip())


def tools_of(usages: Mapping[Verb, str]) -> tuple[Tool, ...]:
    """Return the offered verbs as tools for a model; each has at most one text parameter."""
    tools = []
    for verb, usage in usages.items():
        parameters: dict[str, Any] = {"type": "object", "properties": {}}
        if verb.takes is not Takes.NOTHING and (verb.takes is not Takes.OWN or "<" in verb.usage):
            what = {"type": "string", "description": verb.usage.partition(" ")[2]}
            needed = [] if verb.takes is Takes.MAYBE_THING else ["what"]
            parameters |= {"properties": {"what": what}, "required": needed}
        tools.append(Tool(verb.name, f"{verb.help}. {usage}", parameters))
    return tuple(tools)


def deed_of(call: ToolCall) -> str:
    """Return a tool call as the line that the model would have written after ``>``."""
    return one_line(" ".join([call.name, *map(str, call.arguments.values())]))


def spoken_to(verb: str, to: str, words: str, reason: str = "") -> Command:
    """Return the command that speaks to one person: ``whisper Tom = Good day!``."""
    return Command(verb, f"{to} = {words}", reason, to=to, words=words)


def _argument(verb: Verb, rest: str, options: Options) -> Command:
    """Return the command, with an argument in the form of the game's; empty if there is none."""
    name = verb.name
    match verb.takes:
        case Takes.TEXT:
            words = unquoted(rest.strip("* "))[:LONGEST_WORDS]
            return Command(name, words, words=words)
        case Takes.WORDS:
            words = _own_words(rest)
            return Command(name, words, words=words)
        case Takes.WAY:  # ``walk north`` is ``go north``; another place is found by the map
            words = _own_words(rest.removeprefix("to "))
            if (way := find_exit(_thing_name(words), options.exits)) is not None:
                return Command(KnownVerb.GO, way, thing=way)
            return Command(name, f"to {words}", words=words)
        case Takes.EXIT:
            way = _exit(rest, options)
            return Command(name, way, thing=way)
        case Takes.ENTRY:  # ``the garden: I sowed``, ``garden = I sowed`` → ``garden: I sowed``
            title, text = _halves(rest, r"\s*[:=]\s*|\s+(?:-|–|—)\s+")
            title = shorten(_thing_name(title), _LONGEST_TITLE)
            text = _own_words(text)
            if not (title and text):
                return Command(name)
            return Command(name, f"{title}: {text}", words=text, thing=title)
        case Takes.NUMBER:  # ``promise 2``, ``#2``, ``(2)`` → ``2``
            number = "".join(re.findall(r"\d{1,9}", rest)[:1])
            return Command(name, number, thing=number)
        case Takes.WHISPER | Takes.PERSON | Takes.ASKER | Takes.GIFT | Takes.PROMISE:
            return _directed(verb, rest, options)
        case _:
            thing = _thing(verb, rest, options)
            return Command(name, thing, thing=thing)


def _directed(verb: Verb, rest: str, options: Options) -> Command:
    """Return a command that is directed at a person; its argument is empty if words are missing."""
    people = options.people
    name = verb.name
    match verb.takes:
        case Takes.WHISPER:
            who, words = _halves(rest, r"\s*[=:,]\s*", people)
            words = unquoted(words)[:LONGEST_WORDS]
            return spoken_to(name, _person(who, people), words) if words else Command(name)
        case Takes.GIFT:  # ``lamp to Tom``, ``lamp = Tom``
            thing, who = _halves(rest, r"\s+to\s+|\s*=\s*")
            found = _thing(verb, thing, options) if thing and who else ""
            if not found:
                return Command(name)
            to = _person(who, options.takers)
            return Command(name, f"{found} to {to}", to=to, thing=found)
        case Takes.PROMISE:
            return _promise(name, rest, people)
        case _:
            to = _person(rest, people)
            return Command(name, to, to=to)


def _promise(name: str, rest: str, people: Sequence[str]) -> Command:
    """Return the command that notes a promise: ``Bob: soup``, ``Bob, Friday 9:00: soup``."""
    head, _, after = _COLON.sub("\n", rest, count=1).partition("\n")
    who, _, when = head.removeprefix("to ").partition(",")
    when = _own_words(when)
    if not (after and when and who.strip()):
        who, after = _halves(rest, r"\s*:\s*", people)
        when = ""
    what = _own_words(after)
    if not what:
        what = _own_words(rest)
        return Command(name, what, words=what)
    to = find_named(who, people) or who.strip()
    with_time = f"{to}, {when}" if when else to
    return Command(name, f"{with_time}: {what}", to=to, words=what, when=when)


def _by_usage(verb: Verb, rest: str, options: Options) -> Command:
    """Return a game's own verb, its argument matched to its usage; empty without a match."""
    parts = SLOT.split(verb.usage.partition(" ")[2])  # alternately literal text and a slot
    if len(parts) == 1:
        return Command(verb.name, parts[0])
    stands = (re.escape(part.strip()) for part in parts[::2])
    form = r"\s*(.+?)\s*".join(rf"\b{part}\b" if part.isalnum() else part for part in stands)
    said = pattern(form, re.I).fullmatch(rest)
    if said is None:
        return Command(verb.name)
    found = dict[str, str]()
    for at, (slot, words) in enumerate(zip(parts[1::2], said.groups(), strict=True)):
        find = find_exit if slot == "exit" else find_named
        names = options.filling(slot)
        name = _own_words(words) if slot == WORDS else find(_thing_name(words), names)
        if not name:
            here = f"there is only {either(names)}" if names else f"that is no {slot} here"
            raise _Refused(f" {shorten(words, 60)}: {here}")
        parts[2 * at + 1] = name
        found.setdefault(slot, name)
    return Command(
        verb.name,
        "".join(parts),
        to=found.get("person", ""),
        words=found.get(WORDS, ""),
        thing=found.get("thing") or found.get("item") or found.get("exit") or "",
    )


def _person(name: str, people: Sequence[str]) -> str:
    name = _thing_name(name)
    if to := find_named(name, people):
        return to
    here = f"here is only {either(people)}" if people else "nobody is here"
    raise _Refused(f" {shorten(name, 60)}: {here}")


def _thing(verb: Verb, thing: str, options: Options) -> str:
    thing = _thing_name(thing)
    names = options.of(verb.takes)
    if not thing and verb.takes is Takes.MAYBE_THING:
        return ""
    if name := find_named(thing, options.known(verb.takes)):
        return name
    can = (
        f"you can only {verb.name} {either(names)}" if names else f"there is nothing to {verb.name}"
    )
    raise _Refused(f" {shorten(thing, 60)}: {can}")


def _exit(rest: str, options: Options) -> str:
    if way := find_exit(_thing_name(rest), options.exits):
        return way
    exits = either(options.exits) or "none"
    raise _Refused(f" {shorten(rest, 60)}: there is no such exit. Exits: {exits}")


# -- arguments of verbs


def _halves(text: str, sign: str, people: Sequence[str] = ()) -> list[str]:
    """Split a text at the first match of the pattern ``sign``; the second half may be empty."""
    # If the text begins with a name in ``people``, it is split after the name.
    text = text.removeprefix("to ")
    for name in sorted(people, key=len, reverse=True):
        if name and pattern(rf"{re.escape(name)}(?!\w)", re.I).match(text):
            rest = text[len(name) :].lstrip()
            if rest[:1] in ("=", ":", ",") or "=" not in rest:  # not ``Ann and Tom = Sit.``
                return [name, rest.lstrip(" =:,")]
    return [*re.split(sign, text, maxsplit=1), ""][:2]


def _thing_name(text: str) -> str:
    """Clean the name of a thing or exit: no article, quotes, full stop or leading ``@``; short."""
    text = disarm(text).strip(f"{_QUOTE}'‘’.,!?*()[] ")
    words = dropwhile(lambda word: word.casefold() in _ARTICLES, text.split())
    return shorten((" ".join(words) or text).lstrip("@ "), LONGEST_ARGUMENT)


def _own_words(text: str) -> str:
    """Clean the agent's words to itself into one safe line; empty without letters or digits."""
    line = disarm(text).strip(f"{_QUOTE}'‘’*[] ").lstrip("@ ")
    return shorten(line, LONGEST_ENTRY) if any(char.isalnum() for char in line) else ""
