"""How much agents keep and show of people, places and things, from ``vault/config/people.md``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from game.mind.markdown_config import merged


@dataclass(frozen=True, slots=True)
class PeopleConfig:
    """Each is explained in the file.

    Attributes:
        budget: Tokens that profiles may take in one prompt; 0: none are shown.
        shown: The most people of whom a prompt says something.
        observations: The most observations that one profile keeps.
        facts: The most facts, past ones included, that one profile keeps.
        conclusions: The most conclusions that one profile keeps.
        things: The most things of which an agent keeps a profile.
    """

    budget: int = 300
    shown: int = 6
    observations: int = 40
    facts: int = 30
    conclusions: int = 8
    things: int = 200


_LEAST = {"budget": 0, "shown": 0, "observations": 1, "facts": 4, "conclusions": 0, "things": 0}
_MOST = {
    **{"budget": 100_000, "shown": 100, "observations": 1000},
    **{"facts": 500, "conclusions": 100, "things": 100_000},
}


def load_people_config(path: Path) -> PeopleConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    read, default = merged(path), PeopleConfig()
    names = [field.name for field in fields(PeopleConfig)]
    read.only(names)
    return PeopleConfig(
        **{
            name: read.integer(name, getattr(default, name), low=_LEAST[name], high=_MOST[name])
            for name in names
        }
    )
