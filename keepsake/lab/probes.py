"""Lives made up to be asked about: visitors plant what they tell, and ask for it later.

Each thing is planted once, among the talk of a village (its load, in memories a day), and asked for
an hour, a day and a week later, in other words each time. So one life shows what a memory still
knows over time; several loads show what it costs to live among many. Content: ``probes.yaml``.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from keepsake.archive.privacy import WHISPER
from keepsake.archive.records import Memory, MemoryKind
from keepsake.lab.benchmarks import Trial, TrialQuestion

AGENT, PLACE = "Mira", "The Kettle"
START = datetime(2026, 5, 4, 8, tzinfo=UTC)
DAYS = 9
"""A week after the last of two days in which something is planted."""
LOADS = (20, 100)
"""Memories a day beside what is planted."""
LIMIT = 5
"""Lines that are recalled for a question, as in the world's prompts."""
DELAYS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}
_WAKING = timedelta(hours=14)
_VISITING = timedelta(hours=11)
_LATER = timedelta(hours=16)
"""The time after which a visitor tells of a change, or contradicts another visitor."""
_CONTENT: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("probes.yaml").read_text("utf-8")
)


@dataclass(frozen=True, slots=True)
class _Plant:
    """Something that is told once, and how it is asked for."""

    kind: str
    time: datetime
    who: str
    line: str
    asked: tuple[str, ...]
    value: str
    other: str = ""  # to whom it is said, where not to the agent
    event: str = "talk"
    wrong: tuple[str, ...] = ()
    answerable: bool = True

    def memory(self) -> Memory:
        """The line as the agent lives it; its number comes later."""
        if self.event == "own":
            own, to = f"say {self.line}", id_of(self.who)
            return Memory(0, self.time, MemoryKind.ACT, own, PLACE, to=self.who, to_id=to)
        verbs = {WHISPER: "whispers to you", "say": f"says to {self.other}"}
        verb = verbs.get(self.event, "says to you")
        return _said(self.time, self.who, f'{self.who} {verb}, "{self.line}"', self.event)


def probe_trials(seed: int = 7, loads: Sequence[int] = LOADS, lives: int = 1) -> list[Trial]:
    """The lives of a seed: ``lives`` of each load, with the same facts planted."""
    found = []
    for life, load in itertools.product(range(lives), loads):
        plants = _plants(random.Random(f"{seed} {life}"))
        around = _chatter(random.Random(f"{seed} {life} {load}"), load)
        lived: list[tuple[Memory, _Plant | None]] = [(memory, None) for memory in around]
        lived += [(plant.memory(), plant) for plant in plants if plant.line]
        lived.sort(key=lambda each: each[0].time)
        memories = [replace(memory, number=n) for n, (memory, _) in enumerate(lived, 1)]
        questions = [q for plant in plants if not plant.line for q in _asked(plant, 0)]
        for number, (_, plant) in enumerate(lived, 1):
            questions += _asked(plant, number) if plant else ()
        # Not by the seed of the next one: figures of both would be taken for one question's.
        which = f"seed {seed}, life {life + 1}" if life else f"seed {seed}"
        name = f"probes, {which}, {load} a day"
        found.append(Trial(name, AGENT, tuple(memories), tuple(questions), load))
    return found


def id_of(name: str) -> str:
    """Who that is, whatever they are called."""
    return f"visitor-{name.casefold()}"


# -- what is planted


class _Visitors:
    """Who comes, each at a time of their own on one of the first two days."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.names: list[str] = _CONTENT["visitors"].split()
        self._at: dict[str, datetime] = {}
        self._next = 0
        chance.shuffle(self.names)
        for place, name in enumerate(self.names):
            part = (place // 2 + 0.2 + 0.6 * chance.random()) / (len(self.names) // 2)
            self._at[name] = START + timedelta(days=place % 2) + _VISITING * part

    def next(self, without: Sequence[str] = ()) -> str:
        """Whose turn it is to tell something."""
        while True:
            self._next += 1
            if (name := self.names[self._next % len(self.names)]) not in without:
                return name

    def moment(self, name: str) -> datetime:
        """When they say the next thing."""
        self._at[name] += timedelta(minutes=1)
        return self._at[name]


def _plants(chance: random.Random) -> list[_Plant]:
    visitors = _Visitors(chance)
    found: list[_Plant] = []
    for place, each in enumerate(_CONTENT["attributes"]):
        found += _attribute(each, visitors, turn=place)
    for kind in ("rule", "promise", "overheard", "secret"):
        for each in _CONTENT[kind]:
            values = chance.sample(each["of"], 2)
            found += [_single(kind, each, visitors, value) for value in values]
    return found


def _attribute(each: Mapping[str, Any], visitors: _Visitors, turn: int) -> Iterator[_Plant]:
    """The same thing of three visitors: one changes it, of one others say what is not so."""
    values = visitors.chance.sample(each["of"], 6)
    told: list[_Plant] = []
    for value in values[:3]:
        who = visitors.next([plant.who for plant in told])
        line = each["told"].format(v=value)
        told.append(_Plant("fact", visitors.moment(who), who, line, tuple(each["asked"]), value))
    plain, updated, claimed = told
    others, tellers = values[:3], [plant.who for plant in told]
    yield _without(plain, others)
    if now := each.get("now"):
        yield replace(updated, asked=())
        line, later = now.format(v=values[3]), _after(updated.time)
        updated = replace(updated, kind="update", time=later, line=line, value=values[3])
    yield _without(updated, others)
    rumour = each["said_by_others"].format(who=claimed.who, v=values[4])
    teller = visitors.next(tellers)
    yield _without(replace(claimed, kind="contradiction"), [*others, values[4]])
    yield _Plant("claim", _after(claimed.time), teller, rumour, (), values[4])
    stranger = visitors.next([*tellers, teller])
    asked, wrong = tuple(each["asked"][turn % 3 : turn % 3 + 1]), tuple(values[:5])
    when = visitors.moment(stranger)
    yield _Plant("never told", when, stranger, "", asked, "", wrong=wrong, answerable=False)


def _without(plant: _Plant, others: Sequence[str]) -> _Plant:
    return replace(plant, wrong=tuple(other for other in others if other != plant.value))


def _after(time: datetime) -> datetime:
    """Some hours later, by day."""
    later = time + _LATER
    by_day = 8 <= later.hour < 21
    return later if by_day else later.replace(hour=9) + timedelta(days=later.hour >= 21)


def _single(kind: str, each: Mapping[str, Any], visitors: _Visitors, value: str) -> _Plant:
    """Something that only one visitor tells."""
    who = visitors.next()
    other = visitors.next([who])
    slots = {"v": value, "who": who, "other": other}
    line = each.get("told") or each["own"]
    event = {"overheard": "say", "secret": WHISPER}.get(kind, "talk" if "told" in each else "own")
    asked = tuple(text.format_map(slots) for text in each["asked"])
    line = line.format_map(slots)
    return _Plant(kind, visitors.moment(who), who, line, asked, value, other, event)


# -- what is asked


def _asked(plant: _Plant, number: int) -> Iterator[TrialQuestion]:
    delays = DELAYS.items() if plant.answerable else [("day", DELAYS["day"])]
    for (delay, after), text in zip(delays, plant.asked, strict=False):
        asker = plant.other if plant.kind == "overheard" else plant.who
        yield TrialQuestion(
            id=f"{plant.kind} {number} {delay} {plant.who}",
            text=text,
            time=plant.time + after,
            kind=plant.kind,
            answers=(plant.value,) if plant.answerable else (),
            evidence=frozenset({number} - {0}),
            stale=plant.wrong,
            asker=asker,
            audience=frozenset({id_of(asker)}),
            kept_from=frozenset({id_of("somebody else")} if plant.event == WHISPER else ()),
            delay=after,
            about=f"{plant.kind} {plant.who} {plant.time:%d %H:%M:%S.%f}",
            answerable=plant.answerable,
        )


# -- what happens beside it


def _said(time: datetime, who: str, text: str, event: str) -> Memory:
    kind = MemoryKind.PERCEPTION
    return Memory(0, time, kind, text, PLACE, source=who, source_id=id_of(who), event=event)


def _chatter(chance: random.Random, load: int) -> Iterator[Memory]:
    """``load`` lines a day of the village's own people, with an answer now and then."""
    people = [*_CONTENT["visitors"].split(), *_CONTENT["slots"]["name"]]
    for day in range(DAYS):
        for moment in sorted(chance.random() for _ in range(load)):
            time = START + timedelta(days=day) + _WAKING * moment
            slots = {name: chance.choice(values) for name, values in _CONTENT["slots"].items()}
            slots["name"], slots["other"] = chance.sample(people, 2)
            if chance.random() < 0.15:
                own = chance.choice(_CONTENT["answers"]).format_map(slots)
                yield Memory(0, time, MemoryKind.ACT, own, PLACE, to=slots["name"])
                continue
            text = chance.choice(_CONTENT["chatter"]).format_map(slots)
            event = "talk" if "to you," in text else "say" if "says" in text else ""
            yield _said(time, slots["name"], text, event)
