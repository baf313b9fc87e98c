"""What a prompt says of whoever is in the room.

Quick, from what is in RAM: the cost depends on who is there, never on how many people the
agent has met. What is told comes first from whom the agent knows best; what does not fit is
left out fact by fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from game.mind.books.journal.entries import EntryOrigin
from game.mind.books.profiles.acquaintance import closeness, feeling
from game.mind.books.profiles.book import PeopleBook
from game.mind.books.profiles.config import PeopleConfig
from game.mind.books.profiles.observing import MEETING
from game.mind.books.profiles.profile import Closeness, Fact, Profile, ProfileKind
from game.mind.books.profiles.shown_facts import PROMISES, told_facts
from game.mind.books.profiles.surroundings import PLACE
from game.mind.language.fit import name as fit_name
from game.mind.language.perception import for_prompt
from game.mind.ports import Tokens

MOST_THOUGHTS = 2
MOST_OF_PLACE = 3
"""Conclusions that a prompt shows of a person, and of the place."""
_RENAMED = timedelta(days=30)
_LONGEST_LINE = 700
_JUST_NOW = timedelta(minutes=5)
_RANK = {close: rank for rank, close in enumerate(reversed(Closeness))}


@dataclass(frozen=True, slots=True)
class Present:
    """Somebody who is there, or the place itself.

    Attributes:
        key: Who it is; ``place:…`` for the place.
        name: What they are called now.
        home: Whether the place is where the agent lives: nobody is there for the first time.
    """

    key: str
    name: str
    home: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    """What is said of one person, beside who it is."""

    last: str = ""
    facts: tuple[tuple[Fact, str], ...] = ()
    thoughts: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it, without what stands between."""
        return " ".join([self.last, *(said for _, said in self.facts), *self.thoughts]).strip()

    def with_more(self, other: _Line) -> _Line:
        """Both together."""
        return _Line(
            other.last or self.last,
            (*self.facts, *other.facts),
            (*self.thoughts, *other.thoughts),
        )


@dataclass(frozen=True, slots=True)
class _PersonLines:
    """What can be said of one person: who it is, and the rest, the most telling first."""

    name: str
    head: str
    rest: Sequence[_Line] = ()

    def filled(self, room: int, tokens: Tokens) -> str:
        """The head with as much of the rest as there is room for.

        What each part costs is asked by itself: parts stay what they are from one minute to the
        next, and need be counted only once.
        """
        left, chosen = room - tokens.of(self.head), list[_Line]()
        for each in self.rest:
            if (cost := tokens.of(each.text)) <= left:
                chosen.append(each)
                left -= cost
        # What stands between the parts costs as well.
        while chosen and tokens.of(self._with(chosen)) > room:
            chosen.pop()
        return self._with(chosen)

    def _with(self, chosen: Sequence[_Line]) -> str:
        best = _Line()
        for each in chosen:
            best = best.with_more(each)
        return _text(self.head, best, self.name) if chosen else self.head


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
    people = [(each, profile) for each, profile in known if not _is_place(each)]
    best = sorted(people, key=lambda each: _nearness(each[1], now))[: config.shown]
    told = _within([_told(each, profile, now) for each, profile in best], config.budget, tokens)
    room = config.budget - sum(map(tokens.of, told))
    for each, profile in known:
        if _is_place(each) and (text := _place_line(each, profile, now, room, tokens)):
            told.append(text)
            room -= tokens.of(text)
    return tuple(told)


def _within(people: Sequence[_PersonLines], room: int, tokens: Tokens) -> list[str]:
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
    if profile is None or profile.kind is not ProfileKind.PERSON:
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
    if last is not None:
        return f"last met {_ago(now - last)}"
    if now - profile.first_met < _JUST_NOW:
        return "met just now for the first time"
    return f"met for the first time {_ago(now - profile.first_met)}"


def _told(each: Present, profile: Profile | None, now: datetime) -> _PersonLines:
    head = _head(each, profile, now)
    if profile is None or profile.kind is not ProfileKind.PERSON:
        return _PersonLines(fit_name(each.name), head)
    return _PersonLines(fit_name(each.name), head, _trials(profile, now))


def _trials(profile: Profile, now: datetime) -> list[_Line]:
    """What may be added, the most telling first, one at a time."""
    trials = []
    if profile.shared is not None:
        shared = f"{profile.shared.text.rstrip('.')} (memory {profile.shared.number})"
        trials.append(_Line(last=shared))
    trials += [_Line(facts=(each,)) for each in told_facts(profile, now)]
    thoughts = [each.text for each in profile.conclusions[-MOST_THOUGHTS:]]
    return [*trials[:4], *(_Line(thoughts=(each,)) for each in thoughts), *trials[4:]]


def _text(head: str, chosen: _Line, name: str) -> str:
    promised = [said for fact, said in chosen.facts if fact.attribute in PROMISES]
    facts = [each for each in chosen.facts if each[0].attribute not in PROMISES]
    told = [said for fact, said in facts if fact.origin is EntryOrigin.TOLD]
    known = [said for fact, said in facts if fact.origin is not EntryOrigin.TOLD]
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
    return text if text.rstrip("'").endswith((".", "!", "?", "…")) else f"{text}."


def _place_line(
    each: Present, profile: Profile | None, now: datetime, room: int, tokens: Tokens
) -> str:
    """What is worth saying of a place, thought by thought; empty for what has no room."""
    name = fit_name(each.name)
    if not each.home and _is_new(profile, now):
        text = f"{name}: you are here for the first time."
        return text if tokens.of(text) <= room else ""
    where = "where you live" if each.home else "where you have been before"
    thoughts = [_stopped(t.text) for t in profile.conclusions[-MOST_OF_PLACE:]] if profile else []
    while thoughts:
        text = for_prompt(f"{name}, {where}: {' '.join(thoughts)}", limit=_LONGEST_LINE)
        if tokens.of(text) <= room:
            return text
        del thoughts[0]  # the last is the most telling
    return ""


def _is_new(profile: Profile | None, now: datetime) -> bool:
    return profile is None or (profile.meetings == 1 and now - profile.first_met < MEETING)


def _ago(span: timedelta) -> str:
    minutes = max(int(span.total_seconds() // 60), 0)
    for size, unit in ((525_600, "year"), (43_200, "month"), (1440, "day"), (60, "hour")):
        if minutes >= size:
            count = minutes // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return f"{minutes} minutes ago" if minutes > 1 else "a moment ago"
