"""The same sentence with other pronouns: whose life it is shows in nothing else.

Profiles speak to the agent ("You are Mira, your mother's cup …"). A small model that reads "you" in
one line and answers somebody else's "you" in the next takes one for the other; "I" is always the
agent. English has the same verb forms for both but for "are" and "were", so this needs no grammar.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache


def _any_of(forms: Mapping[str, str]) -> re.Pattern[str]:
    longest_first = sorted(forms, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(longest_first)})\b".replace("'", "['’]"), re.I)


def _form_in(forms: Mapping[str, str], written: str) -> str:
    """What stands for a form, with the apostrophe that it is written with."""
    word = forms.get(written.casefold().replace("’", "'"), written)  # "İ" is no key
    return word.replace("'", "’") if "’" in written else word


_FORMS = {
    "you are": "I am",
    "you're": "I'm",
    "you were": "I was",
    "you aren't": "I'm not",
    "you weren't": "I wasn't",
    "you've": "I've",
    "you'll": "I'll",
    "you'd": "I'd",
    "are you": "am I",
    "were you": "was I",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
    "thou art": "I am",
    "thou hast": "I have",
    "thou": "I",
    "thee": "me",
    "thy": "my",
}
_FORM = _any_of(_FORMS)
_ALSO = re.compile(r"(^I [^.;]*?\b(?:and|but) )(were|are)\b")
"""A second verb of a sentence about the agent."""
_YOU = re.compile(r"(\w+)?(\W*)\b[Yy]ou\b(?=(\W*)(\w+)?)")
_OPENING_WORDS = """
    that which who what when where while if because since although though as after before until
    unless and but or so then than how why whom whether except once now here today thing things all
"""
_OPENS = frozenset(_OPENING_WORDS.split())
"""Words after which "you" begins a clause, and so is a subject."""
_SUBORDINATES = frozenset(
    ["when", "where", "while", "if", "because", "since", "although", "though", "until", "unless"]
)
_THEN = frozenset(["once", "now", "then", "here", "today", "again"])
_PREPOSITIONS = """
    to for of with at from by on about than like against behind beside near without between around
    over under after before towards upon into past
"""
_LEADS_TO = frozenset(_PREPOSITIONS.split())
"""Words after which it is an object, unless a verb follows."""
_DETERMINER_WORDS = """
    a an the my his her its their our this that these those some any one two three four five six
    seven eight nine ten eleven twelve twenty for to by with in on at from about
"""
_DETERMINERS = frozenset(_DETERMINER_WORDS.split())
"""Words that begin another object, or an adverbial: what stood before was no subject."""
_DITRANSITIVE_WORDS = """
    leaves gives lends brings sends tells shows pays owes calls teaches feeds sells buys makes reads
    offers left gave lent brought sent told showed paid owed called taught fed sold bought made
    fined asks asked helps helped bring give lend send tell show pay owe call teach feed sell buy
    make help ask wish promise forgive thank
"""
_TO_SOMEBODY = frozenset(_DITRANSITIVE_WORDS.split())
"""Verbs of others that take a person: "somebody leaves you unsigned verses"."""
_AFTER_OBJECTS = frozenset(["over", "to", "with", "for", "from", "at", "up", "out", "off"])
"""Words that follow no subject: "have you over", "take you home"."""
_OF_SOMEBODY_WORDS = """
    see saw seen meet met miss missed love loved hate hated trust trusted visit visited follow
    followed leave left let watch watched hear heard find found kiss kissed kill hurt
"""
_OF_SOMEBODY = frozenset(_OF_SOMEBODY_WORDS.split())
"""Verbs before "you" of which it is the object, unless a verb of its own follows."""
_SUBJECT_FOLLOWED_BY = re.compile(
    r"(?:am|are|was|were|have|had|do|did|can|could|will|would|shall|should|may|might|must|never|"
    r"always|often|still|also|only|once|just|know|think|want|love|like|hate|live|work|keep|speak)\b",
    re.I,
)


@lru_cache(maxsize=4096)
def in_first_person(text: str) -> str:
    """``text``, which speaks to the agent as "you", as the agent would say it of itself."""
    turned_round = _YOU.sub(_pronoun, _FORM.sub(_form, text))
    return _ALSO.sub(lambda also: also[1] + ("was" if also[2] == "were" else "am"), turned_round)


def _form(match: re.Match[str]) -> str:
    word = _form_in(_FORMS, match[0])
    return word[0].upper() + word[1:] if match[0][0].isupper() else word


def _pronoun(match: re.Match[str]) -> str:
    before, gap = match[1] or "", match[2]
    return f"{before}{gap}{'me' if _is_object(before, gap, match[3], match[4] or '') else 'I'}"


def _is_object(before: str, gap: str, after: str, following: str) -> bool:
    if not before or not gap.isspace():  # at the start of a sentence or clause
        return False
    if not following or not after.isspace():  # at the end of one
        return True
    word = before.casefold()
    if following.casefold() in _DETERMINERS and (word not in _OPENS or word in _LEADS_TO):
        return True  # "lends you her cart", "behind you in the queue"
    if word in _OPENS:  # "before you came", but "before you and me"
        return word in _LEADS_TO and following.casefold() in _OPENS
    if following.casefold() in _SUBORDINATES:  # "scalded you when you were six"
        return True
    if following.casefold() in _THEN:  # "a punch on you once", but "the man you once loved"
        return word in _LEADS_TO or word in _TO_SOMEBODY
    if word in _TO_SOMEBODY or following.casefold() in _AFTER_OBJECTS:
        return True
    return (word in _LEADS_TO or word in _OF_SOMEBODY) and not _SUBJECT_FOLLOWED_BY.match(following)


_YOURS = {
    "i am": "you are",
    "i'm": "you're",
    "i was": "you were",
    "am i": "are you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "me": "you",
    "i": "you",
    "we": "you",
    "are we": "are you",
    "our": "your",
    "ours": "yours",
    "ourselves": "yourselves",
    "us": "you",
}
_MINE = _any_of(_YOURS)
_A_MINE = re.compile(r"\b(?:the|a|this|that|our|old) $", re.I)
_HIDDEN = re.compile("[\ue000-\uf8ff]")


def turned(text: str) -> str:
    """What somebody said of themselves and of the agent, as the agent says it back to them."""
    forms: list[str] = []

    def hide(match: re.Match[str]) -> str:
        a_mine = match[0] == "mine" and _A_MINE.search(match.string[: match.start()])
        if a_mine or match[0] == "US":
            return match[0]
        forms.append(_form_in(_YOURS, match[0]))
        return chr(0xE000 + len(forms) - 1)

    hidden = _MINE.sub(hide, _HIDDEN.sub("", text)[:1000])
    back = in_first_person(hidden)
    return _begun(_HIDDEN.sub(lambda match: forms[ord(match[0]) - 0xE000], back))


def said_to(text: str, name: str) -> str:
    """What ``name`` did, as it is said to their face: "You carried the apples down to me."."""
    if not text.startswith(f"{name} "):
        return text
    verb, _, rest = text[len(name) + 1 :].partition(" ")
    return " ".join(filter(None, ("You", _SECOND_PERSON.get(verb) or _plural(verb), rest)))


_SECOND_PERSON = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "goes": "go",
    "lies": "lie",
    "ties": "tie",
    "dies": "die",
}


def _plural(verb: str) -> str:
    """``gives`` as ``give``; a past tense as it is."""
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if verb.endswith(("shes", "ches", "sses", "xes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def _begun(text: str) -> str:
    """With a capital letter at the start of each sentence."""
    return re.sub(r"(?:^|(?<=[.!?] ))([a-z])", lambda match: match[1].upper(), text)
