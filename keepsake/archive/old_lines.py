"""Reads memories of archives that were written before November 2026's second half.

Those archives keep what happened as a sentence. This is the only module that finds speech, gifts
and deeds in text. New archive lines have fields, and never come here.

A speaker controls the words of a line, including any quotation marks and names in them. Only the
text before the first quotation mark was written by the game, and it must begin with the source of
the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keepsake.happening import (
    ME,
    UNKNOWN,
    Deed,
    Manner,
    Person,
    Pose,
    Result,
    Sight,
    Speech,
    What,
)

LONGEST = 1200
"""Characters of a line that are parsed; speech in the game had at most 1,000."""
_MOST_WORDS_OF_A_THING = 6
"""The most words of a thing in ``Tom gives you a blue cup.``; a longer line is a pose."""
_MANNERS = {"says": Manner.SAY, "whispers": Manner.WHISPER, "shouts": Manner.SHOUT}
_SAID = re.compile(
    r' (?P<how>says|whispers|shouts)(?: to (?P<to>[^,"]{1,48})| from [^"]{1,80}?)?, "(?P<words>.*)'
)
_NAMED = re.compile(
    r"(?P<who>[A-Z][\w'’-]{0,23}(?: [A-Z][\w'’-]{0,23}){0,2}) (?:says|whispers|shouts)\b"
)
_OWN_SPEECH = {
    "say": Manner.SAY,
    "ask": Manner.SAY,
    "shout": Manner.SHOUT,
}
_RESULTS = {
    "You recall: ": "recall",
    "You recall nothing about ": "recall",
    "You live again through ": "page",
    "Your notes: ": "notes",
    "Pinned: ": "pin",
    "No longer pinned: ": "unpin",
    "Kept as your note ": "note",
    "Added to your note ": "note",
    "You put the note ": "forget",
    "Written into your journal: ": "journal",
    "You clear your mind: ": "compact",
    "Noted as your promise: ": "promise",
    "Kept, and off your promises: ": "kept",
}
"""The beginnings of the results of an agent's memory tools, each with its verb."""
_TRIED = "You tried to "
_LOOK_SIGNS = (" Exits: ", " Here: ")
"""Labels near the end of a room's description, as a look showed it."""


def what_of(record: Mapping[str, Any]) -> What:
    """Read an archive line without fields, from its ``text`` and its other values.

    Args:
        record: The archive line. It may have ``kind``, ``text``, ``source``, ``source_id``,
            ``event``, ``to`` and ``to_id``.
    """
    text = str(record.get("text", ""))
    match record.get("kind"):
        case "act":
            return _own_act(text, record)
        case "result":
            return _result(text, str(record.get("event", "")))
        case _:
            return _perceived(text, record)


def witnesses_of(record: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return who else heard private words that the line quotes; None if it quotes none.

    Search results of early versions quote whispers without saying whose they were.
    """
    quotes = record.get("kind") == "result" and ' whispers to you, "' in str(record.get("text"))
    return (UNKNOWN,) if quotes else None


def about_of(record: Mapping[str, Any]) -> str:
    """Return the identity of the person whom hearsay or a deed is about; empty if not recorded."""
    return "" if record.get("kind") == "act" else str(record.get("to_id", ""))


def told_in(what: What, record: Mapping[str, Any]) -> str:
    """Return what hearsay tells, ``The bell rang.`` of ``Nell tells me: The bell rang.``."""
    if record.get("event") != "hearsay" or not isinstance(what, Speech):
        return ""
    return what.words.partition(": ")[2]


def _own_act(text: str, record: Mapping[str, Any]) -> What:
    verb, _, rest = text.partition(" ")
    spoken = text[:LONGEST].partition(" ")[2]
    name, sign, words = spoken.partition(" = ")
    if verb in ("whisper", "talk") and sign:
        manner = Manner.WHISPER if verb == "whisper" else Manner.SAY
        to = _addressees(record, name)
        return Speech(speaker=ME, words=words, to=to, manner=manner, shown=text)
    if verb in _OWN_SPEECH and spoken:
        manner = _OWN_SPEECH[verb]
        return Speech(speaker=ME, words=spoken, to=_addressees(record), manner=manner, shown=text)
    if verb == "emote" and rest:
        return Pose(actor=ME, gesture=rest, to=_addressees(record), shown=text)
    thing, sign, name = rest.rpartition(" to ")
    if verb == "give" and sign:
        to = _addressees(record, name)
        return Deed(actor=ME, verb=verb, objects=(thing,), to=to, shown=text)
    things = (rest,) if rest else ()
    return Deed(actor=ME, verb=verb, objects=things, to=_addressees(record), shown=text)


def _addressees(record: Mapping[str, Any], named: str = "") -> tuple[Person, ...]:
    """Return whom an own act is directed at; ``named``: The name in its command, if it has one."""
    name = str(record.get("to", "")) or named.strip()
    identity = str(record.get("to_id", ""))
    return (Person(name, identity),) if name or identity else ()


def _result(text: str, event: str) -> Result:
    for opening, verb in _RESULTS.items():
        if text.startswith(opening):
            return Result(verb=verb, shown=text)
    if text.startswith(_TRIED):
        verb = text.removeprefix(_TRIED).split(" ")[0].rstrip(":,.")
        return Result(verb=verb, done=False, shown=text)
    if event in ("", "give") and text.startswith("You give ") and " to " in text:
        return Result(verb="give", shown=text)
    looked = event == "look" or any(sign in text for sign in _LOOK_SIGNS)
    return Result(verb="look" if looked else "", shown=text)


def _perceived(text: str, record: Mapping[str, Any]) -> What:
    source = str(record.get("source", ""))
    event = str(record.get("event", ""))
    somebody = Person(source, str(record.get("source_id", ""))) if source else None
    if event == "pose":
        gesture = text.removeprefix(source).strip()
        return Pose(actor=somebody or Person(""), gesture=gesture, shown=text)
    if (speech := _speech(text, somebody, event)) is not None:
        return speech
    giver, _, what = text.rstrip(".").partition(" gives you ")
    if giver and somebody is not None and giver == source:
        # Lines without an event may be poses. Accept only a short name of a thing.
        is_thing = len(what.split()) <= _MOST_WORDS_OF_A_THING and '"' not in what
        if event == "give" or (event == "" and is_thing):
            return Deed(actor=somebody, verb="give", objects=(what,), to=(ME,), shown=text)
    if event in ("deed", "kindness", "wrong") and somebody is not None:
        return Deed(actor=somebody, verb=event, shown=text)
    return Sight(source=somebody, shown=text)


def _speech(text: str, somebody: Person | None, event: str) -> Speech | None:
    whole = text
    text = whole[:LONGEST]
    # Early archives do not store the source, but the line may begin with the name.
    if somebody is None and (named := _NAMED.match(text)):
        somebody = Person(named["who"])
    if somebody is None or not text.startswith(somebody.name):
        return None
    said = _SAID.match(text, len(somebody.name))
    if said is None:
        to_me = f"{somebody.name} whispers to you"
        if event == "whisper" or (not event and text.startswith(to_me)):
            # A whisper in another form: its words are not known, and the line is private.
            return Speech(speaker=somebody, words="", to=(ME,), manner=Manner.WHISPER, shown=text)
        return None
    to = said["to"] or ""
    # A speaker cannot close the quotation and continue as somebody else.
    words = said["words"].removesuffix('"').replace('"', "'")
    closing = '"' if said["words"].endswith('"') else ""
    shown = f"{text[: said.start('words')]}{words}{closing}{whole[LONGEST:]}"
    manner = Manner.WHISPER if event == "whisper" else _MANNERS[said["how"]]
    # A line without an event may be a pose, and only a whisper to the agent itself is private.
    if manner is Manner.WHISPER and not event and to != "you":
        manner = Manner.SAY
    return Speech(
        speaker=somebody,
        words=words,
        to=() if not to else (ME if to == "you" else Person(to),),
        manner=manner,
        shown=shown,
    )
