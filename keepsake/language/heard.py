"""Parses a memory: who said or gave what to whom.

A speaker controls the words of a line, including any quotation marks and names in them. Only the
text before the first quotation mark is written by the game, and it must begin with the source of
the line. :attr:`keepsake.archive.records.Memory.event` says whether a line reports a real deed or
a pose that only reads like one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from keepsake.archive.records import POSE, STOCK, Memory, MemoryKind
from keepsake.language.perception import pattern

GIVE = "give"
"""The ``event`` of a gift."""
DEED = "deed"
KINDNESS = "kindness"
WRONG = "wrong"
RULED = frozenset({DEED, KINDNESS, WRONG})
"""The ``event`` of a deed by the world's rules: seen by the agent, or done to it."""
LONGEST = 1200
"""Characters of a line that are parsed; speech in the game has at most 1,000."""

_SAID = re.compile(
    r' (?:says|whispers|shouts)(?: to (?P<to>[^,"]{1,48})| from [^"]{1,80}?)?, "(?P<words>.*)'
)
_NAMED = re.compile(
    r"(?P<who>[A-Z][\w'’-]{0,23}(?: [A-Z][\w'’-]{0,23}){0,2}) (?:says|whispers|shouts)\b"
)
_SPEECH = ("say", "ask", "shout", "whisper")


@dataclass(frozen=True, slots=True)
class Utterance:
    """What somebody said. ``to`` is ``you`` (the agent), a name, or empty for everybody."""

    who: str  # empty for the agent itself
    words: str
    to: str = ""


def heard(memory: Memory) -> Utterance | None:
    """Return what somebody else said in this memory; None if nobody spoke."""
    if memory.kind is not MemoryKind.PERCEPTION or memory.event == POSE:
        return None
    text = memory.text[:LONGEST]
    # Old archives do not store the source, but the line may begin with the name.
    who = memory.source or (named["who"] if (named := _NAMED.match(text)) else "")
    if not who or not text.startswith(who):
        return None
    said = _SAID.match(text, len(who))
    if said is None:
        return None
    return Utterance(who, said["words"].removesuffix('"').replace('"', "'"), said["to"] or "")


def key_of(memory: Memory) -> str:
    """Return the source of a memory: its identity, ``name:NAME`` if that is not known, or empty."""
    if memory.source_id:
        return memory.source_id
    said = heard(memory)
    who = said.who if said is not None else memory.source
    return f"name:{who}" if who else ""


def meant_for(said: Utterance, own_name: str, *, alone: bool = False) -> bool:
    """Return whether it was said to the agent: directly, or to everybody with its name in it."""
    return said.to == "you" or (not said.to and (alone or names(said.words, own_name)))


def own_words(memory: Memory) -> Utterance | None:
    """Return what :func:`spoken` does, but None for stock phrases, which state nothing."""
    return None if memory.event in STOCK else spoken(memory)


def spoken(memory: Memory) -> Utterance | None:
    """Return what the agent itself said, including stock phrases; None if it did not speak."""
    if memory.kind is not MemoryKind.ACT:
        return None
    verb, _, words = memory.text[:LONGEST].partition(" ")
    if verb not in _SPEECH:
        return None
    to, sign, whispered = words.partition(" = ")
    if verb == "whisper":
        return Utterance("", whispered, memory.to or to.strip()) if sign else None
    return Utterance("", words, memory.to) if words else None


def shown_words(line: str) -> str:
    """Return the words that others hear or see of a command, speech or an emote; else empty."""
    verb, _, words = line[:LONGEST].partition(" ")
    if verb == "whisper":
        return words.partition(" = ")[2].strip()
    return words.strip() if verb in ("say", "emote") else ""


def given_to_me(memory: Memory) -> str:
    """Return the thing that somebody gave to the agent, ``a blue cup``; empty if none."""
    giver, _, what = memory.text.rstrip(".").partition(" gives you ")
    if memory.kind is not MemoryKind.PERCEPTION or not giver or giver != memory.source:
        return ""
    # Old archives store no event, so this may be a pose. Accept only a short name of a thing.
    is_thing = memory.event == "" and len(what.split()) < 7 and '"' not in what
    return what if is_thing or memory.event == GIVE else ""


def gave_something(memory: Memory) -> bool:
    """Return whether the agent gave something away."""
    is_gift = memory.kind is MemoryKind.RESULT and memory.event in ("", GIVE)
    return is_gift and memory.text.startswith("You give ") and " to " in memory.text


def names(text: str, name: str) -> bool:
    """Return whether ``text`` has ``name`` as a whole word, in any case, with any apostrophe."""
    whole = pattern(rf"(?<!\w){re.escape(name)}(?!\w)", re.I)
    return bool(name) and whole.search(text.replace("’", "'")) is not None
