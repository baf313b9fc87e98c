"""A deed that a model chose, ``> give rosemary to Anneke``, as a command of the game.

Only the verbs that are handed in exist, with the people, things and exits that are there. The
reason of a refusal goes into the character's memory, so that the next answer can do better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keepsake.language.perception import shorten
from keepsake.ports import Tool, ToolCall
from keepsake.prompt.arguments import (
    entry,
    gift,
    halves,
    leading_name,
    numbers,
    own_words,
    thing_name,
)
from keepsake.prompt.options import Options, either, find_named
from keepsake.prompt.verbs import Command, Takes, Verb, find_exit, find_verb

LONGEST_WORDS = 1000
"""Characters of words in a deed, the most that the game's own speech takes."""


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
        usages = ", ".join(options.usages(verbs))
        return f"You tried to {shorten(text, 60)}: there is no such deed. You can: {usages}"
    found = _READERS[verb.takes](verb, rest.strip(), options)
    return replace(found, reason=reason.strip()) if isinstance(found, Command) else found


def tools_of(verbs: Sequence[Verb], options: Options) -> tuple[Tool, ...]:
    """The offered verbs as tools of a model that can call them; each takes one text."""
    usages = dict(zip(options.offered(verbs), options.usages(verbs), strict=True))
    return tuple(
        Tool(verb.name, f"{verb.help}. {usage}", _parameters(verb))
        for verb, usage in usages.items()
    )


def deed_of(call: ToolCall) -> str:
    """The line of a tool call, as if the model had written it behind ``>``."""
    return " ".join([call.name, *(str(each) for each in call.arguments.values())]).strip()


def _parameters(verb: Verb) -> Mapping[str, Any]:
    if verb.takes is Takes.NOTHING:
        return {"type": "object", "properties": {}}
    what = {"type": "string", "description": verb.usage.partition(" ")[2]}
    needed = [] if verb.takes is Takes.MAYBE_THING else ["what"]
    return {"type": "object", "properties": {"what": what}, "required": needed}


def _nothing(verb: Verb, _rest: str, _options: Options) -> Command | str:
    return Command(verb.name)


def _text(verb: Verb, rest: str, _options: Options) -> Command | str:
    words = rest.strip('*"“” ')[:LONGEST_WORDS]
    return Command(verb.name, words) if words else _say_what(verb)


def _whisper(verb: Verb, rest: str, options: Options) -> Command | str:
    rest = rest.removeprefix("to ")
    if name := leading_name(rest, options.people):
        words = rest[len(name) :].lstrip(" =:,")
    else:
        name, _, words = halves(rest, r"\s*[=:,]\s*")
    to, words = find_named(name, options.people), words.strip('"“” ')[:LONGEST_WORDS]
    if not words:
        return _say_what(verb)
    return Command(verb.name, f"{to} = {words}") if to else _nobody(verb, name, options)


def _person(verb: Verb, rest: str, options: Options) -> Command | str:
    to = find_named(thing_name(rest), options.people)
    return Command(verb.name, to) if to else _nobody(verb, rest, options)


def _gift(verb: Verb, rest: str, options: Options) -> Command | str:
    thing, who = gift(rest, options.people)
    if not thing or not who:
        return _say_what(verb)
    if not (to := find_named(who, options.people)):
        return _nobody(verb, who, options)
    what = _thing(verb, thing, options)
    return what if isinstance(what, str) else Command(verb.name, f"{what.argument} to {to}")


def _promise(verb: Verb, rest: str, options: Options) -> Command | str:
    to = rest.removeprefix("to ")
    if name := leading_name(to, options.people):
        what = own_words(to[len(name) :].lstrip(" ,:="))
        argument = f"{find_named(name, options.people) or name}: {what}" if what else ""
    else:
        argument = entry(rest) or own_words(rest)
    return Command(verb.name, argument) if argument else _say_what(verb)


def _thing(verb: Verb, rest: str, options: Options) -> Command | str:
    thing, names = thing_name(rest), options.of(verb.takes)
    if not thing and verb.takes is Takes.MAYBE_THING:
        return Command(verb.name)
    if name := find_named(thing, names):
        return Command(verb.name, name)
    can = f"you can only {verb.name} {either(names)}" if names else "there is nothing to do it to"
    return f"You tried to {verb.name} {shorten(rest, 60)}: {can}"


def _exit(verb: Verb, rest: str, options: Options) -> Command | str:
    if options.stays:
        return f"You tried to {verb.name}, but you stay now: you have guests"
    if way := find_exit(thing_name(rest), options.exits):
        return Command(verb.name, way)
    exits = either(options.exits) or "none"
    return f"You tried to {verb.name} {shorten(rest, 60)}: there is no such exit. Exits: {exits}"


def _kept(read: Callable[[str], str]) -> Callable[[Verb, str, Options], Command | str]:
    """A reader of what goes on in the character's own mind: notes, searches, pins."""

    def reader(verb: Verb, rest: str, _options: Options) -> Command | str:
        argument = read(rest)
        return Command(verb.name, argument) if argument else _say_what(verb)

    return reader


def _say_what(verb: Verb) -> str:
    return f"You tried to {verb.name}: say what. Write: > {verb.usage}"


def _nobody(verb: Verb, name: str, options: Options) -> str:
    here = either(options.people) or "nobody"
    return f"You tried to {verb.name} {shorten(name, 60)}: here is only {here}"


_READERS: Mapping[Takes, Callable[[Verb, str, Options], Command | str]] = {
    Takes.NOTHING: _nothing,
    Takes.TEXT: _text,
    Takes.WHISPER: _whisper,
    Takes.PERSON: _person,
    Takes.GIFT: _gift,
    **dict.fromkeys((Takes.THING, Takes.MAYBE_THING, Takes.LYING, Takes.CARRIED), _thing),
    Takes.EXIT: _exit,
    Takes.ENTRY: _kept(entry),
    Takes.PROMISE: _promise,
    Takes.WORDS: _kept(own_words),
    Takes.NUMBERS: _kept(numbers),
}
