"""The small scenes that agents play by rule where they meet: ``scenes.yaml``."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from world.almanac import Almanac, Hours
from world.atlas import FOLDER, Atlas, HoursText, States, read_atlas
from world.source import DataFile, Entry, ids, known, refused

ANYBODY = ("A", "B")
"""What whoever happens to be there is called in a scene."""


class SceneLine(NamedTuple):
    """A line of a scene with its actor: as it is seen, and as the actor's own act."""

    actor: str
    seen: str
    act: str


class Scene(Entry):
    """A small scene between two."""

    who: tuple[known("person"), known("person")] = ANYBODY
    places: ids("room") = Field((), alias="in")  # where it may be; empty for anywhere
    at: HoursText = ""
    when: States = Field(default_factory=list)
    lines: Annotated[tuple[str, ...], Field(min_length=2, max_length=4)]

    @model_validator(mode="after")
    def _is_of_two(self) -> Scene:
        roles = [r for line in self.lines for r in self.who if line.startswith((f"{r}:", f"{r} "))]
        if {*roles} != {*self.who} or len(roles) != len(self.lines):
            cure = "Write 'Joss: words', or 'Joss does something.'"
            raise refused("each line is of one of the two, and both have one", cure, "lines")
        return self

    @property
    def is_for_anybody(self) -> bool:
        """Whether any two may play it."""
        return self.who == ANYBODY

    def fits(self, names: tuple[str, str], place: str, now: Almanac) -> bool:
        """Whether these two may play it here and now."""
        here = not self.places or place in self.places
        hour = not self.at or now.moment in Hours.parse(self.at)
        ours = self.is_for_anybody or {*self.who} == {*names}
        return here and hour and ours and now.states.issuperset(self.when)

    def played_by(self, names: tuple[str, str]) -> list[SceneLine]:
        """Its lines: ``Joss: words`` is speech, ``Joss does something.`` is seen."""
        cast = dict(zip(self.who, names if self.is_for_anybody else self.who, strict=True))
        played = []
        for line in self.lines:
            role = next(each for each in self.who if line.startswith((f"{each}:", f"{each} ")))
            text, actor = line.removeprefix(role), cast[role]
            if text.startswith(":"):
                words = text[1:].strip()
                played.append(SceneLine(actor, f'{actor} says, "{words}"', f"say {words}"))
            else:
                played.append(SceneLine(actor, f"{actor}{text}", f"emote{text}"))
        return played


class _Scenes(Entry):
    """The file ``scenes.yaml``."""

    scenes: tuple[Scene, ...] = ()


@lru_cache(maxsize=1)
def scenes() -> tuple[Scene, ...]:
    """The scenes of the world; ``scenes.cache_clear()`` has them read again."""
    return read_scenes()


def read_scenes(atlas: Atlas | None = None) -> tuple[Scene, ...]:
    """Read and check the scenes of the world; none where there is no file.

    Raises:
        ConfigError: The file is no YAML, or a scene names something that does not exist; with
            line and reason.
    """
    if not (FOLDER / "scenes.yaml").exists():
        return ()
    atlas = atlas or read_atlas()
    people = (*ANYBODY, *(person.name for person in atlas.people.values()))
    found = DataFile(FOLDER / "scenes.yaml").read(_Scenes, {"person": people, "room": atlas.places})
    titles = {place.id: place.name for place in atlas.places.values()}
    return tuple(
        scene.model_copy(update={"places": tuple(titles[each] for each in scene.places)})
        for scene in found.scenes
    )
