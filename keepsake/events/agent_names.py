"""Which agent an event is of: by the agent's id, and in older lines by what it was called then.

Lines of before there were ids name agents only, and agents may be renamed. An agent has one name
after the other, without a gap: its first one since ever (an archive of that name may be older than
the agent), each other one since the renaming. A name that it gave up says nothing of it from then
on, whoever bears it now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

type When = Callable[[], datetime | None]
"""Gives the time of an event, with time zone; None if it has none. Asked where it matters."""


@dataclass(frozen=True, slots=True)
class Called:
    """A name, and when it was borne, with time zone: None since ever, and until now."""

    name: str
    since: datetime | None = None
    until: datetime | None = None

    @property
    def always(self) -> bool:
        """Whether it is the only one that there ever was."""
        return self.since is None and self.until is None

    def then(self, at: datetime | None) -> bool:
        """Whether it was borne at that time; of what has no time nobody can say so."""
        if self.always or at is None:
            return self.always
        return (self.since is None or self.since <= at) and (self.until is None or at <= self.until)


@dataclass(frozen=True, slots=True)
class Names:
    """All names of one agent, the present one last (one may come several times), and its id."""

    called: tuple[Called, ...]
    agent_id: int = 0
    """As events have it; 0 where it is not known."""

    @classmethod
    def of(cls, agent: str | Names) -> Names:
        """Those of an agent that has never been called otherwise, as far as is known."""
        return agent if isinstance(agent, Names) else cls((Called(agent),))

    @classmethod
    def after(
        cls,
        former: Iterable[tuple[str, datetime]],
        now: str,
        since: datetime | None,
        agent_id: int = 0,
    ) -> Names:
        """The names of an agent that was renamed.

        ``former``: Its former names, the oldest first, each with the time until which it held.
        ``since``: Since when it bears the first of all; None for ever.
        """
        called: list[Called] = []
        for name, until in former:
            called.append(Called(name, since, until))
            since = until
        return cls((*called, Called(now, since)), agent_id)

    @property
    def now(self) -> str:
        """The present name."""
        return self.called[-1].name

    @property
    def each(self) -> tuple[str, ...]:
        """All different names, the present one first."""
        return tuple(dict.fromkeys(each.name for each in reversed(self.called)))

    def has(self, name: str) -> bool:
        """Whether it is or was ever called so, whatever the case."""
        return any(each.name.casefold() == name.casefold() for each in self.called)

    def bore(self, name: str, when: When, agent_id: int = 0) -> bool:
        """Whether what names somebody so, whatever the case, means this agent.

        The id decides where both sides have one; the name at that time where one has none.
        """
        if agent_id and self.agent_id:
            return agent_id == self.agent_id
        folded = name.casefold()
        found = [each for each in self.called if each.name.casefold() == folded]
        if not found or found[0].always:
            return bool(found)
        at = when()
        return any(each.then(at) for each in found)


def id_of(record: Mapping[str, Any]) -> int:
    """The id of the agent that an event is of; 0 where it has none, as in older lines."""
    found = record.get("agent_id")
    return found if isinstance(found, int) else 0


def time_of(said: object) -> datetime | None:
    """The time of an event, as its field ``t`` has it; None if that is no time."""
    try:
        return datetime.fromisoformat(str(said)).astimezone()
    except (ValueError, OverflowError):
        return None
