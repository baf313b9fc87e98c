"""What is concluded by rules, without a model: what can be counted, and what went where.

Each kind of conclusion has a form of its own, by which the new one finds the former one and
takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from keepsake.books.profiles.feelings import BROKEN, KEPT
from keepsake.books.profiles.observing import HEARSAY, MINE, WHEREABOUTS
from keepsake.books.profiles.profile import Company, Conclusion, Fact, Profile, ProfileKind
from keepsake.language.fit import is_fit, line, quoted
from keepsake.language.fit import name as fit_name
from keepsake.language.statements import statements
from keepsake.language.words import listed

LEAST_MEETINGS, LEAST_DAYS = 3, 2
"""How often, and on how many days, somebody must have been met at a place to belong there."""
MOST_REGULARS = 3
WEIGHTY = 7
"""How much something must matter to be told of a place for good: a promise, a gift, a threat."""
MOST_WEIGHTY = 2
MOST_HANDS = 3
"""Changes of hands of one thing that are told: the newest."""

type NamesOf = Callable[[str], tuple[str, ...]]
"""What somebody is called, the present name first; empty for nobody known."""

_FORMS = (
    re.compile(r"^Has kept \d+ of \d+ promises?\b"),
    re.compile(r"^You mostly meet .+ here\.$"),
    re.compile(r"^On \d{1,2} \w{3} \d{4} this mattered here: "),
    re.compile(r"^It is (?:with|in|where) .{1,80}?: "),
)
_OWN = "You: "
SPEAKER = re.compile(
    r"(?P<who>[^:,\n]{1,48}?) "
    r"(?:(?P<said>said|says|whisper(?:s|ed)|shouts)\b[^:,]{0,60}[:,]|posed:) "
    r"(?P<words>.*)"
)
"""An observation of what somebody said or played."""
_OF_SELF = re.compile(r"(?:I|my|we|our)\b", re.I)


def by_rules(profile: Profile, names_of: NamesOf) -> tuple[Conclusion, ...]:
    """All that can be concluded without a model; the most telling comes last."""
    if profile.kind is ProfileKind.PERSON:
        return _promises(profile)
    if profile.kind is ProfileKind.THING:
        return _way(profile)
    return (*_weighty(profile), *_regulars(profile.company, names_of))


def has_form(text: str) -> bool:
    """Whether ``text`` reads like a conclusion by rules, as no other may."""
    return any(form.match(text) for form in _FORMS)


def with_conclusions(
    profile: Profile, read: Sequence[Conclusion], names_of: NamesOf
) -> tuple[Profile, tuple[Conclusion, ...]]:
    """The profile with what a model made of it and what the rules say, and what is new of that.

    Doing it twice changes nothing.
    """
    known = {each.text.casefold() for each in profile.conclusions}
    fresh = [each for each in read if each.text.casefold() not in known]
    ruled = by_rules(profile, names_of)
    forms = [form for form in _FORMS if any(form.match(each.text) for each in ruled)]
    others = [
        each
        for each in profile.conclusions
        if each in ruled or not any(form.match(each.text) for form in forms)
    ]
    sums = [each for each in ruled if each not in profile.conclusions]
    return replace(profile, conclusions=(*others, *fresh, *sums)), (*fresh, *sums)


def _promises(profile: Profile) -> tuple[Conclusion, ...]:
    """How far somebody keeps what they promise."""
    kept = [fact for fact in profile.facts if fact.attribute == KEPT]
    broken = [fact for fact in profile.facts if fact.attribute == BROKEN]
    if not broken and len(kept) < 2:
        return ()
    numbers = sorted({number for fact in (*kept, *broken) for number in fact.numbers})
    total = len(kept) + len(broken)
    text = f"Has kept {len(kept)} of {total} promise{'s' if total > 1 else ''} made to you."
    return (Conclusion(text, tuple(numbers), max(f.since for f in (*kept, *broken))),)


def _regulars(company: Sequence[Company], names_of: NamesOf) -> tuple[Conclusion, ...]:
    """Whom the agent mostly meets at a place."""
    often = [c for c in company if c.meetings >= LEAST_MEETINGS and c.days >= LEAST_DAYS]
    often = sorted((c for c in often if names_of(c.key)), key=lambda c: (-c.meetings, c.key))
    mostly = [c for c in often if 2 * c.meetings >= often[0].meetings][:MOST_REGULARS]
    if not mostly:
        return ()
    names = list(dict.fromkeys(fit_name(names_of(each.key)[0]) for each in mostly))
    numbers = {number for each in mostly for number in (*each.numbers[:1], *each.numbers[-2:])}
    text = f"You mostly meet {listed(names)} here."
    return (Conclusion(text, tuple(sorted(numbers)), max(each.last for each in mostly)),)


def _weighty(profile: Profile) -> tuple[Conclusion, ...]:
    """What mattered most of all that happened at a place, as whoever said or did it."""
    own = (_OWN, HEARSAY, profile.name)  # of its own acts the results are enough
    seen = [
        each
        for each in profile.observations
        if each.weight >= WEIGHTY and not each.text.startswith(own) and _happened(each.text)
    ]
    # Of one person the weightiest alone: nobody has all that is told of a place.
    order = sorted(seen, key=lambda each: (each.weight, each.number))
    best = list({_doer(each.text): each for each in order}.values())
    best = sorted(best, key=lambda each: (each.weight, each.number))[-MOST_WEIGHTY:]
    return tuple(
        Conclusion(
            f"On {_day(each.time)} this mattered here: {quoted(each.text)}",
            (each.number,),
            each.time,
        )
        for each in sorted(best, key=lambda each: each.number)
    )


def _happened(text: str) -> bool:
    """Whether an observation is a deed, or what somebody says of themselves: gossip is neither."""
    talk = SPEAKER.match(text)
    if talk is None or not talk["said"]:
        return is_fit(text)
    words = talk["words"].strip("' ")
    return is_fit(text) and any(map(_OF_SELF.match, statements(words)))


def _doer(text: str) -> str:
    """Who said or did what an observation tells, as far as its beginning says so."""
    talk = SPEAKER.match(text)
    return talk["who"] if talk else text.partition(" ")[0]


def _way(profile: Profile) -> tuple[Conclusion, ...]:
    """Who gave a thing, to whom it went, and where it is as far as the agent knows."""
    known = [f for f in profile.facts if f.attribute == WHEREABOUTS and f.numbers]
    hands = sorted(known, key=lambda fact: (fact.since, fact.numbers))[-MOST_HANDS:]
    if not hands:
        return ()
    now = hands[-1].value
    where = line(now) if now.startswith(("with ", "in ")) else "where you left it"
    sure = "" if now == MINE else ", as far as you know"
    text = f"It is {where}{sure}: {'; '.join(_hand(each) for each in hands)}."
    numbers = sorted({each.numbers[0] for each in hands})
    return (Conclusion(text, tuple(numbers), hands[-1].since),)


def _hand(fact: Fact) -> str:
    """``Tom gave it to you on 3 May 2026``."""
    day, value = _day(fact.since), line(fact.value)
    if fact.value == MINE:
        by = fit_name(fact.told_by) if fact.told_by else ""
        return f"{by} gave it to you on {day}" if by else f"you took it on {day}"
    if value.startswith("with "):
        return f"you gave it to {value.removeprefix('with ')} on {day}"
    return f"you left it {value} on {day}" if value.startswith("in ") else f"you left it on {day}"


def _day(time: datetime) -> str:
    here = time.astimezone()
    return f"{here.day} {here:%b %Y}"
