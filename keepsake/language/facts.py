"""What somebody says of themselves, read by rules; what they say of others is never a fact.

A few attributes are typed, those of which a newer value replaces an older one: name, home, work,
a relation, a promise. Whatever else somebody tells of themselves is kept as their own sentence.
Whose fact it is comes from who caused the memory, never from the words of it: nobody can put a
fact into the profile of somebody else.
"""

from __future__ import annotations

import re

from keepsake.archive.records import Memory
from keepsake.books.noticing import VOW, promises
from keepsake.books.profiles.profile import Fact
from keepsake.language.fit import LONGEST_VALUE, is_fit, line
from keepsake.language.fit import name as fit_name
from keepsake.language.heard import Utterance, heard
from keepsake.language.perception import shorten
from keepsake.language.self_patterns import OWN_WORDS, PATTERNS
from keepsake.language.statements import is_real, stated, statements
from keepsake.language.words import COMMON_WORDS, words

SAID = "said"
"""The attribute of what is kept as it was said: ``I'm allergic to walnuts``."""
MOST_FACTS = 6
"""Facts of one memory."""
_MOST_WORDS = 10

type _Read = tuple[str, str, bool]
"""Attribute, value, and whether it is over."""


def key_of(memory: Memory) -> str:
    """Who caused a memory: by their identity, by name where that is not known, or empty."""
    if memory.source_id:
        return memory.source_id
    said = heard(memory)
    who = said.who if said is not None else memory.source
    return f"name:{who}" if who else ""


def told(said: Utterance, memory: Memory, own_name: str) -> list[Fact]:
    """The facts in what was said, at most six, all of them about the speaker.

    One that ends what was known has ``until`` set; its value may be empty, for whatever it was.
    """
    read = [
        each
        for statement in statements(said.words, own_name)
        for each in _read(statement, memory, own_name)
    ]
    if said.to in ("", "you"):
        read += [("promise", value, False) for value in promised(said.words)]
    found: dict[tuple[str, str], Fact] = {}
    for attribute, value, over in read:
        until, by = memory.time if over else None, fit_name(said.who)
        fact = Fact(attribute, value, memory.time, until, (memory.number,), by)
        found.setdefault((attribute, value.casefold()), fact)
    return list(found.values())[:MOST_FACTS]


def _read(statement: str, memory: Memory, own_name: str) -> list[_Read]:
    if _HERE.match(statement):
        return [("home", line(memory.place), False)] if memory.place else []
    for typed, way, ends in PATTERNS:
        if match := way.match(statement):
            groups = match.groupdict()
            kin = (groups.get("kin") or "").casefold()
            attribute = typed or _SPOUSE.get(kin, kin)
            raw = groups.get("n") or groups.get("v") or ""
            read = [(attribute, _value(attribute, raw), ends)]
            if trade := groups.get("trade"):
                read.append(("work", _value("work", trade), False))
            return [each for each in read if _sound(each, own_name)]
    if OWN_WORDS.match(statement) and is_fit(statement):
        return [(SAID, as_said(statement), False)]
    return []


_HERE = re.compile(r"(?:I|we)(?: now| still)? live (?:right )?here\b(?! in| at)", re.I)
_SPOUSE = {"wife": "spouse", "husband": "spouse", "partner": "spouse"} | dict.fromkeys(
    ("fiancé", "fiancée", "fiance", "fiancee"), "betrothed"
)
_TAIL = re.compile(
    r"\s+(?:now|these days|nowadays|any ?more|any longer|again|for good|at last|already|too|either"
    r"|as well|at the moment|so far|by trade|for a living|though|yesterday|today|tonight"
    r"|(?:last|this|next|every|on|in|until|since) (?:\w+day|week|month|year|night|spring|summer"
    r"|autumn|winter|morning)|because|since|until|while|when|but|so)\b.*$",
    re.I,
)
"""What is told beside the value itself."""
_ARTICLE = re.compile(r"^(?:an?|the|my|in|at|some|to be an?) (?=\w)", re.I)
# What means something in a file or a prompt; a value of the patterns is words alone.
_MARKS = re.compile(r"[:;()\[\]#<>~|*`]")


def _value(attribute: str, raw: str) -> str:
    """``raw`` less what is said around it, at most ten words and sixty characters."""
    value = _TAIL.sub("", line(" ".join(raw.split()[:_MOST_WORDS]))).strip(" -'’")
    if attribute == "home":
        value = re.sub(r"^(?:in|at) (?=\w)", "", value, flags=re.I)
    else:
        value = _ARTICLE.sub("", value)
    if attribute == "work":
        value = re.sub(r"^(?:new|old) (?=\w)", "", value, flags=re.I)
    return shorten(value, LONGEST_VALUE)


def as_said(sentence: str) -> str:
    """A sentence as it is kept word for word: harmless, without its full stop, shortened."""
    plain = " ".join(_MARKS.sub(" ", sentence).split()).rstrip(".!… ")
    return shorten(line(plain), 2 * LONGEST_VALUE)


def _sound(read: _Read, own_name: str) -> bool:
    """Whether the value says anything, and nothing that a profile may not hold."""
    attribute, value, over = read
    if not value:
        return over
    low = value.casefold()
    if all(word.casefold() in COMMON_WORDS for word in words(value)):
        return False  # "I work as a …"
    if attribute == "name" and (low == own_name.casefold() or _NO_NAME.search(value)):
        return False
    return is_fit(value) and is_fit(f"{attribute}: {value}") and any(c.isalnum() for c in value)


_NO_NAME = re.compile(r"^(?:OK|I|Sir|Madam|God|Lord)$|(?:ish|ese)$")

# -- promises

_DEED = re.compile(
    r"(?:bring|give|pay|mend|fix|repair|return|help|send|lend|teach|fetch|bake|write|visit|deliver"
    r"|find|buy|build|carve|carry|guard|keep|tell|show|make|cook|sew|knit|ask|meet|wake|feed|water"
    r"|(?:come|be|go) (?:back|home|again|here|by|for you)|look (?:after|for)|take (?:you|care)"
    r"|wait for)\b",
    re.I,
)
_PROMISED = re.compile(
    r"\b(?:I (?:promise|swear|vow)(?: you)?(?: that)?(?: to)?|you have my word(?: that)?"
    r"|I give you my (?:word|promise)(?: that)?(?: to)?)\s*,?\s*(?P<v>\w[^.!?;]*)"
    r"|\bI(?:['’]ll| will| shall)\s+(?:be sure to |certainly |surely |gladly |then |also )?"
    r"(?P<w>\w[^.!?;]*)|\bI(?:['’]m| am) going to (?P<x>\w[^.!?;]*)",
    re.I,
)
_NO_DEED = re.compile(
    r"(?:need|hurt|kill|burn|beat|break|destroy|have|be (?!back|here|there)|get you|see|want"
    r"|like)\b",
    re.I,
)
# Whoever swears that something is so promises nothing.
_SWORN = re.compile(
    r"I (?!will\b|shall\b)\w+|(?:he|she|it|they|we|you|there|the|my|this|that|on|by|are|were)\b"
    r"|(?!I\b)\w+(?: \w+)? (?:will|shall|won['’]t|is|are|was|were|has|had)\b",
    re.I,
)
_CALLING = re.compile(r"^[A-Z][\w'’-]*,\s*(?=I\b|to\b)")
_WILL = re.compile(r"^(?:I(?:['’]ll| will| shall)|to)\s+", re.I)


def promised(words: str) -> list[str]:
    """What the speaker promises: ``bring you the blue cup tomorrow``."""
    found = []
    for sentence in stated(words):
        match = _PROMISED.search(sentence) if promises(sentence) and is_real(sentence) else None
        if match is None:
            continue
        raw = _CALLING.sub("", match["v"] or match["w"] or match["x"])
        value = as_said(_WILL.sub("", raw).strip(" ,-'’"))
        meant = _DEED.match(value) or (VOW.search(sentence) and not _NO_DEED.match(value))
        if meant and not _SWORN.match(raw) and len(value.split()) > 1 and is_fit(value):
            found.append(value)
    return found
