"""What one agent has lived, as the views read it, whether its world runs or is only a record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from game.mind.archive.log import Archive
from game.mind.archive.records import Summary
from game.mind.errors import KeepsakeError
from game.mind.events.agent_names import Names
from game.mind.memory import MemoryContext
from game.web.api.shapes import SummaryView, iso


class NoSuchAgent(KeepsakeError):
    """No agent has that number."""


def no_such(number: int) -> NoSuchAgent:
    """The refusal for that number."""
    return NoSuchAgent(f"There is no agent {number}", "GET /agents/api/agents lists all")


@dataclass(frozen=True, slots=True)
class ArchiveAccess:
    """What a view's thread needs to read what an agent lived through."""

    names: Names  # what it is and was called
    archive: Archive  # where it stands; safe in any thread
    context: MemoryContext  # what stands in its prompt
    # whatever changes what the archive tells of its compactions changes this as well
    state: tuple[object, ...]


def window_first(context: MemoryContext, total: int) -> int:
    """Number of the first memory that stands verbatim; the next one's if none does."""
    return context.window[0].number if context.window else total + 1


def summary(found: Summary, compaction: int, tokens: int, *, undone: bool = False) -> SummaryView:
    """A summary for people, which that compaction wrote; ``tokens`` is its share of a prompt."""
    return SummaryView.of(
        found,
        kind=found.tier.value,
        compaction=compaction,
        at=iso(found.time),
        tokens=tokens,
        undone=undone,
    )


@dataclass(frozen=True, slots=True)
class Inhabitant:
    """An agent, as far as a page about all of them needs to know it."""

    number: int  # its database number
    name: str
    place: str  # the room it is in now; empty where it is nowhere
    folder: Path  # its folder in the vault


@dataclass(frozen=True, slots=True)
class WayOut:
    """An exit from one room to another."""

    name: str  # ``north``, ``up``, ``through the hedge``
    start: int  # the room's database number
    end: int


@dataclass(frozen=True, slots=True)
class Grounds:
    """The rooms of a world, and what leads from one to the other."""

    rooms: tuple[tuple[int, str], ...]  # database number and name
    ways: tuple[WayOut, ...]
