"""What became of what somebody promised: kept, broken, or still open."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from game.mind.archive.records import Memory
from game.mind.books.profiles import warmth
from game.mind.books.profiles.acquaintance import BROKEN, KEPT, promises
from game.mind.books.profiles.changes import with_fact
from game.mind.books.profiles.profile import Fact, Profile
from game.mind.language import deeds
from game.mind.language.facts import promised
from game.mind.language.heard import heard
from game.mind.language.statements import is_real, stated
from game.mind.language.words import telling

_DID = re.compile(
    r"\b(?:as (?:I )?promised|kept my (?:word|promise)|here(?: is| are|['’]s|,? (?:you"
    r"|it) (?:are|is))"
    r"|I(?:['’]ve| have)? (?:just )?(?:brought|mended|fixed|repaired|returned|done|finished|found"
    r"|baked|made|written|paid|fetched|sent|built|carved|delivered|bought|told|asked|kept))\b",
    re.I,
)
_DID_NOT = re.compile(
    r"\bI (?:(?:have|['’]ve) )?(?:clean |completely |simply |quite )?(?:forgot(?:ten)?|lied)\b"
    r"|\bI(?:['’]ve| have)? (?:forgotten|broken? my (?:word|promise)|lost|sold)\b"
    r"|\bI broke my (?:word|promise)\b|\bchanged my mind\b"
    r"|\bI (?:couldn['’]?t|could not|can['’]?t|cannot|won['’]?t|will not|didn['’]?t|did not"
    r"|never|am not going to|['’]m not going to)\b|\bI(?:['’]m| am) not going to\b",
    re.I,
)
_NOT_BROKEN = re.compile(
    r"\b\w*(?:never|not|n['’]t) (?:(?:have|ever) )?"
    r"(?:forg[eo]t(?:ten)?|break|broken?|lose|lost|lied?)\b"
    r"|\bI (?:can['’]?t|cannot) wait\b",
    re.I,
)
"""What sounds like a broken word and is the opposite of it."""
_OUTRIGHT = re.compile(r"\b(?:promise[ds]?|my word|forgot(?:ten)?|changed my mind)\b", re.I)
_RETURNING = re.compile(
    r"^(?:come|be|return|visit|see you|look in|drop in)\b(?=.*\b(?:back|again|here|by|you|tomorrow"
    r"|tonight|return)\b)",
    re.I,
)
_SOON = (
    (re.compile(r"\b(?:today|tonight|this (?:evening|afternoon))\b", re.I), timedelta(hours=24)),
    (re.compile(r"\btomorrow\b", re.I), timedelta(hours=48)),
    (re.compile(r"\b(?:next|this|in a) week\b", re.I), timedelta(days=14)),
)
_VAGUE = telling(
    "bring give come return tomorrow today tonight soon back promise swear do make find later week"
)


def settled(profile: Profile, memory: Memory, *, new_meeting: bool) -> Profile:
    """The profile with each open promise that this memory keeps or breaks no longer open."""
    for promise in promises(profile):
        if memory.number <= max(promise.numbers, default=0):
            continue
        if outcome := _outcome(promise, profile, memory, new_meeting=new_meeting):
            profile = _closed(profile, promise, outcome, memory)
    return profile


def _outcome(promise: Fact, profile: Profile, memory: Memory, *, new_meeting: bool) -> str:
    """``kept promise``, ``broken promise``, or empty while it is open."""
    if new_meeting and _RETURNING.match(promise.value):
        waited = memory.time - promise.since
        late = any(way.search(promise.value) and waited > most for way, most in _SOON)
        return BROKEN if late else KEPT
    about = telling(promise.value) - _VAGUE
    if given := deeds.given_to_me(memory):
        return KEPT if about & telling(given) else ""
    said = heard(memory)
    if said is None or said.to not in ("", "you"):
        return ""
    only = len(promises(profile)) == 1
    for sentence in stated(said.words):
        near = bool(about & telling(sentence)) or (only and bool(_OUTRIGHT.search(sentence)))
        if near and is_real(sentence):
            if _DID_NOT.search(_NOT_BROKEN.sub("", sentence)) and not promised(sentence):
                return BROKEN
            if _DID.search(sentence):
                return KEPT
    return ""


def _closed(profile: Profile, promise: Fact, outcome: str, memory: Memory) -> Profile:
    over = replace(promise, until=memory.time)
    profile = replace(
        profile, facts=tuple(over if fact is promise else fact for fact in profile.facts)
    )
    numbers = tuple(sorted({*promise.numbers, memory.number}))
    told = Fact(outcome, promise.value, memory.time, None, numbers, promise.told_by)
    step = warmth.KEPT if outcome == KEPT else warmth.BROKEN
    return warmth.moved(with_fact(profile, told), step)
