"""Who said what: whether a summary tells as one person's life what another said of their own.

Both are taken apart into claims: whose life a clause is about, and its telling words. Only
first-person statements are compared: "I am a sailmaker" is Ann's if Ann said it, however a
summary puts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from keepsake.language.perception import shorten
from keepsake.language.words import telling_roots
from keepsake.summaries.extractive import echoes
from keepsake.summaries.retelling import ToldSentence, retell

OWN = "i"
"""The subject of what the agent tells of itself."""
_SHARE, _LEAST = 0.67, 2
"""The share of a claim's telling words, and how many, that make it somebody's statement."""
_MOST = 6
"""Swaps that are named."""

_NAME = r"[A-Z][\w-]*(?: [A-Z][\w-]*)?"
_TELLS = (
    r"told|tells|said|says|asked|asks|learned|learnt|heard|found out|knows?|knew|thinks?|thought"
    r"|remember(?:s|ed)?|mention(?:s|ed)|explain(?:s|ed)|confided|shared|shares|spoke|talked"
    r"|admit(?:s|ted)|reveal(?:s|ed)|warn(?:s|ed)|(?:was|were|am) told|claim(?:s|ed)"
    r"|recall(?:s|ed)?"
)
_LINKS = "that|how|about|of|why|where|if|whether"
_HEAD = re.compile(
    rf"^(?P<who>{_NAME}|I|he|she|they) (?:also |then |once |later |just |now )?(?:have |has |had )?"
    rf"(?:{_TELLS})\b(?:(?: to)? (?:me|him|her|them|us|everybody|everyone)\b)?"
    rf"(?: (?:(?:to|from|by) )?(?P<name>{_NAME})(?= (?:{_LINKS}|I|my|he|she|his|her)\b))?"
    rf"(?: (?:{_LINKS}))?[,:]?\s*"
)
_PREFIX = re.compile(rf"^(?P<who>{_NAME})(?: (?:said|asked|whispered|told me))?: ")
_SPEAKER = re.compile(r"^(?P<who>.+?) (?:said|asked|whispered|shouted|replied|answered)\b")
_CLAUSES = re.compile(r"[;:,—–()]|\b(?:and|but|because|so|that|while|when|although|though|if|or)\b")
_RELATIVE = re.compile(r",?\s*\b(?:whose|who|which|where)\b", re.I)
_FIRST = re.compile(r"\b(?:i|i['’](?:m|ve|d|ll)|me|my|mine|myself|we|us|our|ours)\b", re.I)
_SELF = re.compile(r"^(?:i|i['’](?:m|ve|d|ll)|my|mine|we|our)\b", re.I)
_YOU = re.compile(r"^(?:you|you['’](?:re|ve|ll)|your)\b", re.I)
_PRONOUN = re.compile(r"^(?:he|she|they|his|her|their)\b", re.I)
_NAMED = re.compile(rf"^(?P<name>{_NAME})(?:['’]s)?\b")
_FRESH = re.compile(
    r"^(?:the|a|an|this|that|there|it|its|these|those|nobody|everybody|who|which)\b", re.I
)
_IS = re.compile(r"^(?:i['’]m|i am|i was|my (?:real )?name is|my \w+ is)\b", re.I)


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a run of clauses says of one subject."""

    subject: str  # in lower case; :data:`OWN` for the agent, empty for nobody in particular
    text: str
    terms: frozenset[str]
    teller: str = ""  # who says so; empty for a narrative
    first: bool = False  # whether the teller says it of themselves
    acts: str = ""  # who does it to the subject, as in "Bram owes me"; empty for nobody

    def mentions(self, name: str) -> bool:
        """Whether it names somebody, other than by calling them."""
        called = rf"(?:^|,\s*){re.escape(name)}(?=\s*(?:[,.!?…]|$))"
        bare = re.sub(called, "", self.text, flags=re.I)
        return re.search(rf"\b{re.escape(name)}\b", bare, re.I) is not None


def swapped(summary: str, sources: Sequence[str], own_name: str) -> tuple[str, ...]:
    """What ``summary`` tells of the wrong person, one phrase each; empty for an honest one."""
    lines = [line for text in sources for line in text.splitlines()]
    read = [each for line in lines for each in _read(line, own_name)]
    echoed = echoes([told for told, _ in read])
    known = [
        claim
        for position, (_, claims) in enumerate(read)
        if position not in echoed
        for claim in claims
    ]
    said = [claim for claim in known if claim.first and claim.terms]
    found: dict[str, None] = {}
    for line in summary.splitlines():
        if line.startswith("#"):
            continue
        for sentence in retell(line, own_name):
            for claim in _claims(sentence, strictly=True):
                if rival := _rival(claim, said, known, own_name):
                    found[_described(claim, rival, own_name)] = None
    return tuple(found)[:_MOST]


def _described(claim: _Claim, rival: _Claim, own_name: str) -> str:
    whose = own_name if claim.subject == OWN else claim.subject.title()
    teller = own_name if rival.teller == OWN else rival.teller.title()
    return f"tells of {whose} what {teller} said: {shorten(rival.text.strip(), 80)}"


def _rival(
    claim: _Claim, said: Sequence[_Claim], known: Sequence[_Claim], own_name: str
) -> _Claim | None:
    """Somebody else's statement about themselves that ``claim`` tells of its subject."""
    terms = claim.terms - _terms(f"{own_name} {claim.subject}")
    if not claim.subject or not terms:
        return None
    others = [s for s in said if s.teller not in (claim.subject, claim.acts)]
    best = max(others, key=lambda s: _covered(terms, s.terms), default=None)
    if best is None:
        return None
    if claim.subject == OWN and not terms <= best.terms:
        # "I promised Tom to bring bread": whom it was done to says nothing of who did it.
        terms = terms - _terms(best.teller) or terms
    if not _is_of(claim, terms, best.terms):
        return None
    here = max((_covered(terms, k.terms) for k in known if _supports(k, claim)), default=0.0)
    return best if here < _covered(terms, best.terms) else None


def _covered(terms: frozenset[str], by: frozenset[str]) -> float:
    return len(terms & by) / len(terms)


def _is_of(claim: _Claim, terms: frozenset[str], by: frozenset[str]) -> bool:
    if len(terms) < _LEAST:
        return terms <= by and _IS.search(claim.text.strip()) is not None
    return len(terms & by) >= max(_SHARE * len(terms), _LEAST)


def _supports(known: _Claim, claim: _Claim) -> bool:
    """Whether a claim of the source speaks for the subject of one of the summary."""
    if claim.subject == OWN:
        return OWN in (known.subject, known.teller) or not known.teller
    return claim.subject in (known.subject, known.teller) or known.mentions(claim.subject)


# -- taking sentences apart


@lru_cache(maxsize=4096)
def _read(line: str, own_name: str) -> tuple[tuple[ToldSentence, tuple[_Claim, ...]], ...]:
    """The sentences of a source with their claims; each draft of a summary is held against them."""
    return tuple((told, tuple(_claims(told))) for told in retell(line, own_name))


def _claims(told: ToldSentence, *, strictly: bool = False) -> Iterator[_Claim]:
    """The claims of one sentence.

    ``strictly``: Whether "a sailmaker" in "I met Ann, a sailmaker" may be somebody else; in
    what was said it goes with what stands before it, as in "I am Ann, a sailmaker".
    """
    text = told.words
    teller = _teller(told)
    if not teller:
        if noted := _PREFIX.match(text):
            teller, text = noted["who"].casefold(), text[noted.end() :]
        elif head := _HEAD.match(text):
            yield from _runs(text[head.end() :], "", strictly=strictly, he=_reporter(head))
            return
    yield from _runs(text, teller, strictly=strictly)


def _teller(told: ToldSentence) -> str:
    if told.own:
        return OWN
    speaker = _SPEAKER.match(told.speaker)
    return (speaker["who"] if speaker else told.speaker).casefold()


def _reporter(head: re.Match[str]) -> str:
    """Who "she" is in "Ann told me that she …", and in "I learned from Ann that she …"."""
    who = (head["name"] if head["who"] == "I" and head["name"] else head["who"]).casefold()
    return "" if who in ("i", "he", "she", "they") else who


def _runs(text: str, teller: str, *, strictly: bool, he: str = "") -> Iterator[_Claim]:
    """Clauses of one subject in a row, as one claim each."""
    subject, acts, first, parts = "", "", False, [""]
    # What a relative clause tells is of somebody who was named before it.
    for clause in filter(None, map(str.strip, _CLAUSES.split(_RELATIVE.sub(", the", text)))):
        who, by, of_self, begins = _subject(clause, teller, he)
        if parts == [""] or (begins and (strictly or who)):
            yield _claim(parts, subject, teller, acts, first=first)
            subject, acts, first, parts = who, by, of_self, []
        parts.append(clause)
    yield _claim(parts, subject, teller, acts, first=first)


def _claim(parts: Iterable[str], subject: str, teller: str, acts: str, *, first: bool) -> _Claim:
    text = ", ".join(filter(None, parts))
    return _Claim(subject, text, _terms(text), teller, first, acts)


@lru_cache(maxsize=4096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(telling_roots(text))


def _subject(clause: str, teller: str, he: str) -> tuple[str, str, bool, bool]:
    """Whose life a clause is about, who acts in it, whether the teller's own, whether it is new."""
    speaks = teller or OWN
    if _SELF.match(clause):
        return speaks, "", True, True
    if _YOU.match(clause):
        return (OWN if teller not in ("", OWN) else ""), "", False, True
    if _PRONOUN.match(clause):
        return he, "", False, True
    named = _NAMED.match(clause)
    if named and _may_name(named["name"]):
        if _FIRST.search(clause[named.end() :]):
            return speaks, named["name"].casefold(), True, True
        return named["name"].casefold(), "", False, True
    if _FIRST.search(clause):
        return speaks, "", True, _FRESH.match(clause) is not None
    return "", "", False, _FRESH.match(clause) is not None


def _may_name(name: str) -> bool:
    return bool(_terms(name))
