"""How well an agent knows somebody, and what it feels for them; from figures, no model."""

from __future__ import annotations

from datetime import datetime, timedelta

from game.mind.books.profiles.profile import Closeness, Fact, Profile

FRIENDLY, WARM, LOVING = 0.1, 0.3, 0.6
"""Warmth from which somebody can be a friend, is liked, is dear."""
COOL, HOSTILE = -0.15, -0.45
"""Warmth below which somebody is disliked, is hated."""
KEPT, BROKEN = "kept promise", "broken promise"
"""Attributes of the facts that tell what came of a promise."""

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


def feeling(profile: Profile) -> str:
    """What the agent feels, to be read after "Tom: ": ``you like them``; empty for nothing."""
    if profile.warmth <= HOSTILE:
        return "you cannot stand them"
    if _count(profile, BROKEN) > _count(profile, KEPT):
        return "you do not trust them"
    if profile.warmth <= COOL:
        return "you do not like them"
    if profile.warmth >= LOVING:
        return "they are dear to you"
    return "you like them" if profile.warmth >= WARM else ""


def promises(profile: Profile) -> tuple[Fact, ...]:
    """What they have promised and neither kept nor broken, oldest first."""
    return tuple(f for f in profile.facts if f.attribute == "promise" and f.holds)


def _earned(profile: Profile) -> Closeness:
    if profile.meetings >= 8 and profile.exchanges >= 60 and profile.warmth >= 0.5:
        return Closeness.CLOSE_FRIEND
    if profile.meetings >= 3 and profile.exchanges >= 12 and profile.warmth >= FRIENDLY:
        return Closeness.FRIEND
    if profile.exchanges >= 3 or (profile.exchanges and profile.meetings >= 2):
        return Closeness.ACQUAINTANCE
    return Closeness.STRANGER


def _count(profile: Profile, attribute: str) -> int:
    return sum(fact.attribute == attribute and fact.holds for fact in profile.facts)
