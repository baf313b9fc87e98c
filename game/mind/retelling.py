"""Memories as sentences of a summary: own acts in the first person, speech by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from game.mind.perception import for_prompt, shorten
from game.mind.tool_results import is_private_act, is_private_result
from game.mind.words import sentences

_LONGEST = 240
"""Characters of one sentence in a summary; a longer one is cut at a word."""

_ACT = re.compile(r"^~(?P<name>[^~<>]{1,40})>\s*(?P<verb>\S+)\s*(?P<rest>.*)$", re.S)
_SPEECH = re.compile(
    r"^(?P<who>[^\"“”,.!?]{1,60}?) (?P<how>says|said|say|asks|asked|ask|whispers|whispered|whisper"
    r"|shouts|shouted|replies|replied|answers|answered)(?P<to> to (?:me|you|[^\"“”,.!?]{1,40}))?"
    r"\s*[,:]?\s*[\"“](?P<words>.*)[\"”]\s*(?P<after>\(repeated \d+×\))?$",
    re.S,
)
_PAST = {"say": "said", "ask": "asked", "whisper": "whispered", "shout": "shouted"} | {
    "reply": "replied",
    "answer": "answered",
    "replie": "replied",
}
_DID = {"go": "went", "get": "took", "drop": "put down", "give": "gave", "look": "looked at"} | {
    "examine": "examined",
    "wait": "waited",
    "inventory": "looked through my things",
}
_REASON = re.compile(r"\s\|\s+\S.*$")


@dataclass(frozen=True, slots=True)
class Told:
    """One sentence of a summary.

    Attributes:
        words: What was said or what happened, without the speaker.
        speaker: ``Tom said``, ``I said``; empty if nobody speaks.
    """

    words: str
    speaker: str = ""


def retell(text: str, own_name: str) -> list[Told]:
    """The sentences of one memory, or of a summary.

    Args:
        text: ``Tom says, "…"``, ``~Mira> say …``, a room, or a paragraph.
        own_name: Who is ``I``.
    """
    if act := _ACT.match(text):
        return _act(act["verb"].casefold(), _REASON.sub("", act["rest"]).strip())
    return [
        told for sentence in sentences(for_prompt(text, limit=100_000)) for told in _one(sentence)
    ]


def is_private(text: str) -> bool:
    """Whether a line is only a use of the own memory: a note, a search, what it brought.

    What stands in a note or was recalled would stand in a summary a second time.
    """
    if act := _ACT.match(text):
        return is_private_act(f"{act['verb']} {act['rest']}")
    return is_private_result(text)


def join(told: Iterable[Told]) -> str:
    """Sentences as a paragraph; what one speaker says in a row stands in one pair of quotes."""
    parts: list[str] = []
    speaker, speech = "", [""]
    for sentence in [*told, Told("")]:
        if speaker and sentence.speaker == speaker:
            speech.append(sentence.words)
            continue
        if speaker:
            parts.append(f'{speaker}, "{" ".join(speech)}"')
        speaker, speech = sentence.speaker, [sentence.words]
        if not speaker and sentence.words:
            parts.append(sentence.words)
    return " ".join(parts)


def _one(sentence: str) -> list[Told]:
    """One sentence, with its speech taken apart and "you" outside of it told as "I"."""
    if speech := _SPEECH.match(sentence):
        who = "I" if speech["who"] in ("You", "I") else speech["who"]
        to = " to me" if speech["to"] in (" to you", " to me") else speech["to"] or ""
        how = speech["how"]
        how = _PAST.get(how.removesuffix("s"), how)
        return [
            Told(_closed(words).replace('"', "'"), f"{who} {how}{to}")
            for words in sentences(speech["words"].strip())
        ]
    return [Told(_closed(_first_person(sentence)))]


def _act(verb: str, rest: str) -> list[Told]:
    if verb in ("say", "shout", "ask"):
        return [Told(_closed(s).replace('"', "'"), f"I {_PAST[verb]}") for s in sentences(rest)]
    if verb == "whisper" and "=" in rest:
        name, _, said = (part.strip() for part in rest.partition("="))
        return [
            Told(_closed(s).replace('"', "'"), f"I whispered to {name}") for s in sentences(said)
        ]
    if verb in ("emote", "pose"):
        first, _, others = rest.partition(" ")
        return [Told(_closed(f"I {_plain_form(first)} {others}".rstrip()))] if rest else []
    did = _DID.get(verb, f"did this: {verb}")
    if verb == "look" and not rest:
        did = "looked around"
    return [Told(_closed(f"I {did} {rest}".rstrip()))]


def _first_person(text: str) -> str:
    if '"' in text or "“" in text:
        return text
    text = re.sub(r"^You are\b", "I am", text)
    text = re.sub(r"^You\b", "I", text)
    return re.sub(r"\b(gives?|hands?|tells?|shows?|to|at|with|from) you\b", r"\1 me", text)


def _plain_form(verb: str) -> str:
    """``waves`` as it goes with "I": wave."""
    if re.search(r"(?:ss|sh|ch|x|o)es$", verb):
        return verb[:-2]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def _closed(text: str) -> str:
    text = shorten(text.strip(), _LONGEST)
    return text if re.search(r"[.!?…][\"”’')\]]*$", text) else f"{text.rstrip(',;: ')}."
