"""The profiles of one agent: markdown files that people may read and edit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from game.mind.journal.entries import Importance
from game.mind.people.config import PeopleConfig
from game.mind.people.profile import Closeness, Kind, Name, Profile
from game.mind.records import Memory


@dataclass(frozen=True, slots=True)
class Light:
    """What is in RAM of every profile.

    Attributes:
        key: Who it is.
        kind: Person, place or thing.
        names: What they were called, the present name last.
        last_met: When they last met, with time zone.
        closeness: How well the agent knows them.
    """

    key: str
    kind: Kind
    names: tuple[Name, ...]
    last_met: datetime
    closeness: Closeness


class PeopleBook:
    """All that one agent knows of people, places and things; safe to use from several threads.

    Args:
        folder: ``vault/agents/<name>``; ``people``, ``places`` and ``things`` lie in it.
        config: The limits, as they are now.
        report: Told once about each state of a file that cannot be read.
    """

    def __init__(
        self,
        folder: Path,
        config: Callable[[], PeopleConfig] = PeopleConfig,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self._config = config
        self._report = report

    def open(self) -> None:
        """Learn whom there is; blocks. Every blocking method does it when nobody has."""

    @property
    def through(self) -> int:
        """Number of the last memory that is worked in; blocks the first time."""
        return 0

    @property
    def problems(self) -> list[str]:
        """What is wrong with files that cannot be read, one sentence each; blocks."""
        return []

    def take(
        self,
        memories: Iterable[Memory],
        own_name: str,
        importance_of: Callable[[Memory], Importance],
    ) -> int:
        """Work memories in; blocks. Gives how many profiles changed."""
        return 0

    def profile(self, key: str) -> Profile | None:
        """The profile of that key, from its file where it is not in RAM; may block."""
        return None

    def load(self, keys: Iterable[str]) -> None:
        """Have these profiles in RAM as their files are now; blocks."""

    def loaded(self, key: str) -> Profile | None:
        """The profile if it is in RAM; quick."""
        return None

    def known(self, key: str) -> bool:
        """Whether there is a profile; quick."""
        return False

    def names_of(self, key: str) -> tuple[str, ...]:
        """What they were called, the present name first; quick."""
        return ()

    def find(self, words: str) -> list[Profile]:
        """Profiles by a name, the beginning of one, or a key; blocks."""
        return []

    def all(self) -> list[Light]:
        """Everybody and everything, those met last first; blocks."""
        return []
