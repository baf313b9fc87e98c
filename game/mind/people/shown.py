"""What a prompt says of whoever is in the room.

Quick, from what is in RAM: the cost depends on who is there, never on how many people the
agent has met. What is told comes first from whom the agent knows best; what does not fit is
left out fact by fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from game.mind.journal.entries import Origin
from game.mind.people.acquaintance import BROKEN, KEPT, closeness, feeling
from game.mind.people.book import PeopleBook
from game.mind.people.changes import same
from game.mind.people.config import PeopleConfig
from game.mind.people.fit import line, quoted
from game.mind.people.fit import name as fit_name
from game.mind.people.observing import MEETING
from game.mind.people.profile import Closeness, Fact, Kind, Profile
from game.mind.people.surroundings import PLACE
from game.mind.perception import for_prompt
from game.mind.ports import Tokens

MOST_FACTS = 10
"""Facts of one person that a prompt shows."""
MOST_THOUGHTS = 2
_RENAMED = timedelta(days=30)
_LONGEST_LINE = 700
_ORDER = (
    *("promise", BROKEN, KEPT, "name", "work", "home", "spouse", "betrothed", "plan", "birthday"),
    *("children", "son", "daughter", "brother", "sister", "mother", "father"),
)
_PROMISES = {"promise": "promised", BROKEN: "broke a promise", KEPT: "kept a promise"}
_DATED = frozenset({"plan", "birthday"})
"""What may be told by "tomorrow" or "next Tuesday", of whatever day it was told on."""
_SORT = {attribute: place for place, attribute in enumerate(_ORDER)}
_RANK = {close: rank for rank, close in enumerate(reversed(Closeness))}


@dataclass(frozen=True, slots=True)
class Present:
    """Somebody who is there, or the place itself.

    Attributes:
        key: Who it is; ``place:…`` for the place.
        name: What they are called now.
    """

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class _Line:
    """What is said of one person, beside who it is."""

    last: str = ""
    facts: tuple[tuple[Fact, str], ...] = ()
    thoughts: tuple[str, ...] = ()

    def with_more(self, other: _Line) -> _Line:
        """Both together."""
        return _Line(
            other.last or self.last,
            (*self.facts, *other.facts),
            (*self.thoughts, *other.thoughts),
        )


@dataclass(frozen=True, slots=True)
class _Told:
    """What can be said of one person: who it is, and the rest, the most telling first."""

    name: str
    head: str
    rest: Sequence[_Line] = ()

    def filled(self, room: int, tokens: Tokens) -> str:
        """The head with as much of the rest as there is room for."""
        best, text = _Line(), self.head
        for each in self.rest:
            more = best.with_more(each)
            longer = _text(self.head, more, self.name)
            if tokens.of(longer) <= room:
                best, text = more, longer
        return text


def lines(
    present: Sequence[Present],
    book: PeopleBook,
    config: PeopleConfig,
    now: datetime,
    tokens: Tokens,
) -> tuple[str, ...]:
    """Lines for a prompt about ``present``, best known first, without a bullet.

    Args:
        present: Who is there, and the place; each once.
        book: Where :meth:`.book.PeopleBook.load` was called for their keys.
        config: How much may be shown.
        now: The present time, with time zone.
        tokens: What a line costs.

    Returns:
        At most ``config.shown`` people within ``config.budget`` tokens; none at all for 0.
    """
    if config.budget <= 0:
        return ()
    known = [(each, book.loaded(each.key) or book.head(each.key)) for each in present]
    places = [_place_line(each, profile, now) for each, profile in known if _is_place(each)]
    people = [(each, profile) for each, profile in known if not _is_place(each)]
    best = sorted(people, key=lambda each: _nearness(each[1], now))[: config.shown]
    told = _within([_told(each, profile, now) for each, profile in best], config.budget, tokens)
    room = config.budget - sum(map(tokens.of, told))
    return (*told, *(text for text in places if text and tokens.of(text) <= room))


def _within(people: Sequence[_Told], room: int, tokens: Tokens) -> list[str]:
    """A line for each, as long as there is room; whoever comes after is at least named."""
    costs = [tokens.of(each.head) for each in people]
    lines: list[str] = []
    for place, (each, cost) in enumerate(zip(people, costs, strict=True)):
        if cost > room:
            break
        others = min(sum(costs[place + 1 :]), room // 2)
        lines.append(each.filled(room - others, tokens))
        room -= tokens.of(lines[-1])
    return lines


def _is_place(each: Present) -> bool:
    return each.key.startswith(PLACE)


def _nearness(profile: Profile | None, now: datetime) -> tuple[int, int]:
    if profile is None:
        return len(_RANK), 0
    return _RANK[closeness(profile, now)], -profile.exchanges


def _head(each: Present, profile: Profile | None, now: datetime) -> str:
    """Who that is: ``Tom, a friend, last met 3 days ago``, and what is felt for them."""
    name = fit_name(each.name)
    if profile is None or profile.kind is not Kind.PERSON:
        return f"{name}, whom you have never met."
    close = closeness(profile, now)
    known_as = _known_as(name, profile, now)
    met = _met(profile, now)
    if close is Closeness.STRANGER and not feeling(profile):
        return f"{name}{known_as}, a stranger, {met}."
    article = "an" if close is Closeness.ACQUAINTANCE else "a"
    felt = f"; {feeling(profile)}" if feeling(profile) else ""
    return f"{name}{known_as}, {article} {close.value}, {met}{felt}."


def _known_as(name: str, profile: Profile, now: datetime) -> str:
    """The name before, as long as the new one is new."""
    former = [each for each in profile.names if each.name != name]
    if not former or (profile.name == name and now - profile.names[-1].since > _RENAMED):
        return ""
    return f" (you knew them as {former[-1].name})"


def _met(profile: Profile, now: datetime) -> str:
    here_now = now - profile.last_met < MEETING
    last = profile.before if here_now else profile.last_met
    return f"last met {_ago(now - last)}" if last is not None else "met just now for the first time"


def _told(each: Present, profile: Profile | None, now: datetime) -> _Told:
    head = _head(each, profile, now)
    if profile is None or profile.kind is not Kind.PERSON:
        return _Told(fit_name(each.name), head)
    return _Told(fit_name(each.name), head, _trials(profile, now))


def _trials(profile: Profile, now: datetime) -> list[_Line]:
    """What may be added, the most telling first, one at a time."""
    trials = []
    if profile.shared is not None:
        shared = f"{profile.shared.text.rstrip('.')} (memory {profile.shared.number})"
        trials.append(_Line(last=shared))
    trials += [_Line(facts=(each,)) for each in _facts(profile, now)]
    thoughts = [each.text for each in profile.conclusions[-MOST_THOUGHTS:]]
    return [*trials[:4], *(_Line(thoughts=(each,)) for each in thoughts), *trials[4:]]


def _text(head: str, chosen: _Line, name: str) -> str:
    promised = [said for fact, said in chosen.facts if fact.attribute in _PROMISES]
    facts = [each for each in chosen.facts if each[0].attribute not in _PROMISES]
    told = [said for fact, said in facts if fact.origin is Origin.TOLD]
    known = [said for fact, said in facts if fact.origin is not Origin.TOLD]
    parts = [
        head,
        *(f"{name} {said}." for said in promised),
        f"{name} told you: {'; '.join(told)}." if told else "",
        f"You know: {'; '.join(known)}." if known else "",
        f"You think: {' '.join(_stopped(each) for each in chosen.thoughts)}"
        if chosen.thoughts
        else "",
        f"Last: {chosen.last}." if chosen.last else "",
    ]
    return for_prompt(" ".join(part for part in parts if part), limit=_LONGEST_LINE * 2)


def _stopped(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _facts(profile: Profile, now: datetime) -> list[tuple[Fact, str]]:
    """Facts as they are told, the most telling first; what is over beside what took its place."""
    holding = [fact for fact in profile.facts if fact.holds and not _is_known(fact, profile)]
    order = sorted(
        holding, key=lambda f: (_SORT.get(f.attribute, len(_SORT)), -f.since.timestamp())
    )
    told = [(fact, _fact(fact, _previous(profile, fact), now)) for fact in order]
    attributes = {fact.attribute for fact in holding}
    over = [
        fact
        for fact in profile.facts
        if not fact.holds and fact.attribute not in attributes and fact.attribute != "promise"
    ]
    latest = {fact.attribute: fact for fact in over}
    told += [
        (fact, f"no longer {fact.attribute}: {fact.value} (until {_day(fact.until, now)})")
        for fact in latest.values()
    ]
    return told[:MOST_FACTS]


def _fact(fact: Fact, before: Fact | None, now: datetime) -> str:
    value = line(fact.value)
    if fact.attribute in _PROMISES:
        return f"{_PROMISES[fact.attribute]}: {quoted(fact.value)} ({_day(fact.since, now)})"
    if fact.attribute in _DATED:
        value = f"{value} (said on {_day(fact.since, now)})"
    if before is None:
        return f"{fact.attribute}: {value}"
    return (
        f"{fact.attribute}: {value} (before: {line(before.value)}, until {_day(before.until, now)})"
    )


def _is_known(fact: Fact, profile: Profile) -> bool:
    """Whether a fact only says what the line begins with: what they are called."""
    return fact.attribute == "name" and fact.value.casefold() == profile.name.casefold()


def _previous(profile: Profile, fact: Fact) -> Fact | None:
    """What held before a fact of which there is one at a time."""
    over = [
        each
        for each in profile.facts
        if each.attribute == fact.attribute
        and not same(each.value, fact.value)
        and each.until is not None
        and each.until <= fact.since
    ]
    return max(over, key=lambda each: each.until or each.since, default=None)


def _place_line(each: Present, profile: Profile | None, now: datetime) -> str:
    """What is worth saying of a place; empty for one that says nothing."""
    name = fit_name(each.name)
    if profile is None or (profile.meetings == 1 and now - profile.first_met < MEETING):
        return f"{name}: you are here for the first time."
    thoughts = " ".join(_stopped(t.text) for t in profile.conclusions[-MOST_THOUGHTS:])
    return for_prompt(f"{name}, where you have been before: {thoughts}") if thoughts else ""


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
