"""Who said what to whom, read back from a memory.

The words of a line come from its speaker, whatever marks and names they hold: only what
stands before the first quotation mark is the game's own, and it must begin with whoever
caused the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from keepsake.archive.records import POSE, Memory, MemoryKind
from keepsake.language.patterns import pattern

LONGEST = 1200
"""Characters of one line that are looked at; speech in the game has at most 1,000."""

_SAID = re.compile(
    r' (?:says|whispers|shouts)(?: to (?P<to>[^,"]{1,48})| from [^"]{1,80}?)?, "(?P<words>.*)'
)
_NAMED = re.compile(
    r"(?P<who>[A-Z][\w'’-]{0,23}(?: [A-Z][\w'’-]{0,23}){0,2}) (?:says|whispers|shouts)\b"
)


@dataclass(frozen=True, slots=True)
class Utterance:
    """What somebody said to ``you`` (the agent), to somebody by name, or to all (empty)."""

    who: str
    words: str
    to: str = ""


def heard(memory: Memory) -> Utterance | None:
    """What somebody else said in this memory; None if nobody spoke."""
    if memory.kind is not MemoryKind.PERCEPTION or memory.event == POSE:
        return None
    text = memory.text[:LONGEST]
    # Old archives do not say who caused a line, but it may name them itself.
    who = memory.source or (named["who"] if (named := _NAMED.match(text)) else "")
    if not who or not text.startswith(who):
        return None
    said = _SAID.match(text, len(who))
    return Utterance(who, said["words"].removesuffix('"'), said["to"] or "") if said else None


def key_of(memory: Memory) -> str:
    """Who caused a memory: by their identity, by name where that is not known, or empty."""
    if memory.source_id:
        return memory.source_id
    said = heard(memory)
    who = said.who if said is not None else memory.source
    return f"name:{who}" if who else ""


def meant_for(said: Utterance, own_name: str, *, alone: bool = False) -> bool:
    """Whether it was said to the agent: directly, or to all with the agent's name in it."""
    return said.to == "you" or (not said.to and (alone or names(said.words, own_name)))


def own_words(memory: Memory) -> Utterance | None:
    """What the agent said itself, ``who`` empty; None if this memory is no speech of its own.

    A stock phrase is none: it tells and promises nothing.
    """
    return None if memory.is_stock else spoken(memory)


def spoken(memory: Memory) -> Utterance | None:
    """What the agent said itself, stock phrases and all; None if this is no speech of its own."""
    if memory.kind is not MemoryKind.ACT:
        return None
    verb, _, words = memory.text[:LONGEST].partition(" ")
    if verb == "say" and words:
        return Utterance("", words)
    if verb == "whisper" and " = " in words:
        to, _, words = words.partition(" = ")
        return Utterance("", words, to.strip())
    return None


def shown_words(line: str) -> str:
    """What others hear or see of a command: the words of speech or a gesture; empty for none."""
    verb, _, words = line[:LONGEST].partition(" ")
    if verb == "whisper":
        return words.partition(" = ")[2].strip()
    return words.strip() if verb in ("say", "emote") else ""


def names(text: str, name: str) -> bool:
    """Whether ``text`` holds ``name`` as a word of its own, in any case."""
    return bool(name) and pattern(rf"(?<!\w){re.escape(name)}(?!\w)", re.I).search(text) is not None
