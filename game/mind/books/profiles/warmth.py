"""What an agent comes to feel for somebody: cheap rules, small steps, bounds to each meeting.

Nobody becomes dear in an afternoon, however often they say thank you: at one meeting warmth
rises by at most :data:`MOST_UP`; it falls faster, and has its bound there as well.
"""

from __future__ import annotations

import re
from dataclasses import replace

from game.mind.archive.records import Memory
from game.mind.books.profiles.profile import Profile
from game.mind.language import deeds
from game.mind.language.heard import heard, meant_for, names

MOST_UP, MOST_DOWN = 0.12, 0.45
"""The furthest that warmth moves at one meeting, up and down."""
TALK, GIFT, KEPT, BROKEN = 0.004, 0.08, 0.1, -0.15
"""What a few words, a gift, a promise kept or broken do."""

_NAME_CALLED = (
    r"idiot|fool|liar|thief|cheat|coward|pig|swine|rat|witch|hag|bastard|bitch|cow|moron|scum|worm"
    r"|traitor|trash|dog"
)
_SAID: tuple[tuple[float, re.Pattern[str]], ...] = tuple(
    (step, re.compile(source, re.I))
    for step, source in (
        (
            -0.25,
            r"\bI(?:['’]ll| will| am going to|['’]m going to) (?:\w+ )?(?:kill|hurt|burn|beat|break"
            r"|destroy|murder|stab|strangle|drown|end) (?:you|your|this)\b|\byou(?:['’]ll"
            r"| will) (?:pay"
            r" for|regret|be sorry|die)\b|\bor I(?:['’]ll| will) \w+ you\b",
        ),
        (
            -0.12,
            rf"\byou(?:['’]re| are)?,? (?:an? |just an? |nothing but an? |such an? )?(?:\w+ )?"
            rf"(?:{_NAME_CALLED})\b|\bshut up\b|\bI (?:hate|despise) you\b|\bgo to hell\b"
            r"|\bget lost\b|\bdamn you\b|\bcurse you\b"
            r"|\byou(?:['’]re| are) (?:so |very |just )?(?:stupid|ugly|useless|worthless|disgusting"
            r"|pathetic|dumb|boring)\b",
        ),
        (
            0.05,
            r"\b(?:thank you|thanks|many thanks|I(?:['’]m| am) grateful|I owe you)\b"
            r"|\bI (?:love|missed|trust|adore) you\b|\bI(?:['’]m| am) (?:so )?glad (?:you"
            r"|to see you)\b"
            r"|\byou(?:['’]re| are) (?:so |very |too |really )?(?:kind|good|sweet|wonderful|lovely"
            r"|clever|brave|a (?:good|dear|true|great|real) \w+)\b|\bwell done\b"
            r"|\bmy (?:dear )?friend\b",
        ),
        (0.03, r"\b(?:I(?:['’]m| am) (?:so |very |truly )?sorry|forgive me|I apologi[sz]e)\b"),
    )
)
_DONE: tuple[tuple[float, re.Pattern[str]], ...] = (
    (
        -0.2,
        re.compile(
            r"\b(?:hits|kicks|slaps|punches|spits|pushes|shoves|stabs|trips|strikes|attacks)\b",
            re.I,
        ),
    ),
    (
        0.03,
        re.compile(
            r"\b(?:hugs|embraces|bows|smiles|waves|nods|kisses|winks|toasts|comforts)\b", re.I
        ),
    ),
)


def moved(profile: Profile, step: float) -> Profile:
    """The profile with warmth moved by ``step``, within the bounds of a meeting and of -1 … 1."""
    warmed = min(max(profile.warmed + step, -MOST_DOWN), MOST_UP)
    warmth = min(max(profile.warmth + warmed - profile.warmed, -1.0), 1.0)
    return replace(profile, warmth=round(warmth, 4), warmed=round(warmed, 4))


def step_of(memory: Memory, own_name: str) -> float:
    """How far what somebody did or said moves warmth; 0 for what was not for the agent."""
    said = heard(memory)
    if said is None:
        return _done(memory, own_name)
    if said.to not in ("", "you"):
        return 0.0
    mine = meant_for(said, own_name)
    found = next((step for step, way in _SAID if way.search(said.words)), 0.0)
    # Harsh words that are for nobody by name may be for somebody else.
    return found if found and (mine or found > 0) else TALK


def _done(memory: Memory, own_name: str) -> float:
    if deeds.given_to_me(memory):
        return GIFT
    rest = memory.text[len(memory.source) :]
    if not (names(rest, own_name) or names(rest, "you")):
        return 0.0
    return next((step for step, way in _DONE if way.search(rest)), 0.0)
