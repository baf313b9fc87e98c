"""Who said or gave what to whom, read back from a memory.

The words of a line come from its speaker, whatever marks and names they hold: only what
stands before the first quotation mark is the game's own, and it must begin with whoever
caused the line. Whether a line tells of a deed, or of a pose that only reads like one, is in
:attr:`keepsake.archive.records.Memory.event`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from keepsake.archive.records import POSE, STOCK, Memory, MemoryKind
from keepsake.language.perception import pattern

GIVE = "give"
"""The ``event`` of a thing that changes hands."""
DEED, KINDNESS, WRONG = "deed", "kindness", "wrong"
RULED = frozenset({DEED, KINDNESS, WRONG})
"""The ``event`` of a deed of the world's own rules: seen, or done to the one who perceives it."""
LONGEST = 1200
"""Characters of one line that are looked at; speech in the game has at most 1,000."""

_SAID = re.compile(
    r' (?:says|whispers|shouts)(?: to (?P<to>[^,"]{1,48})| from [^"]{1,80}?)?, "(?P<words>.*)'
)
_NAMED = re.compile(
    r"(?P<who>[A-Z][\w'’-]{0,23}(?: [A-Z][\w'’-]{0,23}){0,2}) (?:says|whispers|shouts)\b"
)
_SPEECH = ("say", "ask", "shout", "whisper")


@dataclass(frozen=True, slots=True)
class Utterance:
    """What somebody said to ``you`` (the agent), to somebody by name, or to all (empty)."""

    who: str  # empty for the agent itself
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
    if said is None:
        return None
    return Utterance(who, said["words"].removesuffix('"').replace('"', "'"), said["to"] or "")


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
    """As :func:`spoken`, but for stock phrases, which tell and promise nothing."""
    return None if memory.event in STOCK else spoken(memory)


def spoken(memory: Memory) -> Utterance | None:
    """What the agent said itself, stock phrases and all; None if this is no speech of its own."""
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
    """What others hear or see of a command: the words of speech or a gesture; empty for none."""
    verb, _, words = line[:LONGEST].partition(" ")
    if verb == "whisper":
        return words.partition(" = ")[2].strip()
    return words.strip() if verb in ("say", "emote") else ""


def given_to_me(memory: Memory) -> str:
    """The thing that somebody gave to the agent, ``a blue cup``; empty for no gift."""
    giver, _, what = memory.text.rstrip(".").partition(" gives you ")
    if memory.kind is not MemoryKind.PERCEPTION or not giver or giver != memory.source:
        return ""
    # What an old archive tells of may be a pose: a thing of few words and nothing else.
    is_thing = memory.event == "" and len(what.split()) < 7 and '"' not in what
    return what if is_thing or memory.event == GIVE else ""


def gave_something(memory: Memory) -> bool:
    """Whether the agent gave something away."""
    is_gift = memory.kind is MemoryKind.RESULT and memory.event in ("", GIVE)
    return is_gift and memory.text.startswith("You give ") and " to " in memory.text


def names(text: str, name: str) -> bool:
    """Whether ``text`` holds ``name`` as a word of its own, in any case, with any apostrophe."""
    whole = pattern(rf"(?<!\w){re.escape(name)}(?!\w)", re.I)
    return bool(name) and whole.search(text.replace("’", "'")) is not None
