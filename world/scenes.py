"""Reads the small scenes that agents play by rule where they meet: ``scenes.yaml``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from keepsake.agent.almanac import Hours
from keepsake.agent.offstage.days import ANYBODY, Scene, SceneLine
from world.atlas import FOLDER, Atlas, hours_of, read_atlas, states_of
from world.source import DataFile

_FIELDS = {"who", "in", "at", "when", "lines"}
_LEAST_LINES, _MOST_LINES = 2, 4


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
    lines = raw.get("lines") if isinstance(raw, dict) else None
    near = str(lines[0]) if isinstance(lines, list) and lines else str(raw)
    if not isinstance(lines, list) or set(raw) - _FIELDS:
        cure = f"Use the fields {', '.join(sorted(_FIELDS))}; only lines must be there"
        raise source.error(near, f"{raw!r} is no scene", cure)
    roles = tuple(raw.get("who") or ANYBODY)
    known = {*ANYBODY, *(person.name for person in atlas.people.values())}
    for role in roles:
        source.known(near, role, known, "person")
    read = tuple(_line(source, str(line), roles) for line in lines)
    if not _LEAST_LINES <= len(read) <= _MOST_LINES or {each.role for each in read} != {*roles}:
        reason = f"a scene of {' and '.join(map(str, roles))} must have lines of both, two to four"
        raise source.error(near, reason)
    places = _places(source, near, raw.get("in"), atlas)
    hours = Hours.parse(hours_of(source, raw["at"])) if "at" in raw else None
    when = frozenset(states_of(source, near, raw.get("when")))
    return Scene((roles[0], roles[1]), read, places, hours, when)


def _places(source: DataFile, near: str, raw: Any, atlas: Atlas) -> frozenset[str]:
    ids: Iterable[Any] = raw if isinstance(raw, list) else [raw] if raw else []
    found = (source.known(near, each, atlas.places, "room") for each in ids)
    return frozenset(atlas.places[each].name for each in found)


def _line(source: DataFile, text: str, roles: tuple[str, ...]) -> SceneLine:
    """``Joss: words`` is speech, ``Joss does something.`` is seen."""
    found = re.match(rf"({'|'.join(map(re.escape, roles))})(: | )(.+)", text)
    if len(roles) != 2 or found is None:
        cure = "Write 'Joss: words', or 'Joss does something.'"
        raise source.error(text, f"the line {text!r} is of nobody in the scene", cure)
    return SceneLine(found[1], " ".join(found[3].split()), found[2] == ": ")
