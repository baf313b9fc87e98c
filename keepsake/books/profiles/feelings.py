"""How well an agent knows somebody, what it feels for them, and how they keep their word.

Cheap rules and figures, no model. Nobody becomes dear in an afternoon, however often they say
thank you: at one meeting warmth rises by at most :data:`MOST_UP`; it falls faster, and has its
bound there as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from keepsake.archive.records import Memory
from keepsake.books.profiles.changes import with_fact
from keepsake.books.profiles.profile import Closeness, Fact, Profile
from keepsake.language import deeds
from keepsake.language.facts import promised
from keepsake.language.heard import heard, meant_for, names
from keepsake.language.patterns import pattern
from keepsake.language.statements import is_real, stated
from keepsake.language.words import telling

FRIENDLY, WARM, LOVING = 0.1, 0.3, 0.6
"""Warmth from which somebody can be a friend, is liked, is dear."""
COOL, HOSTILE = -0.15, -0.45
"""Warmth below which somebody is disliked, is hated."""
KEPT, BROKEN = "kept promise", "broken promise"
"""Attributes of the facts that tell what came of a promise."""
MOST_UP, MOST_DOWN = 0.12, 0.45
"""The furthest that warmth moves at one meeting, up and down."""
_TALK, _GIFT = 0.004, 0.08
_RULED = {deeds.KINDNESS: 0.12, deeds.WRONG: -0.2, deeds.DEED: 0.0}
_OUTCOMES = {KEPT: 0.1, BROKEN: -0.15}

_DRIFT = {
    Closeness.CLOSE_FRIEND: (timedelta(days=60), Closeness.FRIEND),
    Closeness.FRIEND: (timedelta(days=180), Closeness.ACQUAINTANCE),
}


def closeness(profile: Profile, now: datetime) -> Closeness:
    """How well the agent knows them now.

    =============  ===========================================================================
    stranger       fewer than 3 exchanges, all at one meeting
    acquaintance   3 exchanges, or an exchange and a second meeting
    friend         3 meetings, 12 exchanges and warmth of 0.1
    close friend   8 meetings, 60 exchanges and warmth of 0.5
    =============  ===========================================================================

    Two meetings lie an hour or more apart. Who has not been met for 60 days is no close friend
    any more, for 180 days no friend; nobody becomes a stranger again.
    """
    close = _earned(profile)
    while close in _DRIFT:
        after, less = _DRIFT[close]
        if now - profile.last_met < after:
            break
        close = less
    return close


def _earned(profile: Profile) -> Closeness:
    if profile.meetings >= 8 and profile.exchanges >= 60 and profile.warmth >= 0.5:
        return Closeness.CLOSE_FRIEND
    if profile.meetings >= 3 and profile.exchanges >= 12 and profile.warmth >= FRIENDLY:
        return Closeness.FRIEND
    if profile.exchanges >= 3 or (profile.exchanges and profile.meetings >= 2):
        return Closeness.ACQUAINTANCE
    return Closeness.STRANGER


def feeling(profile: Profile) -> str:
    """What the agent feels, to be read after "Tom: ": ``you like them``; empty for nothing."""
    if profile.warmth <= HOSTILE:
        return "you cannot stand them"
    words = [fact.attribute for fact in profile.facts if fact.holds]
    if words.count(BROKEN) > words.count(KEPT):
        return "you do not trust them"
    if profile.warmth <= COOL:
        return "you do not like them"
    if profile.warmth >= LOVING:
        return "they are dear to you"
    return "you like them" if profile.warmth >= WARM else ""


# -- warmth

_NAME_CALLED = (
    r"idiot|fool|liar|thief|cheat|coward|pig|swine|rat|witch|hag|bastard|bitch|cow|moron|scum|worm"
    r"|traitor|trash|dog"
)
_SAID = {
    -0.25: (
        r"\bI(?:['’]ll| will| am going to|['’]m going to) (?:\w+ )?(?:kill|hurt|burn|beat|break"
        r"|destroy|murder|stab|strangle|drown|end) (?:you|your|this)\b|\byou(?:['’]ll"
        r"| will) (?:pay for|regret|be sorry|die)\b|\bor I(?:['’]ll| will) \w+ you\b"
    ),
    -0.12: (
        rf"\byou(?:['’]re| are)?,? (?:an? |just an? |nothing but an? |such an? )?(?:\w+ )?"
        rf"(?:{_NAME_CALLED})\b|\bI (?:hate|despise) you\b"
        r"|\b(?:shut up|go to hell|get lost|damn you|curse you)\b"
        r"|\byou(?:['’]re| are) (?:so |very |just )?(?:stupid|ugly|useless|worthless|disgusting"
        r"|pathetic|dumb|boring)\b"
    ),
    0.05: (
        r"\b(?:thank you|thanks|many thanks|I(?:['’]m| am) grateful|I owe you|well done)\b"
        r"|\bI (?:love|missed|trust|adore) you\b|\bmy (?:dear )?friend\b"
        r"|\bI(?:['’]m| am) (?:so )?glad (?:you|to see you)\b"
        r"|\byou(?:['’]re| are) (?:so |very |too |really )?(?:kind|good|sweet|wonderful|lovely"
        r"|clever|brave|a (?:good|dear|true|great|real) \w+)\b"
    ),
    0.03: r"\b(?:I(?:['’]m| am) (?:so |very |truly )?sorry|forgive me|I apologi[sz]e)\b",
}
"""How far words move warmth, the first that are found."""
_DONE = {
    -0.2: r"\b(?:hits|kicks|slaps|punches|spits|pushes|shoves|stabs|trips|strikes|attacks)\b",
    0.03: r"\b(?:hugs|embraces|bows|smiles|waves|nods|kisses|winks|toasts|comforts)\b",
}


def warmed_by(profile: Profile, memory: Memory, own_name: str) -> Profile:
    """The profile with warmth moved by what they did or said, if it was for the agent."""
    said = heard(memory)
    if said is None:
        return _moved(profile, _by_deed(memory, own_name))
    if said.to not in ("", "you"):
        return profile
    step = _step(_SAID, said.words)
    # Harsh words that are for nobody by name may be for somebody else.
    return _moved(profile, step if step > 0 or (step and meant_for(said, own_name)) else _TALK)


def _by_deed(memory: Memory, own_name: str) -> float:
    if deeds.given_to_me(memory):
        return _GIFT
    if memory.event in _RULED:
        return _RULED[memory.event]
    rest = memory.text[len(memory.source) :]
    return _step(_DONE, rest) if names(rest, own_name) or names(rest, "you") else 0.0


def _step(steps: Mapping[float, str], text: str) -> float:
    found = (step for step, way in steps.items() if pattern(way, re.I).search(text))
    return next(found, 0.0)


def _moved(profile: Profile, step: float) -> Profile:
    """The profile with warmth moved by ``step``, within the bounds of a meeting and of -1 … 1."""
    warmed = min(max(profile.warmed + step, -MOST_DOWN), MOST_UP)
    warmth = min(max(profile.warmth + warmed - profile.warmed, -1.0), 1.0)
    return replace(profile, warmth=round(warmth, 4), warmed=round(warmed, 4))


# -- promises

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
    open_ones = [f for f in profile.facts if f.attribute == "promise" and f.holds]
    for promise in open_ones:
        if memory.number > max(promise.numbers, default=0):
            only = len(open_ones) == 1
            if outcome := _outcome(promise, memory, only=only, new_meeting=new_meeting):
                profile = _closed(profile, promise, outcome, memory)
    return profile


def _outcome(promise: Fact, memory: Memory, *, only: bool, new_meeting: bool) -> str:
    """:data:`KEPT`, :data:`BROKEN`, or empty while it is open."""
    if new_meeting and _RETURNING.match(promise.value):
        waited = memory.time - promise.since
        late = any(way.search(promise.value) and waited > most for way, most in _SOON)
        return BROKEN if late else KEPT
    about = telling(promise.value) - _VAGUE
    if given := deeds.given_to_me(memory):
        return KEPT if about & telling(given) else ""
    said = heard(memory)
    for sentence in stated(said.words) if said and said.to in ("", "you") else ():
        near = about & telling(sentence) or (only and _OUTRIGHT.search(sentence))
        if near and is_real(sentence):
            if _DID_NOT.search(_NOT_BROKEN.sub("", sentence)) and not promised(sentence):
                return BROKEN
            if _DID.search(sentence):
                return KEPT
    return ""


def _closed(profile: Profile, promise: Fact, outcome: str, memory: Memory) -> Profile:
    over = replace(promise, until=memory.time)
    facts = tuple(over if fact is promise else fact for fact in profile.facts)
    numbers = tuple(sorted({*promise.numbers, memory.number}))
    told = Fact(outcome, promise.value, memory.time, None, numbers, promise.told_by)
    return _moved(with_fact(replace(profile, facts=facts), told), _OUTCOMES[outcome])
