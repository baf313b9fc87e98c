"""Deeds as their files ``world/deeds/*.yaml`` tell them, read and checked.

``docs/build.md`` describes the form. Nothing here touches the game, so deeds can be checked without
one; :mod:`world.deed.happening` does what they say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    StrictBool,
    ValidationInfo,
    model_validator,
)

from world.almanac import STATES, Hours
from world.atlas import FOLDER, Atlas
from world.source import DataFile, Entry, Text, by_id, ids, known, listed, refused

NOWHERE, YOU = "nowhere", "you"
"""Where an effect may put a thing, beside places and people: out of the world, to the player."""


def _whole(least: int, most: int) -> Any:
    return Annotated[int, Field(strict=True, ge=least, le=most)]


def _by_name(text: str) -> str:
    """A line that tells of who did it, so that it is known to be about them."""
    if not text.startswith("{who}"):
        raise refused(f"{text[:30]!r} tells of nobody", "Begin it with {who}")
    return text


def _patterns(raw: Any) -> tuple[re.Pattern[str], ...]:
    """Words, all of which are said; ``wren|girl`` is either, ``apple`` also apples."""
    words = listed(raw)
    if not words or not all(isinstance(each, str) and each.strip() for each in words):
        raise refused("it must be a list of words")
    return tuple(
        re.compile(rf"\b(?:{'|'.join(map(re.escape, each.split('|')))})", re.I) for each in words
    )


def _changes(changes: dict[str, dict[Text, Text]], info: ValidationInfo) -> Any:
    """By place, thing or person, words of what is told of it, and what stands there instead."""
    for target, words in changes.items():
        told = [*_told_of(info.context["atlas"], target)]
        for old in words:
            if not any(old in text for text in told):
                raise refused(f"{target!r} says nowhere {old!r}", "", target)
    return changes


def _told_of(atlas: Atlas, target: str) -> Iterator[str]:
    """What is told of a place, a thing or a person; the same ids name no two of them."""
    if place := atlas.places.get(target):
        yield from (place.desc, *place.details.values())
    elif thing := atlas.things.get(target):
        yield thing.desc
    elif person := atlas.people.get(target):
        yield from (person.look, person.profile, *person.examples)


_ByName = Annotated[Text, AfterValidator(_by_name)]
_Words = Annotated[tuple[re.Pattern[str], ...], PlainValidator(_patterns)]
_Ends = ids("deed or end")
_Standing = dict[known("person"), _whole(-10, 10)]


class Conditions(Entry):
    """What stands under ``if``; all that is there must hold."""

    at: ids("place") = ()
    near: ids("person") = ()
    without: ids("person") = ()
    carry: ids("thing") = ()
    give: dict[known("thing"), known("person")] = Field(default_factory=dict)
    tell: known("person") = ""
    words: _Words = ()
    unless: _Words = ()
    whisper: StrictBool = False
    sky: ids("time or weather") = ()
    hours: Annotated[Any, PlainValidator(lambda raw: Hours.parse(str(raw)))] = None
    players: _whole(2, 10) = 2
    elsewhere: known("place") = ""
    done: _Ends = ()
    village: _Ends = ()
    standing: _Standing = Field(default_factory=dict)
    wait: Annotated[float, Field(ge=0, le=1000)] = 0

    @model_validator(mode="after")
    def _can_hold(self) -> Conditions:
        if not self.model_fields_set:
            raise refused("it has no conditions", "Give it one")
        if self.tell and not self.words:
            raise refused("it does not say what is told", "Give a list of `words`", "tell")
        if self.words and not (self.tell or self.at):
            raise refused("it does not say who hears it", "Give `tell`, or a place: `at`", "words")
        return self


class DeedStep(Entry):
    """One thing to be done."""

    id: str  # its name in the file
    when: Conditions = Field(alias="if")  # all must hold
    after: ids("step") = ()  # steps that come before it
    days: _whole(1, 100) = 1  # on how many different days it has to be done
    end: StrictBool = False  # whether the deed is done with it; of several a player reaches one
    hint: Text = ""  # what ``deeds`` shows from then on
    # what comes of it, by the names of EFFECTS
    you: Text = ""
    each: Text = ""
    others: _ByName = ""
    importance: _whole(1, 10) = 7
    memory: dict[known("person"), _ByName] = Field(default_factory=dict)
    standing: _Standing = Field(default_factory=dict)
    says: dict[known("person"), Text] = Field(default_factory=dict)
    change: Annotated[
        dict[known("place, thing or person"), dict[Text, Text]], AfterValidator(_changes)
    ] = Field(default_factory=dict)
    move: dict[known("thing of the world"), known("spot")] = Field(default_factory=dict)
    make: ids("thing made here") = ()
    take: ids("thing made here") = ()
    open: ids("way that is closed") = ()


class MadeThing(Entry):
    """A thing that comes into the world by a deed."""

    id: str
    name: Text
    aliases: tuple[str, ...] = ()
    desc: Text

    @model_validator(mode="after")
    def _is_new(self, info: ValidationInfo) -> MadeThing:
        if self.id in info.context["atlas"].things:
            raise refused(f"things.yaml has a {self.id!r} already", "Call it otherwise")
        return self


class WorldDeed(Entry):
    """Something that can be done in the world, and what comes of it."""

    id: str  # the file's name without its ending
    name: Text  # as players read it
    hint: Text = ""  # what is talked of in the village before it is begun
    once: StrictBool = False  # whether it is done once in the world; else once by each player
    things: by_id(MadeThing) = Field(default_factory=dict)  # what comes into the world by it
    steps: by_id(DeedStep)
    # where those of the world's things that it needs belong, such as ``room:quay``
    homes: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _can_be_done(self, info: ValidationInfo) -> WorldDeed:
        atlas, before = info.context["atlas"], list[str]()
        for step in self.steps.values():
            for wanted in step.after:
                if wanted not in before:
                    reason = f"{step.id!r} names the earlier step {wanted!r}, which does not exist"
                    raise refused(reason, f"Use one of: {before}", "steps", step.id, "after")
            before.append(step.id)
            for thing in {*step.when.carry, *step.when.give, *step.move} & {*atlas.things}:
                at = atlas.things[thing].at
                kind = "agent" if at in atlas.people else "room"
                self.homes[thing] = f"{kind}:{at}"
        if not any(step.end for step in self.steps.values()):
            raise refused("it has no end", "Give one step `end: true`", "steps")
        return self


def read_deeds(atlas: Atlas, folder: Path = FOLDER / "deeds") -> dict[str, WorldDeed]:
    """Read and check every deed, by the names of their files.

    Raises:
        ConfigError: A file is wrong; with file, line and reason.
    """
    files = [DataFile(path) for path in sorted(folder.glob("*.yaml"))]
    places, people, things = (tuple(each) for each in (atlas.places, atlas.people, atlas.things))
    names: dict[str, Any] = {
        "atlas": atlas,
        "place": places,
        "person": people,
        "place, thing or person": (*places, *things, *people),
        "thing of the world": things,
        "way that is closed": [way.id for way in atlas.ways if way.closed],
        "spot": (*places, *people, NOWHERE, YOU),
        "deed or end": [each for file in files for each in _ends(file)],
        "time or weather": STATES,
    }
    deeds: dict[str, WorldDeed] = {}
    for file in files:
        made = tuple(file.data.get("things") or ())
        own = {"thing": (*things, *made), "thing made here": made}
        deeds[file.path.stem] = file.read(WorldDeed, names | own, id=file.path.stem)
    return deeds


def _ends(file: DataFile) -> Iterator[str]:
    """The deed, and its ends such as ``twelfth_cup.given_back``."""
    yield file.path.stem
    steps = file.data.get("steps")
    for name, step in steps.items() if isinstance(steps, dict) else ():
        if isinstance(step, dict) and step.get("end"):
            yield f"{file.path.stem}.{name}"
