"""How much agents keep and show of people, places and things, from ``vault/config/people.md``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from game.mind.markdown_config import merged
from game.mind.retired_settings import current_settings


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


def load_people_config(path: Path) -> PeopleConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    read, default = current_settings(merged(path), PeopleConfig), PeopleConfig()
    return PeopleConfig(budget=read.integer("budget", default.budget, high=100_000))
