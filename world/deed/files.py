"""Reads and checks the files of deeds, ``world/deeds/*.yaml``.

``docs/build.md`` describes their form. This module does not use the game, so deeds can be checked
without one. :mod:`world.deed.happening` carries them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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

from world.almanac import STATES, Hours
from world.atlas import Atlas
from world.layers import Layers, layers, pages_in
from world.source import DataFile, Entry, Text, by_id, ids, known, listed, refused

NOWHERE = "nowhere"
YOU = "you"
"""Extra destinations of an effect, beside places and people: out of the world; to the player."""


def _integer(least: int, most: int) -> Any:
    return Annotated[int, Field(strict=True, ge=least, le=most)]


def _by_name(text: str) -> str:
    """Check that a line begins with the player who did it, so that it counts as about them."""
    if not text.startswith("{who}"):
        raise refused(f"{text[:30]!r} does not name the player", "Begin it with {who}")
    return text


def _patterns(raw: Any) -> tuple[re.Pattern[str], ...]:
    """Read words that must all be said; ``wren|girl`` is either, ``apple`` also finds apples."""
    words = listed(raw)
    if not words or not all(isinstance(each, str) and each.strip() for each in words):
        raise refused("it must be a list of words", "Write [apple, wren|girl]")
    return tuple(
        re.compile(rf"\b(?:{'|'.join(map(re.escape, each.split('|')))})", re.I) for each in words
    )


def _changes(changes: dict[str, dict[Text, Text]], info: ValidationInfo) -> Any:
    """Check replacements, by place, thing or person: each must find the words that it replaces."""
    for target, words in changes.items():
        texts = [*_texts_about(info.context["atlas"], target)]
        for old in words:
            if not any(old in text for text in texts):
                raise refused(f"no text of {target!r} contains {old!r}", "", target)
    return changes


def _texts_about(atlas: Atlas, target: str) -> Iterator[str]:
    """Yield the texts about a place, a thing or a person; their ids never collide."""
    if place := atlas.places.get(target):
        yield from (place.desc, *place.details.values())
    elif thing := atlas.things.get(target):
        yield thing.desc
    elif person := atlas.people.get(target):
        yield from (person.look, person.profile, *person.examples)


_ByName = Annotated[Text, AfterValidator(_by_name)]
_Words = Annotated[tuple[re.Pattern[str], ...], PlainValidator(_patterns)]
_Sayings = Annotated[tuple[Text, ...], BeforeValidator(listed), Field(min_length=1)]
_Ends = ids("deed or end")
_Standing = dict[known("person"), _integer(-10, 10)]


class Conditions(Entry):
    """The conditions under ``if``, which must all hold."""

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
    players: _integer(2, 10) = 2
    elsewhere: known("place") = ""
    done: _Ends = ()
    village: _Ends = ()
    standing: _Standing = Field(default_factory=dict)
    wait: Annotated[float, Field(ge=0, le=1000)] = 0

    @property
    def is_met_by_coming(self) -> bool:
        """Whether the player has to do nothing but come near."""
        return not (self.carry or self.give or self.words or self.whisper)

    @model_validator(mode="after")
    def _can_hold(self) -> Conditions:
        if not self.model_fields_set:
            raise refused("it has no conditions", "Add one, such as `at: kettle`")
        if self.tell and not self.words:
            raise refused("it does not say which words are spoken", "Add `words`", "tell")
        if self.words and not (self.tell or self.at):
            raise refused("it does not say who hears the words", "Add `tell` or `at`", "words")
        return self


class DeedStep(Entry):
    """One step of a deed."""

    id: str  # its name in the file
    when: Conditions = Field(alias="if")  # all must hold
    after: ids("step") = ()  # steps that come before it
    days: _integer(1, 100) = 1  # the number of different days on which it must be done
    end: StrictBool = False  # whether it completes the deed; a player reaches one such end
    hint: Text = ""  # what ``deeds`` shows after it
    # its effects, by the names in EFFECTS
    you: Text = ""
    each: Text = ""
    others: _ByName = ""
    importance: _integer(1, 10) = 7
    memory: dict[known("person"), _ByName] = Field(default_factory=dict)
    standing: _Standing = Field(default_factory=dict)
    says: dict[known("person"), _Sayings] = Field(default_factory=dict)
    change: Annotated[
        dict[known("place, thing or person"), dict[Text, Text]], AfterValidator(_changes)
    ] = Field(default_factory=dict)
    move: dict[known("thing of the world"), known("destination")] = Field(default_factory=dict)
    make: ids("thing of this deed") = ()
    take: ids("thing of this deed") = ()
    open: ids("closed exit") = ()


class MadeThing(Entry):
    """A thing that a deed makes."""

    id: str
    name: Text
    aliases: tuple[str, ...] = ()
    desc: Text

    @model_validator(mode="after")
    def _is_new(self, info: ValidationInfo) -> MadeThing:
        if self.id in info.context["atlas"].things:
            raise refused(f"things.yaml already has {self.id!r}", "Choose another id")
        return self


class WorldDeed(Entry):
    """A deed (quest): its steps and their effects."""

    id: str  # the file's name without its ending
    name: Text  # the name that players see
    hint: Text = ""  # what villagers say about it before it is begun
    once: StrictBool = False  # whether it can be done once in the world; else once by each player
    things: by_id(MadeThing) = Field(default_factory=dict)  # the things that it makes
    steps: by_id(DeedStep)
    # the places of the world's things that it needs, such as ``room:quay``
    homes: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _can_be_done(self, info: ValidationInfo) -> WorldDeed:
        atlas = info.context["atlas"]
        before = list[str]()
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
            raise refused("no step ends it", "Add `end: true` to one step", "steps")
        return self


def read_deeds(atlas: Atlas, found: Layers | None = None) -> dict[str, WorldDeed]:
    """Read and check every deed; returns them by the names of their files.

    Args:
        found: The folders to read; by default those of :func:`world.layers.layers`.

    Raises:
        ConfigError: A file is wrong; with file, line and reason.
    """
    paths = pages_in("deeds", layers() if found is None else found)
    files = [DataFile(path) for path in paths]
    places, people, things = (tuple(each) for each in (atlas.places, atlas.people, atlas.things))
    names: dict[str, Any] = {
        "atlas": atlas,
        "place": places,
        "person": people,
        "place, thing or person": (*places, *things, *people),
        "thing of the world": things,
        "closed exit": [way.id for way in atlas.ways if way.closed],
        "destination": (*places, *people, NOWHERE, YOU),
        "deed or end": [each for file in files for each in _ends(file)],
        "time or weather": STATES,
    }
    deeds: dict[str, WorldDeed] = {}
    for file in files:
        made = tuple(file.data.get("things") or ())
        own = {"thing": (*things, *made), "thing of this deed": made}
        deeds[file.path.stem] = file.read(WorldDeed, names | own, id=file.path.stem)
    return deeds


def _ends(file: DataFile) -> Iterator[str]:
    """Yield the deed's id and its ends such as ``twelfth_cup.given_back``."""
    yield file.path.stem
    steps = file.data.get("steps")
    for name, step in steps.items() if isinstance(steps, dict) else ():
        if isinstance(step, dict) and step.get("end"):
            yield f"{file.path.stem}.{name}"
