"""What a prompt says of whoever is in the room.

Quick, from what is in RAM: the cost depends on who is there, never on how many people the
agent has met. What is told comes first from whom the agent knows best; what does not fit is
left out fact by fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

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
_PROMISED, _TOLD, _KNOWN, _THOUGHT, _LAST = "promised", "told", "known", "thought", "last"
_RANK = {close: rank for rank, close in enumerate(reversed(Closeness))}


@dataclass(frozen=True, slots=True)
class Present:
    """Somebody who is there, or the place itself."""

    key: str
    name: str
    home: bool = False


class _Part(NamedTuple):
    """Something that may be said of a person, and in which sentence of their line."""

    slot: str
    text: str


@dataclass(frozen=True, slots=True)
class _PersonLine:
    """What can be said of one person: who it is, and the rest, the most telling first."""

    name: str
    head: str
    rest: Sequence[_Part] = ()

    def filled(self, room: int, tokens: Tokens) -> str:
        """The head with as much of the rest as there is room for.

        What each part costs is asked by itself: parts stay what they are from one minute to the
        next, and need be counted only once.
        """
        left, chosen = room - tokens.of(self.head), list[_Part]()
        for each in self.rest:
            if (cost := tokens.of(each.text)) <= left:
                chosen.append(each)
                left -= cost
        # What stands between the parts costs as well.
        while chosen and tokens.of(self._with(chosen)) > room:
            chosen.pop()
        return self._with(chosen) if chosen else self.head

    def _with(self, chosen: Sequence[_Part]) -> str:
        said: dict[str, list[str]] = {}
        for slot, text in chosen:
            said.setdefault(slot, []).append(text)
        sentences = [
            self.head,
            *(f"{self.name} {each}." for each in said.get(_PROMISED, ())),
            *(f"{self.name} told you: {'; '.join(each)}." for each in [said.get(_TOLD)] if each),
            *(f"You know: {'; '.join(each)}." for each in [said.get(_KNOWN)] if each),
            *(f"You think: {' '.join(each)}" for each in [said.get(_THOUGHT)] if each),
            *(f"Last: {each}." for each in said.get(_LAST, ())),
        ]
        return for_prompt(" ".join(sentences), limit=_LONGEST_LINE * 2)


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

    Args:
        present: Who is there, and where.
        book: What is known of them.
        config: How much may be said.
        now: The present time, with time zone.
        tokens: Knows what a line costs.
        may: Whether anybody may hear what rests on the memories of those numbers.

    Returns:
        At most ``config.shown`` people within ``config.budget`` tokens; none at all for 0.
    """
    if config.budget <= 0:
        return ()
    found = [(each, book.loaded(each.key) or book.head(each.key)) for each in present]
    known = [(each, hearable(known, may) if known else None) for each, known in found]
    people = [(each, profile) for each, profile in known if not _is_place(each)]
    best = sorted(people, key=lambda each: _nearness(each[1], now))[: config.shown]
    told = _within([_told(each, profile, now) for each, profile in best], config.budget, tokens)
    room = config.budget - sum(map(tokens.of, told))
    for each, profile in known:
        if _is_place(each) and (text := _place_line(each, profile, now, room, tokens)):
            told.append(text)
            room -= tokens.of(text)
    return tuple(told)


def _within(people: Sequence[_PersonLine], room: int, tokens: Tokens) -> list[str]:
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


def _told(each: Present, profile: Profile | None, now: datetime) -> _PersonLine:
    known = profile is not None and profile.kind is ProfileKind.PERSON
    rest = _parts(profile, now) if profile is not None and known else ()
    return _PersonLine(fit_name(each.name), _head(each, profile, now), rest)


def _parts(profile: Profile, now: datetime) -> list[_Part]:
    """What may be added, the most telling first."""
    parts = []
    if (shared := profile.shared) is not None:
        parts.append(_Part(_LAST, f"{shared.text.rstrip('.')} (memory {shared.number})"))
    parts += [_Part(_slot(fact), said) for fact, said in told_facts(profile, now)]
    thoughts = (_stopped(each.text) for each in profile.conclusions[-MOST_THOUGHTS:])
    return [*parts[:4], *(_Part(_THOUGHT, each) for each in thoughts), *parts[4:]]


def _slot(fact: Fact) -> str:
    if fact.attribute in PROMISES:
        return _PROMISED
    return _TOLD if fact.origin is EntryOrigin.TOLD else _KNOWN


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
