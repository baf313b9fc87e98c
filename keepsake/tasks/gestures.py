"""Tells gestures from speech in one line of an answer, in the ways in which models write them.

Models write a gesture as ``*nods*``, ``_nods_``, ``**nods**``, ``(nods)``, ``[nods]``, or as a
story tells it: ``Mira nods. "Sit down."``. The marks decide, not the words, so it works in any
language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

OPENING = "*_([（【"
"""The characters with which a gesture may begin."""
LEAST_WORDS = 3
"""A starred part within a sentence is a gesture from this number of words on. Fewer are stressed:
``I *really* mean it``."""

_AFTER = r"[.!?…。！？»”\"*_)\]）】]"
_START = rf"(?:^|(?<={_AFTER})\s*)"
"""Where a gesture may stand: at the start of the line, or after the end of a sentence."""
_DRESSED = re.compile(
    rf"{_START}(?:"
    r"(?P<stars>\*{1,3})(?![\s*])(?P<starred>[^*\n]+?)(?P=stars)(?!\*)"
    r"|(?P<lines>_{1,2})(?![\s_])(?P<lined>[^_\n]+?)(?P=lines)(?![\w_])"
    r"|[(（](?P<round>[^()（）\n]+)[)）]"
    r"|[\[【](?P<square>[^\[\]【】\n]+)[\]】])"
)
_WITHIN = re.compile(rf"\s\*(?![\s*])([^*\n]+(?:\s[^*\n]+){{{LEAST_WORDS - 1},}})\*(?=\s|$)")
_QUOTED = re.compile(
    r"\"(?P<straight>[^\"]+)\"|“(?P<curly>[^”]+)”|„(?P<low>[^“”]+)[“”]"
    r"|«\s*(?P<angled>[^»]+?)\s*»|「(?P<corner>[^」]+)」"
)
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_CLOSING = {"*": "*", "_": "_", "(": ")", "[": "]", "（": "）", "【": "】"}


class Piece(NamedTuple):
    """A part of a line."""

    is_gesture: bool
    text: str


def pieces_of(line: str, name: str) -> Iterator[Piece]:
    """Yield the gestures and the speech of a line, in order.

    ``name``: The character's name, which is taken off a gesture.
    """
    line = re.sub(rf"^(\*\*|__){re.escape(name)}\1\s+(?=[{re.escape(OPENING)}])", "", line)
    if is_unclosed(line):  # the answer ended in the middle of it
        yield from _gesture(line[1:], name)
        return
    narrated = list(_narrated(line, name))
    if narrated:
        yield from narrated
        return
    at = 0
    for found in _dressed(line):
        yield from _speech(line[at : found.start()])
        yield from _gesture(next(filter(None, _texts(found))), name)
        at = found.end()
    yield from _speech(line[at:].lstrip(": ") if at else line)


def is_unclosed(line: str) -> bool:
    """Return whether a line begins a gesture that it does not end."""
    mark = line[:1]
    return mark in _CLOSING and bool(line[1:2].strip(" *_")) and _CLOSING[mark] not in line[1:]


def _texts(found: re.Match[str]) -> Iterator[str]:
    groups = found.groupdict()
    yield from (groups[each] or "" for each in ("starred", "lined", "round", "square"))


def _dressed(line: str) -> Iterator[re.Match[str]]:
    """Yield the matches of dressed gestures; a stressed word and an aside are none."""
    for found in _DRESSED.finditer(line):
        after = line[found.end() :].lstrip()
        goes_on = bool(after) and (after[0].islower() or after[0] in ",.;!?…")
        aside = found["round"]
        if goes_on or (aside and aside[0].isupper() and aside[-1] in ".!?" and found.start()):
            continue
        yield found


def _narrated(line: str, name: str) -> Iterator[Piece]:
    """Yield the pieces of a line that tells of the character and quotes it; nothing otherwise."""
    quotes = list(_QUOTED.finditer(line))
    if not quotes:
        return
    before = line[: quotes[0].start()].strip()
    after = line[quotes[-1].end() :].strip()
    if not (_is_about(before, name) or (not before and _is_about(after, name))):
        return
    at = 0
    for quote in quotes:
        yield from _gesture(line[at : quote.start()], name)
        yield from _speech(next(filter(None, quote.groups())))
        at = quote.end()
    yield from _gesture(line[at:], name)


def _is_about(text: str, name: str) -> bool:
    """Return whether a text begins with the character's name, and goes on."""
    rest = text.removeprefix(name)
    return rest != text and bool(rest) and rest[0] not in ":：>"


def _gesture(text: str, name: str) -> Iterator[Piece]:
    text = text.strip()
    if _is_about(text, name):
        text = text.removeprefix(name).lstrip()
    if any(map(str.isalnum, text)):
        yield Piece(is_gesture=True, text=text)


def _speech(text: str) -> Iterator[Piece]:
    """Yield speech without quotation marks around all of it, and the gestures within it."""
    at = 0
    for found in _WITHIN.finditer(text):
        yield from _words(text[at : found.start()])
        yield Piece(is_gesture=True, text=found[1])
        at = found.end()
    yield from _words(text[at:])


def _words(text: str) -> Iterator[Piece]:
    text = text.strip()
    whole = _QUOTED.fullmatch(text)
    if whole is not None:
        text = next(filter(None, whole.groups()))
    text = _STRONG.sub(r"\2", text)
    if any(map(str.isalnum, text)):
        yield Piece(is_gesture=False, text=text)
