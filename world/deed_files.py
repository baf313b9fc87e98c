"""Reads the deeds of ``deeds/*.yaml`` and refuses what does not fit the world or the form.

``docs/deeds.md`` describes the form; the models below check it. Nothing here touches the game, so
deeds can be checked without one; :mod:`world.deed.happening` does what they say.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    StrictBool,
    ValidationInfo,
    model_validator,
)

from keepsake.errors import ConfigError
from world.almanac import STATES, Hours
from world.atlas import FOLDER, Atlas
from world.deed.effects import NOWHERE, YOU
from world.deed.progress import DeedStep, WorldDeed
from world.source import DataFile, Entry, Text, Texts, known, listed, refused

USUAL_IMPORTANCE = 7
_WHO = "{who}"


@dataclass(frozen=True)
class _DeedNames:
    """What a deed may name; the context of the models."""

    atlas: Atlas
    made: Collection[str] = ()  # things that come into the world by this deed
    before: Collection[str] = ()  # steps that come before

    def ids(self, kind: str) -> Collection[str]:
        """All that something of that kind may be called."""
        atlas = self.atlas
        return {
            "place": tuple(atlas.places),
            "person": tuple(atlas.people),
            "thing": (*atlas.things, *self.made),
            "thing of the world": tuple(atlas.things),
            "thing made here": tuple(self.made),
            "way that is closed": tuple(atlas.closed),
            "spot": (*atlas.places, *atlas.people, NOWHERE, YOU),
            "earlier step": tuple(self.before),
            "state of the sky": tuple(STATES),
        }[kind]


def _ids(kind: str) -> Any:
    """One id of that kind, or a list of them."""
    return Annotated[tuple[known(kind), ...], BeforeValidator(listed)]


def _pairs(kind: str, value: Any) -> Any:
    """A table from ids of that kind to something."""

    def is_table(raw: Any) -> Any:
        if not isinstance(raw, dict) or not raw:
            raise refused(f"it must be a table from a {kind} to something")
        return raw

    return Annotated[dict[known(kind), value], BeforeValidator(is_table)]


def _whole(least: int, most: int) -> Any:
    return Annotated[int, Field(strict=True, ge=least, le=most)]


def _by_name(text: str) -> str:
    """A line that tells of who did it, so that it is known to be about them."""
    if not text.startswith(_WHO):
        raise refused(f"{text[:30]!r} tells of nobody", f"Begin it with {_WHO}", text[:30])
    return text


def _patterns(raw: Any) -> tuple[re.Pattern[str], ...]:
    """Words, all of which are said; ``wren|girl`` is either, ``apple`` also apples."""
    words = listed(raw)
    if not words or not all(isinstance(each, str) and each.strip() for each in words):
        raise refused("it must be a list of words")
    return tuple(
        re.compile(rf"\b(?:{'|'.join(map(re.escape, each.split('|')))})", re.I) for each in words
    )


def _ends(raw: Any) -> tuple[tuple[str, str], ...]:
    """Deeds, or ends of deeds, such as ``twelfth_cup.given_back``; checked when all are read."""
    parts = [str(each).partition(".") for each in listed(raw)]
    return tuple((deed, end) for deed, _, end in parts)


def _changes(raw: Any, info: ValidationInfo) -> dict[str, dict[str, str]]:
    """By place, thing or person, words of what is told of it, and what stands there instead."""
    atlas, found = info.context.atlas, {}
    for target, words in raw.items() if isinstance(raw, dict) else ():
        if target not in {*atlas.places, *atlas.things, *atlas.people}:
            reason = f"it names the place, thing or person {target!r}, which does not exist"
            raise refused(reason, "", str(target))
        if not isinstance(words, dict) or not all(isinstance(w, str) for w in words.values()):
            reason = f"{target!r} must be a table from old words to new ones"
            raise refused(reason, "", f"{target}:")
        changed = {" ".join(old.split()): " ".join(new.split()) for old, new in words.items()}
        for old in changed:
            if not any(old in text for text in _texts(atlas, target)):
                raise refused(f"{target!r} says nowhere {old!r}", "", old[:30])
        found[target] = changed
    if not found:
        raise refused("it must be a table from a place, thing or person to words")
    return found


def _texts(atlas: Atlas, target: str) -> Iterator[str]:
    """What is told of a place, a thing or a person; the same ids name no two of them."""
    if target in atlas.places:
        yield from (atlas.places[target].desc, *atlas.places[target].details.values())
    elif target in atlas.things:
        yield atlas.things[target].desc
    else:
        person = atlas.people[target]
        yield from (person.look, person.whole_profile, *person.examples)


_ByName = Annotated[Text, AfterValidator(_by_name)]
_Words = Annotated[tuple[re.Pattern[str], ...], PlainValidator(_patterns)]
_Ends = Annotated[tuple[tuple[str, str], ...], PlainValidator(_ends)]
_Standing = _pairs("person", _whole(-10, 10))


class _Conditions(Entry):
    """What stands under ``if``; all that is there must hold."""

    at: _ids("place") = ()
    near: _ids("person") = ()
    without: _ids("person") = ()
    carry: _ids("thing") = ()
    give: _pairs("thing", known("person")) = Field(default_factory=dict)
    tell: known("person") = ""
    words: _Words = ()
    unless: _Words = ()
    whisper: StrictBool = False
    sky: Annotated[frozenset[known("state of the sky")], BeforeValidator(listed)] = frozenset()
    hours: Annotated[Any, PlainValidator(lambda raw: Hours.parse(str(raw)))] = None
    players: _whole(2, 10) = 2
    elsewhere: known("place") = ""
    done: _Ends = ()
    village: _Ends = ()
    standing: _Standing = Field(default_factory=dict)
    wait: Annotated[float, Field(ge=0, le=1000)] = 0

    @model_validator(mode="after")
    def _is_heard(self) -> _Conditions:
        if self.tell and not self.words:
            raise refused("it does not say what is told", "Give a list of `words`", "tell:")
        if self.words and not (self.tell or self.at):
            cure = "Give `tell`, or a place: `at`"
            raise refused("it does not say who hears it", cure, "words:")
        return self


class _Effects(Entry):
    """What comes of a step, in the order of the file."""

    you: Text = ""
    each: Text = ""
    others: _ByName = ""
    importance: _whole(1, 10) = USUAL_IMPORTANCE
    memory: _pairs("person", _ByName) = Field(default_factory=dict)
    standing: _Standing = Field(default_factory=dict)
    says: _pairs("person", Text) = Field(default_factory=dict)
    change: Annotated[dict[str, Any], PlainValidator(_changes)] = Field(default_factory=dict)
    move: _pairs("thing of the world", known("spot")) = Field(default_factory=dict)
    make: _ids("thing made here") = ()
    take: _ids("thing made here") = ()
    open: _ids("way that is closed") = ()


class _Step(_Effects):
    """One step: conditions, effects, and where it stands among the others."""

    when: _Conditions = Field(alias="if")
    after: _ids("earlier step") = ()
    days: _whole(1, 100) = 1
    end: StrictBool = False
    hint: Text = ""


class _MadeThing(Entry):
    """A thing that comes into the world by a deed."""

    name: Text
    aliases: Texts = ()
    desc: Text


class _Deed(Entry):
    """A whole file; its steps are read one after another."""

    name: Text
    hint: Text = ""
    once: StrictBool = False
    things: dict[str, _MadeThing] = Field(default_factory=dict)
    steps: dict[str, Any] = Field(min_length=1)


def read_deeds(atlas: Atlas, folder: Path = FOLDER / "deeds") -> dict[str, WorldDeed]:
    """Read and check every deed, by the names of their files.

    Raises:
        ConfigError: A file is wrong; with file, line and reason.
    """
    deeds, problems = check_deeds(atlas, folder)
    if problems:
        raise problems[0]
    return deeds


def check_deeds(
    atlas: Atlas, folder: Path = FOLDER / "deeds"
) -> tuple[dict[str, WorldDeed], list[ConfigError]]:
    """All deeds that can be read, and what is wrong with the others: of each file the first."""
    deeds: dict[str, WorldDeed] = {}
    problems: list[ConfigError] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            deeds[path.stem] = _deed(DataFile(path), atlas, path.stem)
        except ConfigError as error:
            problems.append(error)
    for deed in deeds.values():
        problems += _unknown_ends(DataFile(folder / f"{deed.id}.yaml"), deed, deeds)
    return deeds, problems


def _deed(source: DataFile, atlas: Atlas, key: str) -> WorldDeed:
    deed = source.validated(_Deed, source.data, "a deed")
    for name in deed.things:
        if name in atlas.things:
            reason = f"things.yaml has a {name!r} already"
            raise source.error(f"{name}:", reason, "Call it otherwise")
    steps: dict[str, DeedStep] = {}
    for name, raw in deed.steps.items():
        source.section = name
        steps[name] = _step(source, name, raw, _DeedNames(atlas, deed.things, steps))
    source.section = ""
    if not any(step.end for step in steps.values()):
        raise source.error("steps:", f"{key!r} has no end", "Give one step `end: true`")
    return WorldDeed(
        id=key,
        name=deed.name,
        hint=deed.hint,
        once=deed.once,
        steps=steps,
        made={name: made.model_dump() for name, made in deed.things.items()},
        homes={thing: _home(atlas, thing) for thing in sorted(_handled(steps) & {*atlas.things})},
    )


def _step(source: DataFile, name: str, raw: Any, names: _DeedNames) -> DeedStep:
    if not isinstance(raw, dict) or not isinstance(raw.get("if"), dict) or not raw["if"]:
        raise source.error(f"{name}:", f"{name!r} has no conditions", "Give it a table `if`")
    step = source.validated(_Step, raw, "part of a step", names)
    return DeedStep(
        id=name,
        when={key: getattr(step.when, key) for key in raw["if"]},
        then={"importance": step.importance}
        | {key: getattr(step, key) for key in raw if key in _Effects.model_fields},
        after=step.after,
        days=step.days,
        end=step.end,
        hint=step.hint,
    )


def _handled(steps: Mapping[str, DeedStep]) -> set[str]:
    """The things that somebody carries or gives in it, or that it moves."""
    found: set[str] = set()
    for step in steps.values():
        found |= {
            *step.when.get("carry", ()),
            *step.when.get("give", ()),
            *step.then.get("move", ()),
        }
    return found


def _home(atlas: Atlas, thing: str) -> str:
    at = atlas.things[thing].at
    return f"agent:{at}" if at in atlas.people else f"room:{at}"


def _unknown_ends(
    source: DataFile, deed: WorldDeed, deeds: Mapping[str, WorldDeed]
) -> Iterator[ConfigError]:
    """What is wrong with the deeds, and their ends, that this one asks for."""
    for step in deed.steps.values():
        for name, end in (*step.when.get("done", ()), *step.when.get("village", ())):
            ends = (
                [each.id for each in deeds[name].steps.values() if each.end]
                if name in deeds
                else []
            )
            if name not in deeds or (end and end not in ends):
                there = [f"{name}.{each}" for each in ends] or sorted(deeds)
                asked = f"{name}.{end}" if end else name
                reason = f"in {step.id!r}: there is no deed or end {asked!r}"
                yield source.error(asked, reason, f"Use one of: {', '.join(there)}")
