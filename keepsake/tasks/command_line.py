"""The one command in the answer of a model that continues a transcript: ``say Good day! | kind``.

The line is read by its structure: verbs that are offered, names of who and what is there, and the
signs of the transcript itself. A sentence that is no command is speech.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from keepsake.language.perception import disarm, shorten, visible
from keepsake.language.words import closed, pattern
from keepsake.prompt.arguments import leading_name, thing_name
from keepsake.prompt.options import Options
from keepsake.prompt.verbs import FORBIDDEN, Command, Takes, Verb, find_exit, find_verb
from keepsake.tasks.deed import LONGEST_WORDS, read_deed

_NOTHING_THERE = Options()
_LONGEST_LINE = 4000
_LONGEST_REASON = 200
_CONTROL_TOKEN = re.compile(
    r"</?(?:s|eos|bos|pad|start_of_turn|end_of_turn|\|[^<>\s]{1,30}\|)>", re.I
)
_CURSOR = re.compile(r"~\s*([^<>~]{1,40}?)\s*>")
_BULLET = re.compile(r"^(?:>+\s*|[-*•]\s+|\d{1,2}[.)]\s+)")
_REFERENCE = re.compile(r"\s*(?:…\s*)?\(memor(?:y|ies) \d[\d ,–-]*(?:\)|$)", re.I)
"""Where a line of the prompt comes from: strange in a mouth."""
_REASON = re.compile(r"\s\|(?:\s|$)")
_QUOTES = '"“”„«»'
_QUOTED = re.compile(rf"[{_QUOTES}]([^{_QUOTES}]+)")
_SIGNS = "@/\\&;$"
"""What commands of builders and functions of the game begin with."""


def read_command(
    answer: str, name: str, verbs: Sequence[Verb], options: Options = _NOTHING_THERE
) -> Command | str:
    """The command in the first line of an answer, or why there is none. Never raises.

    Args:
        answer: What the model wrote; lines after the first with something in it are dropped.
        name: The character's name.
        verbs: What the character can do; no other verb comes of an answer.
        options: The people, things and exits that are there.
    """
    line = _first_line(answer)
    cursor = _CURSOR.match(line)
    if cursor and cursor[1].casefold() != name.casefold():
        return f"You can only act for yourself, not for {disarm(cursor[1])}"
    text, *reason = _REASON.split(_without_cursor(line, name), maxsplit=1)
    found = _LineReader(name, verbs, options).read(text.strip())
    if isinstance(found, str):
        return found
    argument = _harmless(found.argument, LONGEST_WORDS)
    if found.argument and not argument:
        return f"You tried to {found.verb}, but there was nothing in it"
    why = _harmless("".join(reason).strip(f"{_QUOTES} "), _LONGEST_REASON)
    return Command(found.verb, argument, why)


class _LineReader:
    """Reads one line without cursor and reason; every method gives a command, or why not."""

    def __init__(self, name: str, verbs: Sequence[Verb], options: Options) -> None:
        self._name, self._verbs, self._options = name, verbs, options
        self._offered = {verb.name for verb in verbs}

    def read(self, text: str) -> Command | str:
        if not any(char.isalnum() for char in text):
            return self._deed("wait")
        if text[0] in _SIGNS or "@" in text[:2]:
            return f"You tried {shorten(text, 60)}: there is no such deed"
        if text[0] in f"{_QUOTES}'‘’":
            return self._deed(f'say "{text[1:].rstrip("'’")}')
        if text[0] in "*:":
            return self._deed(f"emote {text.strip('*: ')}")
        own = pattern(rf"{re.escape(self._name)}(:?)\s+", re.I).match(text)
        if own:
            return self._own(text[own.end() :], label=bool(own[1]))
        return self._plain(text)

    def _own(self, text: str, *, label: bool) -> Command | str:
        """What stands behind the character's own name: ``Mira: Good day.``, ``Mira waves``."""
        if label:
            return self._deed(f"say {text}")
        verb = self._verb(text)
        return self._deed(f"emote {text}" if verb is None or verb.private else text)

    def _plain(self, text: str) -> Command | str:
        other = leading_name(text, self._options.people)
        after = text[len(other) :]
        if other and (after[:1] == ":" or (after[:1] == " " and any(q in after for q in _QUOTES))):
            return f"You cannot speak for {other}, only for yourself"
        verb = self._verb(text)
        if verb is None and find_exit(thing_name(text), self._options.exits):
            return self._deed(f"go {text}")
        found = self._deed(text)
        if self._is_talk(text, verb, found):
            return self._deed(f"say {text}")
        return found

    def _is_talk(self, text: str, verb: Verb | None, found: Command | str) -> bool:
        """Whether a line is a sentence to be said, although it may begin like a command."""
        if "say" not in self._offered or closed(text) != text:
            return False
        word, _, rest = text.partition(" ")
        if not text[0].isupper():
            return verb is None and word.casefold().strip(".,:!?") not in FORBIDDEN
        if verb is None or isinstance(found, str):
            return True
        return bool(rest) and verb.takes in (Takes.NOTHING, Takes.WORDS)

    def _deed(self, text: str) -> Command | str:
        verb, _, rest = text.partition(" ")
        if rest[:1] in tuple(_QUOTES) and (said := _QUOTED.match(rest)) and self._is_spoken(text):
            text = f"{verb} {said[1]}"  # what stands behind it is the transcript going on
        found = read_deed(text, self._verbs, self._options)
        if isinstance(found, Command) and found.verb == "emote":
            own = pattern(rf"^{re.escape(self._name)}\s+", re.I)
            return Command("emote", own.sub("", found.argument))
        return found

    def _is_spoken(self, text: str) -> bool:
        verb = self._verb(text)
        return verb is not None and verb.takes is Takes.TEXT

    def _verb(self, text: str) -> Verb | None:
        return find_verb(text.split(maxsplit=1)[0].strip(".:,!"), self._verbs)


def _first_line(answer: str) -> str:
    """The first line with something in it, without tokens, fences and invisible characters."""
    for raw in answer[:_LONGEST_LINE].splitlines():
        line = _CONTROL_TOKEN.split(raw, maxsplit=1)[0]
        line = " ".join(visible(line).split()).strip("`").strip()
        if line and not re.fullmatch(r"[-=_#~]{3,}|```\w*", line):
            return line
    return ""


def _without_cursor(text: str, name: str) -> str:
    """A line without the cursor, prompt sign or bullet in front, however many."""
    own = pattern(rf"^~?\s*{re.escape(name)}\s*>\s*", re.I)
    while (shorter := _BULLET.sub("", own.sub("", text))) != text:
        text = shorter
    return text


def _harmless(text: str, limit: int) -> str:
    """Text that holds nothing the game or a model would take for machinery."""
    own = _REFERENCE.sub("", _CURSOR.split(text, maxsplit=1)[0])
    return shorten(disarm(own).lstrip("@ "), limit)
