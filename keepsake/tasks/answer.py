"""The parts of a character's answer, and which of them a line holds.

A plain line is spoken, ``*…*`` is an emote, and a line that begins with ``>`` is a deed. A
transcript's answer, such as ``say Good day! | kind``, yields the same parts. Nothing here depends
on the language. :mod:`keepsake.tasks.answer_reader` finds the lines in the stream of a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from keepsake.happening import KnownVerb
from keepsake.language.perception import one_line, unquoted
from keepsake.tasks.gestures import pieces_of

LONGEST_PART = 1000
"""The most characters of one spoken line, which is the limit of the game's ``say``."""

_OPENING = ">*([¿¡…'‘\"“„«「"
_TO_SOMEBODY = re.compile(rf"(?:{KnownVerb.TALK}|{KnownVerb.WHISPER}) [^=:]+[=:]\s*", re.I)
"""How a deed that speaks to somebody begins: ``talk Nell = ``."""


class PartKind(StrEnum):
    """The kind of one part of an answer."""

    SPEECH = "speech"
    EMOTE = "emote"
    DEED = "deed"


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """One thing that the character says or does."""

    kind: PartKind
    text: str  # the words, the gesture without its asterisks, or the command without ``>``
    reason: str = ""  # the private reason of speech or an emote; a deed has it in ``text``


def parts_of(line: str, name: str) -> Iterator[AnswerPart]:
    """Yield the parts of one line: a deed, or speech with the emotes in it."""
    if line.startswith(">"):
        yield from command_parts(_clean(line.lstrip("> ")), name)
        return
    yield from _said(line, name)


def _said(text: str, name: str) -> Iterator[AnswerPart]:
    """Yield the speech of a text, and the emotes in it."""
    for piece in pieces_of(text, name):
        if not piece.is_gesture:
            yield from _speech(piece.text)
        elif gesture := _clean(piece.text):
            yield AnswerPart(PartKind.EMOTE, gesture)


def command_parts(line: str, name: str) -> Iterator[AnswerPart]:
    """Yield the deed of a command; ``say`` and ``emote`` become speech and emotes.

    A gesture within words to somebody becomes an emote between two deeds.
    """
    command, _, reason = line.partition(" | ")
    verb, _, words = command.partition(" ")
    if verb.casefold() == KnownVerb.SAY:
        yield from (replace(part, reason=reason) for part in _said(unquoted(words), name))
    elif (to := _TO_SOMEBODY.match(command)) is not None:
        yield from _to_somebody(line, to[0], command[to.end() :], reason, name)
    elif verb.casefold() == KnownVerb.EMOTE:
        if gesture := _clean(words.strip("* ")):
            yield AnswerPart(PartKind.EMOTE, gesture, reason)
    elif line:
        yield AnswerPart(PartKind.DEED, line)


def _to_somebody(line: str, to: str, words: str, reason: str, name: str) -> Iterator[AnswerPart]:
    """Yield a deed that speaks to somebody; the emotes in its words divide it.

    Args:
        line: The whole deed.
        to: How it begins: ``talk Nell = ``.
    """
    parts = list(_said(words, name))
    if all(part.kind is PartKind.SPEECH for part in parts):
        yield AnswerPart(PartKind.DEED, line)
        return
    why = f" | {reason}" if reason else ""
    for part in parts:
        is_speech = part.kind is PartKind.SPEECH
        yield AnswerPart(PartKind.DEED, f"{to}{part.text}{why}") if is_speech else part


def is_said(part: AnswerPart) -> bool:
    """Whether a part has words for others."""
    is_deed = part.kind is PartKind.DEED
    return bool(_TO_SOMEBODY.match(part.text)) if is_deed else part.kind is PartKind.SPEECH


def is_command(line: str) -> bool:
    """Whether a line is a command, not a sentence: it begins with a small letter or a symbol."""
    return bool(line) and (line[0].islower() or not (line[0].isalnum() or line[0] in _OPENING))


def _speech(text: str) -> Iterator[AnswerPart]:
    """Yield the words, in parts of :data:`LONGEST_PART` characters that end between words."""
    words = _clean(text)
    at = 0
    while at < len(words):
        end = at + LONGEST_PART
        if end < len(words):
            space = words.rfind(" ", at, end)
            end = space if space > at else end
        yield AnswerPart(PartKind.SPEECH, words[at:end].strip())
        at = end


def _clean(text: str) -> str:
    """Return the text as one line without control characters; empty without letters or digits."""
    line = one_line(text)
    return line if any(char.isalnum() for char in line) else ""
