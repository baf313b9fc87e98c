"""What somebody states of themselves: clauses that begin with "I", "my" or "we".

A clause that is part of a question, a condition, a wish, a tale or what somebody else is said
to have said is no statement. Only the beginning of a clause counts, since nobody can put
words into the mouth of the one whose clause begins with "I" without a word before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from game.mind.language.patterns import pattern

MOST_SENTENCES = 12
"""Sentences of one memory that are looked at."""
_LONGEST = 300

_SPLIT = re.compile(r"(?<=[.!?…])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bDr\.)(?<!\bSt\.)\s+")
# Only marks that stand outside words: the apostrophe in "I'm" quotes nothing.
_QUOTED = re.compile(
    r'"[^"]*"?|[“„«][^”“»]*[”“»]?|(?<!\w)[\'‘](?!\w{1,2}\s)[^\'’]*(?:\w[\'’]\w[^\'’]*)*[\'’](?!\w)'
)
_TAG = re.compile(
    r",\s*(?:can you|could you|would you|do you|don['’]t you|did you|you (?:know|see|hear)"
    r"|is(?:n['’]t)?"
    r" (?:it|that)|are(?:n['’]t)? (?:I|we)|am I not|right|eh|hm+|see|what do you say|imagine that)"
    r"\b[^,?]{0,30}\?$",
    re.I,
)
_PARTS = re.compile(
    r"\s*[;–—]\s*|:\s+(?=(?:I|my|we)\b)|\s+-\s+"
    r"|,?\s+(?:and|but|so|because|for|as)\s+(?=(?:I|my|we|now I)\b)"
    r"|,\s+(?=(?:I|my|we)\b)",
    re.I,
)
# Wherever one of these stands, nothing of the sentence is as it says.
_UNREAL = re.compile(
    r"^\W*(?:(?:and|but|well|oh|so|yes|no)\W+)*(?:if|unless|when(?:ever)?|once|suppose|supposing"
    r"|imagine|pretend|assume|assuming|say (?:that )?I|had I|were I|should I|let['’]?s (?:say"
    r"|pretend"
    r"|imagine|suppose)|in (?:my|a) (?:dreams?|story|play)|as if|as though|maybe|perhaps|possibly"
    r"|what if|wh(?:at|o|ere|y|ich)|how)\b"
    r"|\b(?:if|unless|as if|as though|only joking|just joking|just kidding|jesting|a jest"
    r"|not really"
    r"|or so (?:they|he|she) says?|on stage|in the play)\b"
    r"|\b(?:will|shall|would|could|might|may) (?:be|have been) (?!right back|back)",
    re.I,
)
_REPORTED = re.compile(
    r"\b(?!I\b)\w+ (?:(?:once|just|always|only) )?(?:says?|said|tells?|told|thinks?|thought"
    r"|believes?"
    r"|claims?|claimed|asked|asks|goes|writes?|wrote|sings?|sang|swears?|swore|insists?|reckons?"
    r"|calls? me an?|takes? me for|repeat|write|say)\b"
    r"|\b(?:repeat after me|according to|rumou?r|quote)\b|^(?!(?:\w+, )?I\b)[^,]{1,40}:\s",
    re.I,
)
_OPENERS = (
    r"good (?:morning|day|evening|afternoon|night)|hello|hi|hey|greetings|welcome|well(?: now"
    r"| then)?"
    r"|yes|no|aye|nay|oh|ah|so|and|but|then|now|listen|look|see|you (?:see|know)|actually|honestly"
    r"|frankly|anyway|besides|still|sadly|luckily|happily|unfortunately|fortunately|finally|at last"
    r"|as (?:it happens|you know|of today|of now|always|ever)|by the way|in fact|in truth"
    r"|to (?:be honest|tell (?:you )?the truth|be fair)|truth be told|believe it or not|guess what"
    r"|good news|bad news|great news|news|please|thanks|thank you|sorry|I[’']m sorry|excuse me"
    r"|pardon|hear this|mind you|alas|these days|nowadays|since (?:yesterday|spring|summer|autumn"
    r"|winter|last \w+|monday|tuesday|wednesday|thursday|friday|saturday|sunday|then)"
    r"|from (?:today|now|tomorrow|this day)(?: on(?:wards?)?)?|today|yesterday|last (?:night|week"
    r"|month|year|spring|summer|autumn|winter)|this (?:week|morning|month|year|spring|summer)"
    r"|(?:two|three|a few|some) (?:days|weeks|months|years) ago|a (?:week|month|year|while) ago"
    r"|I (?:should|must|have to|want to) tell you(?: that|,)?|(?:did you know|you should know|know)"
    r" that|the (?:truth|thing|fact) is(?: that)?|between (?:us|you and me)"
)


def statements(words: str, own_name: str = "") -> Iterator[str]:
    """The clauses of ``words`` in which the speaker states something of themselves.

    Args:
        words: What somebody said.
        own_name: Whom they may be calling by name.
    """
    for sentence in sentences(words):
        if not is_real(sentence):
            continue
        for part in _PARTS.split(sentence):
            clause = _opening(own_name).sub("", part).strip()
            if clause:
                yield clause


def is_real(sentence: str) -> bool:
    """Whether a sentence is neither a condition, a wish, a game nor what others have said."""
    return not (_UNREAL.search(sentence) or _REPORTED.search(sentence))


def sentences(words: str) -> Iterator[str]:
    """The sentences that state something, without what they quote; at most a dozen."""
    plain = _QUOTED.sub(" ", words)
    for sentence in _SPLIT.split(plain, maxsplit=MOST_SENTENCES)[:MOST_SENTENCES]:
        stated = _TAG.sub("", sentence.strip())[:_LONGEST]
        if not stated.rstrip("\"'”’ )").endswith("?"):
            yield stated


def _opening(own_name: str) -> re.Pattern[str]:
    """What may stand before a statement: a greeting, a name, a time, a politeness."""
    name = rf"|{re.escape(own_name)}" if own_name else ""
    called = r"(?-i:[A-Z][\w'’-]+),\s*(?=(?:I|my|we)\b)"
    return pattern(rf"^[\s(]*(?:(?:(?:{_OPENERS}{name})\b[\s,:!.–—-]*|{called}))*", re.I)
