"""Reads the deeds of ``deeds/*.yaml`` and refuses what does not fit the world or the form.

``docs/deeds.md`` describes the form. Nothing here touches the game, so deeds can be checked
without one; :mod:`world.deed.happening` does what they say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keepsake.agent.almanac import STATES, Hours
from keepsake.errors import ConfigError
from world.atlas import FOLDER, Atlas
from world.deed.effects import NOWHERE, YOU
from world.deed.progress import DeedStep, WorldDeed
from world.source import DataFile, flag, number

USUAL_IMPORTANCE = 7
_WHO = "{who}"


@dataclass(frozen=True)
class _DeedFile:
    """One deed's file, and what it may name."""

    source: DataFile
    atlas: Atlas
    made: Mapping[str, Mapping[str, Any]]

    def ids(self, kind: str) -> tuple[str, ...]:
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
            "place, thing or person": (*atlas.places, *atlas.things, *atlas.people),
        }[kind]

    def known(self, near: str, value: Any, kind: str) -> str:
        return self.source.known(near, value, self.ids(kind), kind)

    def error(self, near: str, reason: str, cure: str = "") -> ConfigError:
        where = f"in {self.source.section!r}: " if self.source.section else ""
        return self.source.error(near, f"{where}{reason}", cure)


type _Reader = Callable[[_DeedFile, str, Any], Any]


def _ids(kind: str) -> _Reader:
    """One id of that kind, or a list of them."""

    def read(file: _DeedFile, field: str, raw: Any) -> tuple[str, ...]:
        return tuple(file.known(field, each, kind) for each in _listed(raw))

    return read


def _id(kind: str) -> _Reader:
    return lambda file, field, raw: file.known(field, raw, kind)


def _pairs(kind: str, value: _Reader) -> _Reader:
    """A table from ids of that kind to something."""

    def read(file: _DeedFile, field: str, raw: Any) -> dict[str, Any]:
        if not isinstance(raw, dict) or not raw:
            raise file.error(f"{field}:", f"{field!r} must be a table from a {kind} to something")
        return {file.known(field, key, kind): value(file, field, each) for key, each in raw.items()}

    return read


def _text(file: _DeedFile, field: str, raw: Any) -> str:
    return file.source.text_of({field: raw}, field, field)


def _by_name(file: _DeedFile, field: str, raw: Any) -> str:
    """A line that tells of who did it, so that it is known to be about them."""
    text = _text(file, field, raw)
    if not text.startswith(_WHO):
        raise file.error(text[:30], f"{field!r} tells of nobody", f"Begin it with {_WHO}")
    return text


def _number(least: float, most: float) -> _Reader:
    return lambda file, field, raw: number(file.error, field, raw, least, most)


def _flag(file: _DeedFile, field: str, raw: Any) -> bool:
    return flag(file.error, field, raw)


def _words(file: _DeedFile, field: str, raw: Any) -> tuple[re.Pattern[str], ...]:
    """A list of words, all of which are said; ``wren|girl`` is either, ``apple`` also apples."""
    words = _listed(raw)
    if not words or not all(isinstance(each, str) and each.strip() for each in words):
        raise file.error(f"{field}:", f"{field!r} must be a list of words")
    return tuple(
        re.compile(rf"\b(?:{'|'.join(map(re.escape, each.split('|')))})", re.I) for each in words
    )


def _states(file: _DeedFile, field: str, raw: Any) -> frozenset[str]:
    among = tuple(STATES)
    return frozenset(
        file.source.known(field, each, among, "state of the sky") for each in _listed(raw)
    )


def _hours(file: _DeedFile, field: str, raw: Any) -> Hours:
    try:
        return Hours.parse(str(raw))
    except ValueError as error:
        raise file.error(f"{field}:", str(error), "Write it as 22-4") from error


def _ends(file: _DeedFile, field: str, raw: Any) -> tuple[tuple[str, str], ...]:
    """Deeds, or ends of deeds, such as ``twelfth_cup.given_back``; checked when all are read."""
    parts = [str(each).partition(".") for each in _listed(raw)]
    return tuple((deed, end) for deed, _, end in parts)


def _changes(file: _DeedFile, field: str, raw: Any) -> dict[str, dict[str, str]]:
    """By place, thing or person, words of what is told of it, and what stands there instead."""
    found = _pairs("place, thing or person", lambda _f, _n, words: words)(file, field, raw)
    for target, words in found.items():
        if not isinstance(words, dict) or not words:
            raise file.error(f"{target}:", f"{target!r} must be a table from old words to new ones")
        for old in words:
            if not any(" ".join(str(old).split()) in text for text in _texts(file.atlas, target)):
                raise file.error(str(old)[:30], f"{target!r} says nowhere {old!r}")
    return {
        target: {" ".join(str(old).split()): _text(file, field, new) for old, new in words.items()}
        for target, words in found.items()
    }


def _texts(atlas: Atlas, target: str) -> Iterator[str]:
    """What is told of a place, a thing or a person; the same ids name no two of them."""
    if target in atlas.places:
        yield from (atlas.places[target].desc, *atlas.places[target].details.values())
    elif target in atlas.things:
        yield atlas.things[target].desc
    else:
        person = atlas.people[target]
        yield from (person.look, person.whole_profile, *person.examples)


def _listed(raw: Any) -> list[Any]:
    return raw if isinstance(raw, list) else [raw]


_CONDITIONS: dict[str, _Reader] = {
    "at": _ids("place"),
    "near": _ids("person"),
    "without": _ids("person"),
    "carry": _ids("thing"),
    "give": _pairs("thing", _id("person")),
    "tell": _id("person"),
    "words": _words,
    "unless": _words,
    "whisper": _flag,
    "sky": _states,
    "hours": _hours,
    "players": _number(2, 10),
    "elsewhere": _id("place"),
    "done": _ends,
    "village": _ends,
    "standing": _pairs("person", _number(-10, 10)),
    "wait": _number(0, 1000),
}
_EFFECTS: dict[str, _Reader] = {
    "you": _text,
    "each": _text,
    "others": _by_name,
    "importance": _number(1, 10),
    "memory": _pairs("person", _by_name),
    "standing": _pairs("person", _number(-10, 10)),
    "says": _pairs("person", _text),
    "change": _changes,
    "move": _pairs("thing of the world", _id("spot")),
    "make": _ids("thing made here"),
    "take": _ids("thing made here"),
    "open": _ids("way that is closed"),
}
_OF_A_STEP = {"if", "after", "days", "end", "hint"}
_OF_A_DEED = {"name", "hint", "once", "things", "steps"}


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
    _only(_DeedFile(source, atlas, {}), source.data, _OF_A_DEED, "a deed")
    things = source.table("things") if "things" in source.data else {}
    made = {name: _made(source, atlas, name, raw) for name, raw in things.items()}
    file = _DeedFile(source, atlas, made)
    steps: dict[str, DeedStep] = {}
    for name, raw in source.table("steps").items():
        source.section = name
        steps[name] = _step(file, name, raw, steps)
    source.section = ""
    if not any(step.end for step in steps.values()):
        raise source.error("steps:", f"{key!r} has no end", "Give one step `end: true`")
    hint = source.data.get("hint")
    return WorldDeed(
        id=key,
        name=source.text_of(source.data, "name", "name"),
        hint=_text(file, "hint", hint) if hint is not None else "",
        once=_flag(file, "once", source.data.get("once", False)),
        steps=steps,
        made=made,
        homes={thing: _home(atlas, thing) for thing in sorted(_handled(steps) & {*atlas.things})},
    )


def _made(source: DataFile, atlas: Atlas, name: str, raw: Any) -> dict[str, Any]:
    if name in atlas.things:
        raise source.error(f"{name}:", f"things.yaml has a {name!r} already", "Call it otherwise")
    return {
        "name": source.text_of(raw, name, "name"),
        "aliases": source.words(raw, name, "aliases"),
        "desc": source.text_of(raw, name, "desc"),
    }


def _step(file: _DeedFile, name: str, raw: Any, before: Mapping[str, DeedStep]) -> DeedStep:
    if not isinstance(raw, dict) or not isinstance(raw.get("if"), dict) or not raw["if"]:
        raise file.error(f"{name}:", f"{name!r} has no conditions", "Give it a table `if`")
    _only(file, raw["if"], {*_CONDITIONS}, "a condition")
    _only(file, raw, {*_EFFECTS} | _OF_A_STEP, "part of a step")
    when = {key: _CONDITIONS[key](file, key, value) for key, value in raw["if"].items()}
    then = {key: _EFFECTS[key](file, key, raw[key]) for key in raw if key in _EFFECTS}
    if "tell" in when and "words" not in when:
        raise file.error("tell:", "it does not say what is told", "Give a list of `words`")
    if "words" in when and not {"tell", "at"} & {*when}:
        raise file.error("words:", "it does not say who hears it", "Give `tell`, or a place: `at`")
    return DeedStep(
        id=name,
        when=when,
        then={"importance": USUAL_IMPORTANCE} | then,
        after=tuple(
            file.source.known("after", each, before, "earlier step")
            for each in _listed(raw.get("after", []))
        ),
        days=int(_number(1, 100)(file, "days", raw.get("days", 1))),
        end=_flag(file, "end", raw.get("end", False)),
        hint=_text(file, "hint", raw["hint"]) if "hint" in raw else "",
    )


def _only(file: _DeedFile, raw: Mapping[str, Any], allowed: set[str], what: str) -> None:
    for key in raw:
        if key not in allowed:
            cure = f"Use one of: {', '.join(sorted(allowed))}"
            raise file.error(f"{key}:", f"{key!r} is not {what}", cure)


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
