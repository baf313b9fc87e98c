"""What somebody says of themselves, read by rules; what they say of others is never a fact.

Whose fact it is comes from who caused the memory, never from the words of it: nobody can put a
fact into the profile of somebody else.
"""

from __future__ import annotations

import re
from datetime import timedelta

from game.mind.archive.records import Memory
from game.mind.books.noticing import promises
from game.mind.books.profiles.profile import Fact
from game.mind.language.fact_rules import RULES, Rule
from game.mind.language.fit import LONGEST_VALUE, is_fit, line
from game.mind.language.fit import name as fit_name
from game.mind.language.heard import Utterance, heard
from game.mind.language.perception import shorten
from game.mind.language.statements import is_real, sentences, statements
from game.mind.language.words import COMMON_WORDS, words

MOST_FACTS = 6
"""Facts of one memory."""
_MOST_WORDS = 10


def facts_in(memory: Memory, own_name: str) -> tuple[tuple[str, Fact], ...]:
    """The facts in one memory with the key of whom they are about; mostly none.

    Args:
        memory: Anything; only what somebody else said is looked at.
        own_name: The agent's name.

    Returns:
        At most :data:`MOST_FACTS`. One that ends what was known has ``until`` set; its value
        may be empty, for whatever it was.
    """
    said = heard(memory)
    if said is None:
        return ()
    key = key_of(memory)
    return tuple((key, fact) for fact in told(said, memory, own_name))


def key_of(memory: Memory) -> str:
    """Who caused a memory: by their identity, by name where that is not known, or empty."""
    if memory.source_id:
        return memory.source_id
    said = heard(memory)
    who = said.who if said is not None else memory.source
    return f"name:{who}" if who else ""


def told(said: Utterance, memory: Memory, own_name: str) -> list[Fact]:
    """The facts in what was said, all of them about the speaker."""
    found: dict[tuple[str, str], Fact] = {}
    for statement in statements(said.words, own_name):
        for attribute, value, over in _read(statement, memory, own_name):
            fact = _fact(attribute, value, said, memory, over=over)
            found.setdefault((attribute, value.casefold()), fact)
    if said.to in ("", "you"):
        for value in promised(said.words):
            found.setdefault(
                ("promise", value.casefold()), _fact("promise", value, said, memory, over=False)
            )
    return list(found.values())[:MOST_FACTS]


def _fact(attribute: str, value: str, said: Utterance, memory: Memory, *, over: bool) -> Fact:
    return Fact(
        attribute,
        value,
        memory.time,
        until=memory.time if over else None,
        numbers=(memory.number,),
        told_by=fit_name(said.who),
    )


def _read(statement: str, memory: Memory, own_name: str) -> list[tuple[str, str, bool]]:
    """Attribute, value and whether it is over, of what one statement tells."""
    if _HERE.match(statement):
        return [("home", line(memory.place), False)] if memory.place else []
    for rule in RULES:
        if match := rule.pattern.match(statement):
            return [each for each in _taken(rule, match, memory) if _sound(each, own_name)]
    return []


def _taken(rule: Rule, match: re.Match[str], memory: Memory) -> list[tuple[str, str, bool]]:
    groups = match.groupdict()
    raw = groups.get("n") or groups.get("v") or ""
    attribute = rule.attribute
    if groups.get("what"):
        attribute = f"favourite {groups['what'].casefold()}"
    elif not attribute:
        attribute = _SPOUSE.get(groups["kin"].casefold(), groups["kin"].casefold())
    value = _value(attribute, raw, memory)
    if rule.ends and attribute == "owns":
        value = _WHY_GONE.sub("", value)
    facts = [(attribute, value, rule.ends)]
    if groups.get("trade"):
        facts.append(("work", _value("work", groups["trade"], memory), False))
    return facts


_HERE = re.compile(r"(?:I|we)(?: now| still)? live (?:right )?here\b(?! in| at)", re.I)
_SPOUSE = {"wife": "spouse", "husband": "spouse", "partner": "spouse", "fiancé": "betrothed"}
_SPOUSE |= {"fiancée": "betrothed", "fiance": "betrothed", "fiancee": "betrothed"}
_WHEN = (
    r"(?:last|this|next|every) (?:week|month|year|spring|summer|autumn|winter|night|morning|monday"
    r"|tuesday|wednesday|thursday|friday|saturday|sunday)"
)
_TAIL = re.compile(
    r"\s+(?:now|these days|nowadays|any ?more|any longer|again|for good|at last|already|too|either"
    r"|as well|of course|you (?:know|see)|(?:more|better) than .*|very much|a lot|so much|the most"
    rf"|best|well|{_WHEN}|yesterday|today|tonight|at the moment|for now|so far|at all"
    r"|(?:in|since|on|last|this|until) (?:spring|summer|autumn|winter|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september"
    r"|october|november|december)|since .*|because .*|until .*|while .*|when .*|but .*|so that .*"
    r"|so|by trade|for a living|for (?:\w+ )?(?:days|weeks|months|years|ages)|though|Sir|Madam)$",
    re.I,
)
_ARTICLE = re.compile(r"^(?:an?|the|my|in|at|some|to be an?) (?=\w)", re.I)
_WHY_GONE = re.compile(r" (?:to|for|from|in|at|because|so|when|with) .*$", re.I)
"""What is told of a thing that was sold or lost, beside what it was."""
_KEEPS_ARTICLE = frozenset({"home", "owns", "plan", "promise", "origin", "likes", "dislikes"})
_DAYS = {"today": 0, "tomorrow": 1}


def _value(attribute: str, raw: str, memory: Memory) -> str:
    """``raw`` less what is said around it, at most ten words and sixty characters."""
    value = line(" ".join(raw.split()[:_MOST_WORDS])).strip(" -'’")
    before = None
    while before != value:
        before, value = value, _TAIL.sub("", value).strip(" -'’")
    if attribute == "birthday" and value.casefold() in _DAYS:
        day = memory.time + timedelta(days=_DAYS[value.casefold()])
        return f"{day.day} {day:%B}"
    if attribute == "home":
        value = re.sub(r"^(?:in|at) (?=\w)", "", value, flags=re.I)
    elif attribute not in _KEEPS_ARTICLE:
        value = _ARTICLE.sub("", value)
    if attribute == "work":
        value = re.sub(r"^(?:new|old) (?=\w)", "", value, flags=re.I)
    return shorten(value, LONGEST_VALUE)


def _sound(read: tuple[str, str, bool], own_name: str) -> bool:
    """Whether the value says anything, and nothing that a profile may not hold."""
    attribute, value, over = read
    if not value:
        return over
    if all(word.casefold() in COMMON_WORDS for word in words(value)):
        return False  # "I work as a …"
    if attribute == "name" and (
        value.casefold() in COMMON_WORDS
        or value.casefold() == own_name.casefold()
        or _NO_NAME.search(value)
    ):
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
_VOW = re.compile(r"\b(?:promise|swear|vow|my word|count on me|rely on me)\b", re.I)
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
# What means something in a file or a prompt; a value of the other rules is words alone.
_MARKS = re.compile(r"[:;()\[\]#<>~|*`]")
_WILL = re.compile(r"^(?:I(?:['’]ll| will| shall)|to)\s+", re.I)


def promised(words: str) -> list[str]:
    """What the speaker promises: ``bring you the blue cup tomorrow``."""
    found = []
    for sentence in sentences(words):
        if not (promises(sentence) and is_real(sentence)):
            continue
        if (match := _PROMISED.search(sentence)) is None:
            continue
        raw = _CALLING.sub("", match["v"] or match["w"] or match["x"])
        if _SWORN.match(raw):
            continue
        value = shorten(line(_WILL.sub("", raw)).strip(" ,-'’"), 2 * LONGEST_VALUE)
        meant = _VOW.search(sentence) and not _NO_DEED.match(value)
        if len(value.split()) > 1 and is_fit(value) and (meant or _DEED.match(value)):
            found.append(" ".join(_MARKS.sub(" ", value).split()))
    return found
