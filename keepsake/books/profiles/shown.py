"""What a prompt says of whoever is in the room.

Quick, from what is in RAM: the cost depends on who is there, never on how many people the
agent has met. What is told comes first from whom the agent knows best; what does not fit is
left out fact by fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from keepsake.books.journal.entries import EntryOrigin
from keepsake.books.profiles.book import PeopleBook
from keepsake.books.profiles.changes import same
from keepsake.books.profiles.config import PeopleConfig
from keepsake.books.profiles.feelings import BROKEN, KEPT, closeness, feeling
from keepsake.books.profiles.profile import MEETING, PLACE, Closeness, Fact, Profile, ProfileKind
from keepsake.language.facts import SAID
from keepsake.language.fit import line, quoted
from keepsake.language.fit import name as fit_name
from keepsake.language.perception import for_prompt
from keepsake.language.words import closed
from keepsake.ports import Tokens

MOST_FACTS, MOST_THOUGHTS, MOST_OF_PLACE = 10, 2, 3
"""Facts and conclusions that a prompt shows of a person, and conclusions of the place."""
_RENAMED = timedelta(days=30)
_LONGEST_LINE = 700
_JUST_NOW = timedelta(minutes=5)
_RANK = {close: rank for rank, close in enumerate(reversed(Closeness))}

_ORDER = (
    *("promise", BROKEN, KEPT, "name", "work", "home", "spouse", "betrothed", "plan", "birthday"),
    *("children", "son", "daughter", "brother", "sister", "mother", "father"),
)
_SORT = {attribute: place for place, attribute in enumerate(_ORDER)}
_PROMISES = {"promise": "promised", BROKEN: "broke a promise", KEPT: "kept a promise"}
_DATED = frozenset({"plan", "birthday"})
"""What may be told by "tomorrow" or "next Tuesday", of whatever day it was told on."""

_SENTENCES = (
    ("promised", "{name} {told}."),
    ("told", "{name} told you: {told}."),
    ("known", "You know: {told}."),
    ("thought", "You think: {told}"),
    ("last", "Last: {told}."),
)
"""How a line about a person says what is told of them, in this order."""
_JOINED_BY = {"promised": ". {name} ", "thought": " "}

type _Part = tuple[str, str]
"""Something that may be said of a person: in which sentence, and the words."""


@dataclass(frozen=True, slots=True)
class Present:
    """Somebody who is there, or the place itself."""

    key: str
    name: str
    home: bool = False


def hearable(profile: Profile, may: Callable[[Iterable[int]], bool]) -> Profile:
    """The profile without what rests on memories that may not be heard.

    Of a fact each memory alone says it; of a conclusion all of them do.
    """
    shared = profile.shared
    return replace(
        profile,
        facts=tuple(f for f in profile.facts if not f.numbers or any(may((n,)) for n in f.numbers)),
        observations=tuple(each for each in profile.observations if may((each.number,))),
        conclusions=tuple(each for each in profile.conclusions if may(each.numbers)),
        shared=shared if shared is None or may((shared.number,)) else None,
    )


def lines(  # noqa: PLR0917 - what a thought knows, in the order in which it says it
    present: Sequence[Present],
    book: PeopleBook,
    config: PeopleConfig,
    now: datetime,
    tokens: Tokens,
    may: Callable[[Iterable[int]], bool] = lambda _: True,
) -> tuple[str, ...]:
    """Lines for a prompt about ``present``, best known first, without a bullet.

    ``may``: Whether anybody may hear what rests on the memories of those numbers.

    Returns:
        At most ``config.shown`` people within ``config.budget`` tokens; none at all for 0.
    """
    if config.budget <= 0:
        return ()
    found = [(each, book.loaded(each.key)) for each in present]
    known = [(each, hearable(known, may) if known else None) for each, known in found]
    people = [(each, profile) for each, profile in known if not each.key.startswith(PLACE)]
    best = sorted(people, key=lambda each: _nearness(each[1], now))[: config.shown]
    told, room = _within(best, config.budget, now, tokens)
    for each, profile in known:
        text = _place_line(each, profile, now, room, tokens) if each.key.startswith(PLACE) else ""
        if text:
            told.append(text)
            room -= tokens.of(text)
    return tuple(told)


def _nearness(profile: Profile | None, now: datetime) -> tuple[int, int]:
    if profile is None:
        return len(_RANK), 0
    return _RANK[closeness(profile, now)], -profile.exchanges


def _within(
    people: Sequence[tuple[Present, Profile | None]], room: int, now: datetime, tokens: Tokens
) -> tuple[list[str], int]:
    """A line for each, and the room left; whoever comes after is at least named."""
    heads = [_head(each, profile, now) for each, profile in people]
    costs = [tokens.of(head) for head in heads]
    told: list[str] = []
    for place, (each, profile) in enumerate(people):
        if costs[place] > room:
            break
        others = min(sum(costs[place + 1 :]), room // 2)
        parts = _parts(profile, now) if profile else []
        told.append(_filled(fit_name(each.name), heads[place], parts, room - others, tokens))
        room -= tokens.of(told[-1])
    return told, room


def _filled(name: str, head: str, parts: Sequence[_Part], room: int, tokens: Tokens) -> str:
    """The head with as many of the parts as there is room for.

    What each part costs is asked by itself: parts stay what they are from one minute to the
    next, and need be counted only once.
    """
    left, chosen = room - tokens.of(head), list[_Part]()
    for part in parts:
        if (cost := tokens.of(part[1])) <= left:
            chosen.append(part)
            left -= cost
    # What stands between the parts costs as well.
    while chosen and tokens.of(_joined(name, head, chosen)) > room:
        chosen.pop()
    return _joined(name, head, chosen) if chosen else head


def _joined(name: str, head: str, parts: Sequence[_Part]) -> str:
    sentences = [head]
    for slot, sentence in _SENTENCES:
        if texts := [text for each, text in parts if each == slot]:
            told = _JOINED_BY.get(slot, "; ").replace("{name}", name).join(texts)
            sentences.append(sentence.format(name=name, told=told))
    return for_prompt(" ".join(sentences), limit=_LONGEST_LINE * 2)


# -- a person


def _head(each: Present, profile: Profile | None, now: datetime) -> str:
    """Who that is: ``Tom, a friend, last met 3 days ago``, and what is felt for them."""
    name = fit_name(each.name)
    if profile is None or profile.kind is not ProfileKind.PERSON:
        return f"{name}, whom you have never met."
    close, felt = closeness(profile, now), feeling(profile)
    article = "an" if close is Closeness.ACQUAINTANCE else "a"
    who = f"{name}{_known_as(name, profile, now)}, {article} {close.value}"
    return f"{who}, {_met(profile, now)}{f'; {felt}' if felt else ''}."


def _known_as(name: str, profile: Profile, now: datetime) -> str:
    """The name before, as long as the new one is new."""
    former = [each for each in profile.names if each.name != name]
    if not former or (profile.name == name and now - profile.names[-1].since > _RENAMED):
        return ""
    return f" (you knew them as {former[-1].name})"


def _met(profile: Profile, now: datetime) -> str:
    here_now = now - profile.last_met < MEETING
    last = profile.before if here_now else profile.last_met
    if last is not None:
        return f"last met {_ago(now - last)}"
    if now - profile.first_met < _JUST_NOW:
        return "met just now for the first time"
    return f"met for the first time {_ago(now - profile.first_met)}"


def _parts(profile: Profile, now: datetime) -> list[_Part]:
    """What may be added, the most telling first."""
    if profile.kind is not ProfileKind.PERSON:
        return []
    parts = []
    if (shared := profile.shared) is not None:
        parts.append(("last", f"{shared.text.rstrip('.')} (memory {shared.number})"))
    parts += _facts(profile, now)
    thoughts = [("thought", closed(each.text)) for each in profile.conclusions[-MOST_THOUGHTS:]]
    return [*parts[:4], *thoughts, *parts[4:]]


def _facts(profile: Profile, now: datetime) -> list[_Part]:
    """Facts as they are told, the most telling first; what is over beside what took its place."""
    holding = [
        fact
        for fact in profile.facts
        if fact.holds  # what they are called is what the line begins with
        and not (fact.attribute == "name" and fact.value.casefold() == profile.name.casefold())
    ]
    holding.sort(key=lambda f: (_SORT.get(f.attribute, len(_SORT)), -f.since.timestamp()))
    told = [(_slot(fact), _fact(fact, _previous(profile, fact), now)) for fact in holding]
    attributes = {"promise", *(fact.attribute for fact in holding)}
    over = [f for f in profile.facts if not f.holds and f.attribute not in attributes]
    told += [
        (_slot(fact), f"no longer {name}: {fact.value} (until {_day(fact.until, now)})")
        for name, fact in {fact.attribute: fact for fact in over}.items()
    ]
    return told[:MOST_FACTS]


def _slot(fact: Fact) -> str:
    if fact.attribute in _PROMISES:
        return "promised"
    return "told" if fact.origin is EntryOrigin.TOLD else "known"


def _fact(fact: Fact, before: Fact | None, now: datetime) -> str:
    value, said_on = line(fact.value), f"(said on {_day(fact.since, now)})"
    if fact.attribute == SAID:
        return f"{quoted(fact.value)} {said_on}"
    if fact.attribute in _PROMISES:
        return f"{_PROMISES[fact.attribute]}: {quoted(fact.value)} ({_day(fact.since, now)})"
    if fact.attribute in _DATED:
        value = f"{value} {said_on}"
    was = f" (before: {line(before.value)}, until {_day(before.until, now)})" if before else ""
    return f"{fact.attribute}: {value}{was}"


def _previous(profile: Profile, fact: Fact) -> Fact | None:
    """What held before a fact of which there is one at a time."""
    over = [
        (each.until, -place, each)
        for place, each in enumerate(profile.facts)
        if each.attribute == fact.attribute
        and each.until is not None
        and each.until <= fact.since
        and not same(each.value, fact.value)
    ]
    return max(over)[-1] if over else None


# -- a place


def _place_line(
    each: Present, profile: Profile | None, now: datetime, room: int, tokens: Tokens
) -> str:
    """What is worth saying of a place, thought by thought; empty for what has no room."""
    name = fit_name(each.name)
    new = profile is None or (profile.meetings == 1 and now - profile.first_met < MEETING)
    if new and not each.home:
        text = f"{name}: you are here for the first time."
        return text if tokens.of(text) <= room else ""
    where = "where you live" if each.home else "where you have been before"
    thoughts = [closed(t.text) for t in profile.conclusions[-MOST_OF_PLACE:]] if profile else []
    while thoughts:
        text = for_prompt(f"{name}, {where}: {' '.join(thoughts)}", limit=_LONGEST_LINE)
        if tokens.of(text) <= room:
            return text
        del thoughts[0]  # the last is the most telling
    return ""


# -- words


def _day(time: datetime | None, now: datetime) -> str:
    """``12 Nov``, with the year if it is another."""
    if time is None:
        return "now"
    here = time.astimezone(now.tzinfo)
    return f"{here.day} {here:%b}" if here.year == now.year else f"{here.day} {here:%b %Y}"


def _ago(span: timedelta) -> str:
    minutes = max(int(span.total_seconds() // 60), 0)
    for size, unit in ((525_600, "year"), (43_200, "month"), (1440, "day"), (60, "hour")):
        if minutes >= size:
            count = minutes // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return f"{minutes} minutes ago" if minutes > 1 else "a moment ago"
