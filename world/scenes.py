"""Reads the small scenes that agents play by rule where they meet: ``scenes.yaml``."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from keepsake.agent.almanac import Hours
from keepsake.agent.offstage.days import ANYBODY, Scene, SceneLine
from world.atlas import FOLDER, Atlas, HoursText, States, read_atlas
from world.source import DataFile, Entry, Texts, listed

_LEAST_LINES, _MOST_LINES = 2, 4


class _SceneEntry(Entry):
    who: Texts = ANYBODY
    places: Annotated[list[str], BeforeValidator(listed)] = Field(default_factory=list, alias="in")
    at: HoursText = ""
    when: States = Field(default_factory=list)
    lines: Texts


def read_scenes(atlas: Atlas | None = None) -> tuple[Scene, ...]:
    """Read and check the scenes of the world; none where there is no file.

    Raises:
        ConfigError: The file is no YAML, or a scene names something that does not exist; with
            line and reason.
    """
    if not (FOLDER / "scenes.yaml").exists():
        return ()
    source, atlas = DataFile(FOLDER / "scenes.yaml"), atlas or read_atlas()
    return tuple(_scene(source, raw, atlas) for raw in source.data.get("scenes") or ())


def _scene(source: DataFile, raw: Any, atlas: Atlas) -> Scene:
    entry = source.validated(_SceneEntry, raw, "a field of a scene")
    near, roles = next(iter(entry.lines), "scenes:"), entry.who
    known = {*ANYBODY, *(person.name for person in atlas.people.values())}
    for role in roles:
        source.known(near, role, known, "person")
    for place in entry.places:
        source.known(near, place, atlas.places, "room")
    read = tuple(_line(source, line, roles) for line in entry.lines)
    if not _LEAST_LINES <= len(read) <= _MOST_LINES or {each.role for each in read} != {*roles}:
        reason = f"a scene of {' and '.join(map(str, roles))} must have lines of both, two to four"
        raise source.error(near, reason)
    places = frozenset(atlas.places[each].name for each in entry.places)
    hours = Hours.parse(entry.at) if entry.at else None
    return Scene((roles[0], roles[1]), read, places, hours, frozenset(entry.when))


def _line(source: DataFile, text: str, roles: tuple[str, ...]) -> SceneLine:
    """``Joss: words`` is speech, ``Joss does something.`` is seen."""
    found = re.match(rf"({'|'.join(map(re.escape, roles))})(: | )(.+)", text)
    if len(roles) != 2 or found is None:
        cure = "Write 'Joss: words', or 'Joss does something.'"
        raise source.error(text, f"the line {text!r} is of nobody in the scene", cure)
    return SceneLine(found[1], " ".join(found[3].split()), found[2] == ": ")
