"""Which memories of one agent are no news to another person.

Everybody who perceives something remembers it with the same id. What was passed on has the chain of
the memories behind it. So it is known by data who knows of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from keepsake.agent.memory.telling import states
from keepsake.agent.surroundings.game_objects import CharacterObject
from keepsake.agent.surroundings.identity import is_agent
from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError
from keepsake.happening import Speech, addressees_of

LINK = "; "
"""What stands between the memories of a :attr:`Memory.chain`."""


@dataclass(frozen=True, slots=True)
class KnownNews:
    """What another agent knows, as far as its window tells; nothing of a player.

    Attributes:
        name: The name under which it passes things on; empty for a player.
        happenings: The ids of the happenings that it perceived.
        origins: Where what was passed on to it began: ``Mira 212``.
        since: When its window begins; None for a player, or an empty window.
    """

    name: str = ""
    happenings: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    since: datetime | None = None

    def has_lost(self, memory: Memory) -> bool:
        """Return whether its window would not tell it, because it is older, or nothing is known."""
        return self.since is None or memory.time < self.since

    def has(self, memory: Memory) -> bool:
        """Return whether it knows what a memory tells.

        That is so if it perceived that, or all with which hearsay began, or passed it on itself.
        """
        if memory.happening in self.happenings:
            return True
        if memory.origins and self.happenings.issuperset(memory.origins):
            return True
        links = memory.chain.split(LINK) if memory.chain else []
        by_it = any(each.rpartition(" ")[0] == self.name for each in links)
        return bool(self.name) and (by_it or bool(self.origins.intersection(links[:1])))


def known_to(person: CharacterObject) -> KnownNews:
    """Return what an agent knows; of a player nothing is known."""
    mind = person.mind if is_agent(person) else None
    if mind is None:
        return KnownNews()
    try:
        window = mind.memory.context().window
    except KeepsakeError:
        return KnownNews()
    return KnownNews(
        str(person.key),
        frozenset(each.happening for each in window if each.happening),
        frozenset(each.chain.split(LINK)[0] for each in window if each.chain),
        window[0].time if window else None,
    )


def origins_of(memory: Memory) -> tuple[str, ...]:
    """Return the ids of the happenings that a memory tells; of hearsay, with its origins."""
    return memory.origins or tuple(filter(None, [memory.happening]))


def concerns(memory: Memory, who: str) -> bool:
    """Whether somebody said or did what a memory tells, or it was said or done to them."""
    people = (memory.source_id, memory.about, *(each.id for each in addressees_of(memory.what)))
    return who in people


def tells_something(said: Speech) -> bool:
    """Whether words state something; names in them may be those of speaker and addressees."""
    return states(said.words, (each.name for each in (said.speaker, *said.to)))
