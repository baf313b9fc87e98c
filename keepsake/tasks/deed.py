"""A deed that a model chose, ``> give rosemary to Anneke``, as a command of the game.

Only the verbs that are handed in exist, with the people, things and exits that are there. The
reason of a refusal goes into the character's memory, so that the next answer can do better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import dropwhile
from typing import Any

from keepsake.language.perception import disarm, one_line, pattern, shorten
from keepsake.ports import Tool, ToolCall
from keepsake.prompt.verbs import (
    SLOT,
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
"""Characters of words in a deed, the most that the game's own speech takes."""
LONGEST_ARGUMENT = 80
"""Characters of the name of a thing."""
LONGEST_ENTRY = 400
"""Characters of what an agent writes down or searches for; ends at a word."""
_QUOTE = '"“”„«»'
_ARTICLES = {
    *("up", "down", "at", "to", "into", "through", "toward", "towards"),
    *("the", "a", "an", "my", "this", "that"),
}
_LONGEST_TITLE = 60


class _Refused(Exception):
    """A deed that cannot be done; why not, in words that a model can act on."""


def read_deed(line: str, verbs: Sequence[Verb], options: Options) -> Command | str:
    """The command that a line means, or why there is none.

    Args:
        line: The line without its ``>``; a private reason may follow behind `` | ``.
        verbs: What the character can do.
        options: The people, things and exits that are there.
    """
    text, _, reason = line.partition(" | ")
    word, _, rest = text.strip().partition(" ")
    verb = find_verb(word.strip(".:,!"), verbs)
    if verb is None:
        names = ", ".join(each.name for each in options.usages(verbs))
        return f"You tried to {shorten(text, 60)}: there is no such deed. You can: {names}"
    try:
        nothing = verb.takes is Takes.NOTHING or verb.usage == verb.name
        read = _by_usage if verb.takes is Takes.OWN else _argument
        argument = "" if nothing else read(verb, rest.strip(), options)
        if not (argument or nothing or verb.takes is Takes.MAYBE_THING):
            raise _Refused(f": say what. Write: > {verb.usage}")
    except _Refused as refused:
        return f"You tried to {verb.name}{refused}"
    return Command(verb.name, argument, reason.strip())


def tools_of(usages: Mapping[Verb, str]) -> tuple[Tool, ...]:
    """The offered verbs as tools of a model that can call them; each takes one text."""
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
    """The line of a tool call, as if the model had written it behind ``>``."""
    return one_line(" ".join([call.name, *map(str, call.arguments.values())]))


def _argument(verb: Verb, rest: str, options: Options) -> str:
    """What follows the verb, as the game's command takes it; empty if nothing does."""
    people = options.people
    match verb.takes:
        case Takes.TEXT:
            return rest.strip('*"“” ')[:LONGEST_WORDS]
        case Takes.WHISPER:
            who, words = _halves(rest, r"\s*[=:,]\s*", people)
            words = words.strip('"“” ')[:LONGEST_WORDS]
            return f"{_person(who, people)} = {words}" if words else ""
        case Takes.PERSON:
            return _person(rest, people)
        case Takes.GIFT:  # ``lamp to Tom``, ``lamp = Tom``
            thing, who = _halves(rest, r"\s+to\s+|\s*=\s*")
            found = _thing(verb, thing, options) if thing and who else ""
            return f"{found} to {_person(who, people)}" if found else ""
        case Takes.EXIT:
            return _exit(rest, options)
        case Takes.PROMISE:
            who, what = _halves(rest, r"\s*:\s*", people)
            what = _own_words(what)
            return f"{find_named(who, people) or who}: {what}" if what else _own_words(rest)
        case Takes.ENTRY:  # ``the garden: I sowed`` and ``garden = I sowed`` as ``garden: I sowed``
            title, text = _halves(rest, r"\s*[:=]\s*|\s+(?:-|–|—)\s+")
            title, text = shorten(_thing_name(title), _LONGEST_TITLE), _own_words(text)
            return f"{title}: {text}" if title and text else ""
        case Takes.WORDS:
            return _own_words(rest)
        case Takes.NUMBER:  # ``promise 2``, ``#2`` and ``(2)`` as ``2``
            return "".join(re.findall(r"\d{1,9}", rest)[:1])
        case _:
            return _thing(verb, rest, options)


def _by_usage(verb: Verb, rest: str, options: Options) -> str:
    """What follows a game's own verb, in the form of its usage; empty if it has another form."""
    parts = SLOT.split(verb.usage.partition(" ")[2])  # what stands as it is, slot, as it is …
    if len(parts) == 1:
        return parts[0]
    stands = (re.escape(part.strip()) for part in parts[::2])
    form = r"\s*(.+?)\s*".join(rf"\b{part}\b" if part.isalnum() else part for part in stands)
    said = pattern(form, re.I).fullmatch(rest)
    if said is None:
        return ""
    for at, (slot, words) in enumerate(zip(parts[1::2], said.groups(), strict=True)):
        find = find_exit if slot == "exit" else find_named
        names = options.filling(slot)
        name = _own_words(words) if slot == WORDS else find(_thing_name(words), names)
        if not name:
            here = f"there is only {either(names)}" if names else f"that is no {slot} here"
            raise _Refused(f" {shorten(words, 60)}: {here}")
        parts[2 * at + 1] = name
    return "".join(parts)


def _person(name: str, people: Sequence[str]) -> str:
    name = _thing_name(name)
    if to := find_named(name, people):
        return to
    here = either(people) or "nobody"
    raise _Refused(f" {shorten(name, 60)}: here is only {here}")


def _thing(verb: Verb, thing: str, options: Options) -> str:
    thing, names = _thing_name(thing), options.of(verb.takes)
    if not thing and verb.takes is Takes.MAYBE_THING:
        return ""
    if name := find_named(thing, names):
        return name
    can = f"you can only {verb.name} {either(names)}" if names else "there is nothing to do it to"
    raise _Refused(f" {shorten(thing, 60)}: {can}")


def _exit(rest: str, options: Options) -> str:
    if options.stays:
        raise _Refused(", but you stay now: you have guests")
    if way := find_exit(_thing_name(rest), options.exits):
        return way
    exits = either(options.exits) or "none"
    raise _Refused(f" {shorten(rest, 60)}: there is no such exit. Exits: {exits}")


# -- what follows a verb


def _halves(text: str, sign: str, people: Sequence[str] = ()) -> list[str]:
    """What stands before and after the first ``sign``, a pattern; blank behind if there is none."""
    # A name in ``people`` that the text begins with needs no sign.
    text = text.removeprefix("to ")
    for name in sorted(people, key=len, reverse=True):
        if name and pattern(rf"{re.escape(name)}(?!\w)", re.I).match(text):
            return [name, text[len(name) :].lstrip(" =:,")]
    return [*re.split(sign, text, maxsplit=1), ""][:2]


def _thing_name(text: str) -> str:
    """The name of a thing or exit: no article, quotes or full stop; short; no leading ``@``."""
    text = disarm(text).strip(f"{_QUOTE}'‘’.,!?*()[] ")
    words = dropwhile(lambda word: word.casefold() in _ARTICLES, text.split())
    return shorten((" ".join(words) or text).lstrip("@ "), LONGEST_ARGUMENT)


def _own_words(text: str) -> str:
    """What the agent says to itself alone: one harmless line; empty if there is no word."""
    line = disarm(text).strip(f"{_QUOTE}'‘’*[] ").lstrip("@ ")
    return shorten(line, LONGEST_ENTRY) if any(char.isalnum() for char in line) else ""
