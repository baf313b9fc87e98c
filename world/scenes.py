"""Short scenes that agents play by rule when they meet: ``scenes.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from pydantic import Field, model_validator

from world.almanac import Almanac, Hours
from world.atlas import Atlas, HoursText, States, read_atlas
from world.layers import layers, table_in
from world.source import Entry, ids, known, refused


@dataclass(frozen=True, slots=True)
class SceneLine:
    """A line of a scene.

    Attributes:
        actor: The name of the agent who speaks or acts.
        words: What it says; empty if it does something.
        gesture: What it does, without its name; empty if it speaks.
    """

    actor: str
    words: str = ""
    gesture: str = ""

    @property
    def seen(self) -> str:
        """The line as others see it."""
        return (
            f'{self.actor} says, "{self.words}"' if self.words else f"{self.actor} {self.gesture}"
        )

    @property
    def act(self) -> str:
        """The line as the actor's own act."""
        return f"say {self.words}" if self.words else f"emote {self.gesture}"


ANYBODY = ("A", "B")
"""The roles of a scene that any two agents may play."""


class Scene(Entry):
    """A short scene of two people."""

    who: tuple[known("person"), known("person")] = ANYBODY
    places: ids("room") = Field((), alias="in")  # where it may be; empty for anywhere
    at: HoursText = ""
    when: States = Field(default_factory=list)
    lines: Annotated[tuple[str, ...], Field(min_length=2, max_length=4)]

    @model_validator(mode="after")
    def _check_roles(self) -> Scene:
        if {role for role, *_ in self._parts()} != {*self.who}:
            cure = "Write 'Joss: words', or 'Joss does something.'"
            raise refused("both people, and nobody else, must have a line", cure, "lines")
        return self

    def _parts(self) -> Iterator[tuple[str, str, str]]:
        """Yield the role of each line, ``:`` if it is speech, and the rest."""
        for line in self.lines:
            name, _, text = line.partition(" ")
            yield name.removesuffix(":"), name[-1:], text

    def fits(self, names: tuple[str, str], place: str, now: Almanac) -> bool:
        """Return whether these two may play it here and now."""
        here = not self.places or place in self.places
        hour = not self.at or now.moment in Hours.parse(self.at)
        ours = self.who == ANYBODY or {*self.who} == {*names}
        return here and hour and ours and now.states.issuperset(self.when)

    def played_by(self, names: tuple[str, str]) -> Iterator[SceneLine]:
        """Yield its lines: ``Joss: words`` is speech, ``Joss does something.`` is a gesture."""
        cast = dict(zip(self.who, names if self.who == ANYBODY else self.who, strict=True))
        for role, mark, text in self._parts():
            if mark == ":":
                yield SceneLine(cast[role], words=text)
            else:
                yield SceneLine(cast[role], gesture=text)


class _Scenes(Entry):
    """The file ``scenes.yaml``."""

    scenes: tuple[Scene, ...] = ()


@lru_cache(maxsize=1)
def scenes() -> tuple[Scene, ...]:
    """Return the scenes of the world; ``scenes.cache_clear()`` makes the next call read again."""
    return read_scenes()


def read_scenes(atlas: Atlas | None = None) -> tuple[Scene, ...]:
    """Read and check the scenes of the world.

    Raises:
        ConfigError: The file is not YAML, or a scene names something that does not exist; with
            line and reason.
    """
    atlas = atlas or read_atlas()
    people = (*ANYBODY, *(person.name for person in atlas.people.values()))
    names = {"person": people, "room": atlas.places}
    return table_in("scenes.yaml", layers()).read(_Scenes, names).scenes
