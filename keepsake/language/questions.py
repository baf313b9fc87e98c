"""What asks for something, with or without a question mark, and what only looks so."""

from __future__ import annotations

import re

from keepsake.language.heard import is_greeting
from keepsake.language.words import sentences, without_tags

_ASKING = re.compile(
    r"\W*(?:(?:and|so|but|ok|okay|well|then|now|oh|please)\W+)*(?:"
    # A question turns verb and subject round: "Did you", but "Did my best", "Will do".
    r"(?:is|are|was|were|do|does|did|can|could|will|would|shall|should|have|has|had|may|might)"
    r"(?:n['’]?t)? (?:(?:you|u|I|we|he|she|it|they|there|that|this|any|some)(?:body|one)?\b"
    r"|(?:the|your|his|her|our|their|(?<!did )my) |(?-i:[A-Z])\w)|does (?!not\b)"
    r"|(?:who|what|where|when|which)(?:['’]?s|['’]re)\b|who\b(?! cares)|whose|whom|why\b(?! not\b)"
    r"|(?:what|where|how|which)\b(?! (?:an?|I|we|he|she|they|it|the|my|our|his|her|that|this) )"
    r"(?! \w+ of (?:you|him|her|them)\b)"
    r"|when (?:is|are|was|were|do|does|did|can|will|would|shall|should)\b"
    r"|(?:have )?you got (?:any|some|an?\b)|tell (?:me|us)\b)"
    r"|.*\b(?:(?:did|do)(?:n['’]?t| not) (?:\w+ )?(?:catch|know|remember)|forgot(?:ten)?)"
    r" your name",
    re.I,
)
"""How a sentence begins that asks for something without a question mark."""
_ASKS_FOR = re.compile(r"^(?:please |now )?(?:tell|show|remind|sing|help|let) (?:me|us)\b", re.I)
_ASKS_PLAINLY = re.compile(
    r"^(?:(?:and|so|but|then),? )?"
    r"(?:who (?!cares\b)\w+s?\b|(?!what(?:['’]?s| is) (?:more|worse|left|mine)\b)"
    r"(?:who|whom|what|when|where|why|how)(?:['’]?s"
    r"| (?:is|are|am|was|were|do|does|did|can|could|will|would|has|have|should|must))\b).*[^.!…]$",
    re.I | re.S,
)
"""Questions that were typed without any mark at the end."""
_TURNED = re.compile(
    r"\b(?!what can I say\b|what do you know[,!]|how could I\b)"
    r"(?:what|where|when|who|why|how|which)"
    r"(?: (?!(?:you|I|we|he|she|they|it|that|there|this)\b)\w+){0,2}"
    r" (?:(?:do|does|did|can|could|should|will|would|have|has|had) (?:you|I|we|he|she|they)"
    r"|am I|are (?:you|we|they)|(?:is|was) (?:he|she)|were (?:you|we|they))\b",
    re.I,
)
"""A question has its verb before whom it asks about: "if we play, where do you go"."""
_ADDED = re.compile(
    r"^(?!\W*(?:what|when|where|who|whom|whose|why|how|which)\b)(?P<told>.+)"
    r", (?:did I (?:say|tell you|mention (?:it|that))|you (?:know|see)|eh|see"
    r"|would you believe(?: it)?|can you (?:imagine|believe)(?: it| that)?)\?$",
    re.I,
)
"""What makes a statement look like a question, and asks nothing."""
_AGREED = re.compile(
    r", (?:is|are|was|were|do|does|did|has|have|can|will|would)n['’]t"
    r" (?:it|that|he|she|they|we|I)\?$",
    re.I,
)
"""What makes a statement one that wants a word of agreement."""
_WISH = re.compile(
    r"^(?P<before>(?:.{1,30}, )?)(?=.*\b(?:me|my|us|our|please)\b)"
    r"(?:would|could|can|will) you (?:please |kindly |maybe |perhaps )?"
    r"(?P<wish>(?:wake|shake|call|keep|hold|save|reserve|book|put|set|send|deliver|watch|mind"
    r"|look after|feed|water|post|store|order"
    r"|remind (?:me|us) (?!what|who|where|when|how|which|why|if\b))"
    r"\b.+?),?(?: please)?\?$",
    re.I,
)
"""What makes a request look like a question: "Would you wake me at six?"."""
_INVERTED = re.compile(
    r"\W*(?:am|is|are|was|were|do|does|did|can|could|shall|should|may|might|has|have|had)\b", re.I
)
_ENDED = re.compile(r"[.!…]\W*$")
_ASKS_IF = re.compile(
    r"^(?:(?:hey|so|ok|okay|um|oh|well|and|but),? )*(?:can|could|will|would|do|did|are|have) you\b"
    r"(?! (?:know|believe(?: it)?),)",
    re.I,
)
"""Questions to the agent that may have a full stop: "can u make a pick out of glass lol"."""


def is_question(words: str) -> bool:
    """Whether it asks for something, with or without a question mark."""
    words = without_asking(words)
    if "?" in words or _ASKING.match(words) or _TURNED.search(words):
        return True
    return any(_ASKING.match(each) and not _ENDED.search(each) for each in sentences(words)[1:])


def tells_nothing(sentence: str) -> bool:
    """Whether it tells nothing, being a question, a request or a greeting."""
    asks = sentence.rstrip("\"'”’ ").endswith("?") or _ASKS_PLAINLY.match(sentence) is not None
    asks = asks or (_ASKS_IF.match(sentence) or _TURNED.search(sentence)) is not None
    return asks or _ASKS_FOR.match(sentence) is not None or is_greeting(sentence)


def without_asking(said: str, *, agreed: bool = False) -> str:
    """With requests, and statements that look like questions, as what they are.

    Args:
        said: Somebody's words.
        agreed: Whether those that want a word of agreement are statements, too.
    """
    said = without_tags(said)
    if "?" not in said:
        return said
    return " ".join(_told(each, agreed=agreed) for each in sentences(said))


def _told(sentence: str, *, agreed: bool) -> str:
    if _INVERTED.match(sentence):
        return _WISH.sub(_wished, sentence)
    told = _WISH.sub(_wished, _ADDED.sub(r"\g<told>.", sentence))
    return _AGREED.sub(".", told) if agreed else told


def wants_agreement(said: str) -> bool:
    """Whether nothing but a word of agreement is wanted: "Lovely evening, isn't it?"."""
    asked = [each for each in sentences(said) if "?" in each]
    return bool(asked) and all(_AGREED.search(each) for each in asked)


def _wished(match: re.Match[str]) -> str:
    wish = match["wish"]
    return f"{match['before']}{wish if match['before'] else wish[0].upper() + wish[1:]}."
