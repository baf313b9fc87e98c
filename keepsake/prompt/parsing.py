"""A model's answer, as one command of the agent or as a refusal it can learn from.

Forgiving about how a command is written, strict about what it may be: only the
verbs that are handed in exist, one command a line, nothing with ``@``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from keepsake.language.patterns import pattern
from keepsake.language.perception import for_prompt, shorten, visible
from keepsake.language.speech import disarm, tidy_speech
from keepsake.language.words import nearly_same
from keepsake.prompt.arguments import (
    LONGEST_ARGUMENT,
    addressed,
    entry,
    gift,
    halves,
    leading_name,
    numbers,
    own_words,
    thing_name,
)
from keepsake.prompt.options import Options, either, find_named
from keepsake.prompt.verbs import FORBIDDEN, Takes, Verb, find_exit, find_gesture, find_verb

_LONGEST_LINE = 4000
_LONGEST_REASON = 200
_NOTHING_THERE = Options()

_TOKEN_START = re.compile(r"</?(?:s|eos|bos|pad|start_of_turn|end_of_turn|\|[^<>\s]{1,30}\|)>")
_BULLET = re.compile(r"^(?:[-*•]\s+|\d{1,2}[.)]\s+|(?:command|action|answer|output)\s*:\s*)", re.I)
_CURSOR = re.compile(r"^~\s*([^<>~]{1,40}?)\s*>\s*")
_REASON = re.compile(r"\s\|(?!\|)(?:\s+|$)")
_CHAIN = re.compile(r";|&&|\|\||\s\|\s")
_QUOTE = '"“”„«»'
_SCRIPT = re.compile(
    r"^([A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?)\s+"
    r"(says?|asks?|whispers?|repl(?:y|ies)|answers?|shouts?|exclaims?|tells?|adds?)\b(?=[^\w]*\W)"
)
_SAID_IN_EMOTE = re.compile(r"^(?:says?|asks?|replies|answers),?\s*[:,]?\s*([\"“].*)$", re.I)
_SENTENCE = re.compile(r"(?:\S+\s+.*|[A-Z]\w+)[.!?…][\"”’)]*$")
_OF_ORDERS = re.compile(r"[=/@\\*#]")
"""What stands in commands of builders, and in nobody's speech."""
_SPOKEN = frozenset({"say", "whisper", "emote"})
_TELLING_OPENING = 5
_OF_NOTHING = re.compile(
    r"(?:(?:about|all) )?(?:it|that|this|those|them|me|us|him|her|you|everything)\b"
    r"(?: (?:all|now|then|please|already|too|again)){0,2}[.!?…]+[\"”’)]*",
    re.I,
)
"""What follows in "Forget it." and "Forget about that!", which one says and does not do."""
_VERY_STILL = re.compile(r"^[\W_]*(?:silence|nothing|no (?:answer|response))?[\W_]*$", re.I)


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that the agent does now."""

    verb: str
    # what follows it, as the game's command takes it; one line, never with a leading ``@``; may be
    # empty
    argument: str = ""
    reason: str = ""  # the agent's private reason: remembered, not shown to anybody

    @property
    def line(self) -> str:
        """The command as it is typed: ``say Good day!``."""
        return f"{self.verb} {self.argument}".rstrip()


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is no command."""

    reason: str  # why, in words for the agent: ``You tried to …``
    line: str  # what the model had answered, shortened


def parse(
    line: str,
    *,
    own_name: str,
    verbs: Sequence[Verb],
    options: Options = _NOTHING_THERE,
) -> Command | Refusal:
    """The command in the first line of a model's answer. Never raises.

    ``line``: The answer; lines after the first that holds something are the model going on with
    the script, and are dropped.
    ``options``: What is there: a command names nothing else. An exit alone is one too.
    """
    answer = _first_line(line)
    cursor = _CURSOR.match(answer)
    if cursor and cursor[1].casefold() != own_name.casefold():
        return _refused(answer, f"You can only act for yourself, not for {for_prompt(cursor[1])}")
    text = _without_echo(answer, own_name)
    text, reason = _split_reason(text)
    result = _AnswerReader(own_name, {verb.name: verb for verb in verbs}, options).read(text)
    if isinstance(result, str):
        return _refused(answer, result)
    return Command(result.verb, result.argument, reason)


def is_repeat_of(command: Command, recent: Sequence[Command]) -> bool:
    """Whether the agent did or said just this a moment ago; waiting again is no repeat.

    Speech and gestures that differ in a word or two are the same to those who hear them,
    and small models fall into such loops.

    ``recent``: What it did lately, in any order; the caller chooses how many.
    """
    if command.verb == "wait":
        return False
    same_verb = [each.argument for each in recent if each.verb == command.verb]
    if command.verb not in _SPOKEN:
        return _plain(command.argument) in map(_plain, same_verb)
    return any(_alike(command.argument, before) for before in same_verb)


def _alike(said: str, before: str) -> bool:
    """Whether both begin with the same sentence, or have nearly the same words throughout."""
    opening, one = _words(said)
    opening_before, other = _words(before)
    same_opening = len(opening) >= _TELLING_OPENING and opening == opening_before
    return same_opening or nearly_same(one, other)


@lru_cache(maxsize=1024)
def _words(said: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of the first sentence, and all of them; what was said is asked for often."""
    opening = _plain(re.split(r"[.!?…]", said, maxsplit=1)[0])
    return tuple(opening.split()), tuple(_plain(said).split())


@dataclass(frozen=True, slots=True)
class _AnswerReader:
    """Reads one cleaned line; every method gives a command, or why there is none."""

    own_name: str
    verbs: Mapping[str, Verb]
    options: Options

    def read(self, text: str) -> Command | str:
        if _VERY_STILL.match(text):
            return Command("wait") if "wait" in self.verbs else "You did nothing"
        if "@" in text[:2] or text[0] in "/\\&;$":
            return f"You tried {_quoted(text)}: there is no such command"
        if (shortcut := self._shortcut(text)) is not None:
            return shortcut
        speaker = _SCRIPT.match(text)
        if speaker and speaker[1].casefold() not in (self.own_name.casefold(), "i", "you"):
            return f"You cannot speak for {speaker[1]}, only for yourself"
        bare, narrated = self._without_subject(text)
        return self._worded(text, bare, narrated)

    def _shortcut(self, text: str) -> Command | str | None:
        """``"Hello``, ``:waves`` and ``*waves*``."""
        if text[0] in f"{_QUOTE}'‘’" and "say" in self.verbs:
            return self._spoken("say", text.strip("'‘’") if text[0] in "'‘’" else text)
        starred = re.fullmatch(r"\*([^*]+)\*?", text)
        if (starred or text[0] == ":") and "emote" in self.verbs:
            return self._spoken("emote", starred[1] if starred else text[1:])
        return None

    def _without_subject(self, text: str) -> tuple[str, bool]:
        """``Mira says, "hi"``, ``Mira: hi`` and ``I go north`` without their subject."""
        if named := pattern(rf"{re.escape(self.own_name)}\s*:\s*(?=\S)", re.I).match(text):
            return f"say {text[named.end() :]}", False
        subject = pattern(rf"(?:{re.escape(self.own_name)}|You|I)\s+(?=\w)").match(text)
        return (text[subject.end() :], True) if subject else (text, False)

    def _worded(self, whole: str, text: str, narrated: bool) -> Command | str:
        word, rest = _first_word(text)
        if not word:
            why = "one command at a time" if _CHAIN.search(text) else "that is no command"
            return f"You tried {_quoted(text)}: {why}"
        if word.casefold() not in self.verbs and (way := self._way(text)):
            return way
        says = re.match(r"\s*[\"“:]", text[len(word) :])
        if "emote" in self.verbs and not says and (act := find_gesture(word)):
            return self._spoken("emote", f"{act} {rest}")
        verb = find_verb(word, [*self.verbs.values()])
        if verb is None or _is_talk(verb, text, rest, narrated):
            return self._unworded(whole, text, narrated)
        return self._with(verb, word.casefold(), rest)

    def _unworded(self, whole: str, text: str, narrated: bool) -> Command | str:
        """A line that starts with no verb: an act told in the third person, or plain talk."""
        word = text.split(maxsplit=1)[0]
        if not (_is_order(word, text) or _CHAIN.search(text)):
            if narrated and "emote" in self.verbs and re.match(r"[a-z]+s\b", word):
                return self._spoken("emote", text)
            if _SENTENCE.match(whole) and "say" in self.verbs:
                return self._spoken("say", whole)
        usages = ", ".join(self.options.usages([*self.verbs.values()]))
        return f"You tried to {_quoted(text)}: there is no such command. You can: {usages}"

    def _with(self, verb: Verb, word: str, rest: str) -> Command | str:
        if verb.takes is Takes.TEXT:
            return self._spoken(verb.name, addressed(word, rest, self.options.people))
        if verb.takes is Takes.WHISPER:
            return self._whispered(verb, rest)
        if verb.private:
            return self._kept(verb, rest)
        if _CHAIN.search(rest):
            return f"You tried {_quoted(f'{word} {rest}')}: one command at a time"
        thing = thing_name(rest)
        empty = _plain(thing) in ("", "around", "here", "room")
        if verb.takes is Takes.NOTHING or (verb.takes is Takes.MAYBE_THING and empty):
            return Command(verb.name)
        if verb.takes is Takes.EXIT:
            return self._gone(verb.name, thing)
        return self._given(verb, rest) if verb.takes is Takes.GIFT else self._done_to(verb, thing)

    def _done_to(self, verb: Verb, thing: str) -> Command | str:
        names = self.options.of(verb.takes)
        if not names:
            return f"You tried to {verb.name}, but there is nothing to {verb.name} here"
        if not thing:
            return f"You tried to {verb.name}: say what. Write: {verb.name} {either(names)}"
        if name := find_named(thing, names):
            return Command(verb.name, name)
        there = f"you can only {verb.name} {either(names)}"
        return f"You tried to {verb.name} {_quoted(thing)}: {there}"

    def _spoken(self, verb: str, text: str) -> Command | str:
        if verb == "emote":
            if "say" in self.verbs and (quoted := _SAID_IN_EMOTE.match(text)):
                return self._spoken("say", quoted[1])
            text = pattern(rf"^{re.escape(self.own_name)}\s+", re.I).sub("", text.strip(" *"))
        said = tidy_speech(text).lstrip("@ ")
        nothing = f"You tried to {verb}, but there was nothing in it of your own"
        return Command(verb, said) if said else nothing

    def _whispered(self, verb: Verb, rest: str) -> Command | str:
        rest = re.sub(r"^to\s+", "", rest.strip(), flags=re.I)
        if name := leading_name(rest, self.options.people):
            words = rest[len(name) :]
        else:
            name, _, words = (part.strip() for part in halves(rest, r"\s*[=:,]\s*|\s+(?=[\"“])"))
        said = tidy_speech(re.sub(r"^\s*[=:,]?\s*(?:that\s+)?", "", words))
        name = thing_name(name)
        if not name or not said:
            return f"You tried to {verb.name}: say to whom, and what. Write: {verb.usage}"
        to = find_named(name, self.options.people)
        return Command(verb.name, f"{to} = {said}") if to else self._nobody(verb, name)

    def _nobody(self, verb: Verb, name: str) -> str:
        here = either(self.options.people) or "nobody"
        return f"You tried to {verb.name} to {_quoted(name)}: here is only {here}"

    def _kept(self, verb: Verb, rest: str) -> Command | str:
        """What goes on in the agent's own mind: notes, searches, pins."""
        if verb.takes is Takes.NOTHING:
            return Command(verb.name)
        read = {Takes.ENTRY: entry, Takes.NUMBERS: numbers}.get(verb.takes, own_words)
        if argument := read(rest):
            return Command(verb.name, argument)
        if verb.takes is Takes.NUMBERS and "recall" in self.verbs and (words := own_words(rest)):
            return Command("recall", words)
        return f"You tried to {verb.name}: say what. Write: {verb.usage}"

    def _given(self, verb: Verb, rest: str) -> Command | str:
        thing, who = gift(rest, self.options.people)
        if not thing or not who:
            return f"You tried to {verb.name}: say what, and to whom. Write: {verb.usage}"
        if not (to := find_named(who, self.options.people)):
            return self._nobody(verb, who)
        what = self._done_to(verb, thing)
        return what if isinstance(what, str) else Command(verb.name, f"{what.argument} to {to}")

    def _way(self, text: str) -> Command | str | None:
        """An exit alone."""
        thing = thing_name(text) if len(text) <= LONGEST_ARGUMENT else ""
        known = "go" in self.verbs and find_exit(thing, self.options.exits)
        return self._gone("go", thing) if known else None

    def _gone(self, verb: str, thing: str) -> Command | str:
        exits = either(self.options.exits) or "none"
        if self.options.stays:
            return f"You tried to {verb}, but you stay now: somebody is here with you"
        if not thing:
            return f"You tried to {verb}: say where. Exits: {exits}"
        if way := find_exit(thing, self.options.exits):
            return Command(verb, way)
        return f"You tried to {verb} {_quoted(thing)}: there is no such exit. Exits: {exits}"


def _first_line(answer: str) -> str:
    """The first line with something in it, without tokens, fences and invisible characters."""
    for raw in answer[:_LONGEST_LINE].splitlines():
        line = _TOKEN_START.split(raw, maxsplit=1)[0]
        line = " ".join(visible(line).split()).strip("`").strip()
        if line and not re.fullmatch(r"[-=_#~]{3,}|```\w*", line):
            return line
    return ""


def _without_echo(text: str, own_name: str) -> str:
    """``text`` without the cursor, prompt sign, bullet or label in front, however many."""
    own = pattern(rf"^(?:~?\s*{re.escape(own_name)}\s*>|>+)\s*", re.I)
    while (shorter := _BULLET.sub("", own.sub("", text))) != text:
        text = shorter
    return text


def _split_reason(text: str) -> tuple[str, str]:
    split = _REASON.search(text)
    if not split:
        return text, ""
    reason = disarm(text[split.end() :].strip(_QUOTE + "() "))
    return text[: split.start()].strip(), shorten(reason.lstrip("@ "), _LONGEST_REASON)


def _first_word(text: str) -> tuple[str, str]:
    match = re.match(r"([^\W\d_]+(?:-[^\W\d_]+)*)(?:[:,]|[.!?…]+$)?\s*(?=\s|$|[\"“(])", text)
    return (match[1], text[match.end() :].strip()) if match else ("", text)


def _is_order(word: str, text: str) -> bool:
    """Whether a line reads like a command of a builder, and not like plain English.

    ``people mira`` and ``delete mira = yes`` do; "People come here for the soup." does not,
    and must not cost a second thought.
    """
    if word.casefold().strip(":,.") not in FORBIDDEN:
        return False
    return len(text.split()) < 3 or not _SENTENCE.match(text) or _OF_ORDERS.search(text) is not None


def _is_talk(verb: Verb, text: str, rest: str, narrated: bool) -> bool:
    """Whether a line only looks like a command, as in ``Look, it rains!``, but is talk."""
    if verb.takes in (Takes.TEXT, Takes.WHISPER) or not _SENTENCE.match(text):
        return False
    if verb.private and (narrated or not rest):
        return narrated or verb.takes is not Takes.NOTHING
    if verb.takes is Takes.ENTRY and entry(rest):
        return False
    if verb.private and _OF_NOTHING.fullmatch(rest):
        return True
    told = narrated or text[:1].isupper()
    at_length = told and verb.takes is not Takes.NOTHING and len(rest.split()) > 4
    return at_length or bool(re.match(r"\w+,", text))


def _refused(answer: str, reason: str) -> Refusal:
    return Refusal(reason, shorten(for_prompt(answer), _LONGEST_REASON))


def _quoted(text: str) -> str:
    return f'"{shorten(disarm(text), 60)}"'


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
