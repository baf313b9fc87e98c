"""Probes: generated transcripts in which visitors tell an agent facts and ask for them later.

Templates (``probes.yaml``) hold each fact in several wordings, and the questions for it. Each fact
is asked for after an hour, a day and a week. Three things are drawn independently: the facts (who,
which values, when, how many others say something similar), the wordings, and the chatter around
them (the load). So a curve over time or over loads does not depend on the wordings.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from keepsake.archive.message_types import MessageType
from keepsake.archive.old_lines import what_of
from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import ME, Manner, Person, Speech
from keepsake.lab.benchmarks import Trial, TrialQuestion

AGENT = "Mira"
PLACE = "The Kettle"
START = datetime(2026, 5, 4, 8, tzinfo=UTC)
DAYS = 9
"""Days of a transcript: facts are told on the first two, and asked for up to a week later."""
LOADS = (20, 100)
"""Memories a day beside the facts."""
DELAYS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}
_WAKING = timedelta(hours=14)
"""From the first to the last line of a day."""
_VISITING = timedelta(hours=11)
"""The part of a day in which visitors tell their facts: the last can still be asked for on it."""
_LATER = timedelta(hours=16)
"""The least delay before a template's line that is marked ``later``."""
_OTHERS = 4
"""The most other visitors who say something similar about themselves."""
_CONTENT: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("probes.yaml").read_text("utf-8")
)


def probe_trials(
    seed: int = 7,
    loads: Sequence[int] = LOADS,
    *,
    held_out: bool = False,
    wording: int | None = None,
) -> list[Trial]:
    """Return the transcripts of a seed: one per load, with the same facts and questions.

    Args:
        loads: Memories a day beside the facts.
        held_out: Use the held-out templates, on which nothing is tuned, instead of all others.
        wording: The seed of the wordings, for the same facts in other words; None for ``seed``.
    """
    trials = []
    for load in loads:
        facts = random.Random(f"{seed} 0")
        chatter = random.Random(f"{seed} 0 {load}")
        words = random.Random(f"wording {seed if wording is None else wording} 0")
        visitors = _Visitors(facts)
        filled = [
            _fill_template(number, each, visitors, words)
            for number, each in enumerate(_CONTENT["templates"])
            if each.get("held_out", False) == held_out
        ]
        found = [*(memory for heard, *_ in filled for memory in heard), *_chatter(chatter, load)]
        found.sort(key=lambda each: each.time)
        numbers = {id(memory): number for number, memory in enumerate(found, 1)}
        questions = [
            replace(each, evidence=frozenset(numbers[id(memory)] for memory in evidence))
            for _, evidence, asked in filled
            for each in asked
        ]
        memories = tuple(replace(memory, number=n) for n, memory in enumerate(found, 1))
        name = f"probes, seed {seed}{', held out' * held_out}, {load} a day"
        trials.append(Trial(name, AGENT, memories, tuple(questions), load))
    return trials


def visitor_id(name: str) -> str:
    """Return the stable id of the visitor with that name."""
    return f"visitor-{name.casefold()}"


# -- facts and questions


class _Visitors:
    """The visitors, each of whom comes at a different time on one of the first two days."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.names: list[str] = _CONTENT["visitors"].split()
        self._at: dict[str, datetime] = {}
        chance.shuffle(self.names)
        for place, name in enumerate(self.names):
            part = (place // 2 + 0.2 + 0.6 * chance.random()) / (len(self.names) // 2)
            self._at[name] = START + timedelta(days=place % 2) + _VISITING * part

    def moment(self, name: str) -> datetime:
        """Return the time at which the visitor says the next line."""
        self._at[name] += timedelta(minutes=1)
        return self._at[name]


def _fill_template(
    number: int, template: Mapping[str, Any], visitors: _Visitors, words: random.Random
) -> tuple[list[Memory], list[Memory], list[TrialQuestion]]:
    """Return a template's memories, those that are evidence, and questions without evidence yet."""
    kind = _CONTENT["kinds"][template["kind"]]
    facts = visitors.chance
    a, b, c, *others = facts.sample(visitors.names, 3 + _OTHERS)
    v, w, *of_others = facts.sample(template["of"], 2 + _OTHERS)
    others = others[: facts.randint(0, _OTHERS)] if kind.get("others") else []
    slots = {"a": a, "b": b, "c": c, "v": v, "w": facts.choice(template.get("via", [w]))}
    heard = list[Memory]()
    evidence = list[Memory]()
    times = list[datetime]()
    for spec, wordings in zip(kind["lines"], template["tell"], strict=True):
        who = slots.get(spec.get("by", "a"), a)
        times.append(_later(times[-1]) if spec.get("later") else visitors.moment(who))
        memory = _memory(times[-1], who, words.choice(wordings).format_map(slots), spec, b)
        if not (
            spec.get("to") == "b" and memory.event == MessageType.WHISPER
        ):  # the agent cannot hear it
            heard.append(memory)
            evidence += [memory] * (spec.get("is", "evidence") == "evidence")
    for who, value in zip(others, of_others, strict=False):
        said = words.choice(template["tell"][0]).format_map({**slots, "v": value, "w": value})
        times.append(visitors.moment(who))
        heard.append(_memory(times[-1], who, said, {}, b))
    known = kind.get("known", True)
    answers = template.get("answer") or [v] if known else []
    says_both = "via" not in template and "{w}" in str(template["tell"])
    wrong = [v, *[w][:says_both], *of_others[: len(others)]]
    asker = slots[kind.get("asker", "a")]
    last = max((memory.time for memory in evidence) if known else times)
    asked = words.sample(template["ask"], len(DELAYS))
    questions = [
        TrialQuestion(
            id=f"{template['kind']} {number} {delay}",
            text=text.format_map(slots),
            time=last + after,
            kind=template["kind"],
            answers=tuple(answers),
            stale=tuple(value for value in wrong if value not in answers),
            asker=asker,
            audience=frozenset({visitor_id(asker)}),
            kept_from=frozenset({visitor_id(c)}) if kind.get("kept") else frozenset(),
            delay=after,
            about=f"{template['kind']}: {template['ask'][0]}",
            answerable=known,
        )
        for (delay, after), text in zip(DELAYS.items(), asked, strict=True)
    ]
    return heard, evidence, questions


def _later(time: datetime) -> datetime:
    """Return a time some hours later, moved into the daytime."""
    later = time + _LATER
    by_day = 8 <= later.hour < 21
    return later if by_day else later.replace(hour=9) + timedelta(days=later.hour >= 21)


def _memory(time: datetime, who: str, said: str, spec: Mapping[str, Any], other: str) -> Memory:
    """Return a line as a memory of the agent."""
    if spec.get("by") == "me":
        return _answered(time, who, said)
    how = spec.get("how", "talk")
    to = other if spec.get("to") == "b" else ME.name
    verb = "whispers" if how == MessageType.WHISPER else "says"
    whom = ME if to == ME.name else Person(to, visitor_id(to))
    manner = Manner.WHISPER if how == MessageType.WHISPER else Manner.SAY
    shown = f'{who} {verb} to {to}, "{said}"'
    person = Person(who, visitor_id(who))
    speech = Speech(speaker=person, words=said, to=(whom,), manner=manner, shown=shown)
    return Memory(0, time, speech, PLACE, event=how)


def _answered(time: datetime, who: str, line: str) -> Memory:
    """Return the agent's own act, from a line of a script: ``say Good day!``."""
    given = {"kind": MemoryKind.ACT, "text": line, "to": who, "to_id": visitor_id(who)}
    return Memory(0, time, what_of(given), PLACE)


# -- the chatter around the facts


def _said(time: datetime, who: str, text: str) -> Memory:
    """Return a line of the script about somebody as a memory."""
    what = what_of({"text": text, "source": who, "source_id": visitor_id(who)})
    event = ""
    if isinstance(what, Speech):
        event = MessageType.TALK if ME in what.to else MessageType.SAY
    return Memory(0, time, what, PLACE, event=event)


def _chatter(chance: random.Random, load: int) -> Iterator[Memory]:
    """Yield ``load`` lines a day of villagers and visitors; some are the agent's own answers."""
    people = [*_CONTENT["visitors"].split(), *_CONTENT["slots"]["name"]]
    for day in range(DAYS):
        for moment in sorted(chance.random() for _ in range(load)):
            time = START + timedelta(days=day) + _WAKING * moment
            slots = {name: chance.choice(values) for name, values in _CONTENT["slots"].items()}
            slots["name"], slots["other"] = chance.sample(people, 2)
            if chance.random() < 0.15:
                own = chance.choice(_CONTENT["answers"]).format_map(slots)
                yield _answered(time, slots["name"], own)
                continue
            text = chance.choice(_CONTENT["chatter"]).format_map(slots)
            yield _said(time, slots["name"], text)
