"""What one agent has lived, as the views read it, whether its world runs or is only a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from game.web.api.shapes import SummaryView, TiersView, iso
from keepsake.archive.log import Archive
from keepsake.archive.records import Summary
from keepsake.errors import KeepsakeError
from keepsake.events.agent_names import Names
from keepsake.memory import MemoryContext


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


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where one tier ends and the next begins."""

    first: int  # first memory that any tier holds
    longterm_last: int  # last memory of the long-term summary, 0 without one
    window_first: int  # first memory that stands verbatim; the next one's if none does

    @classmethod
    def of(cls, context: MemoryContext, total: int) -> Bounds:
        """Those of what stands in the prompt now; ``total`` is the newest memory's number."""
        window = context.window[0].number if context.window else total + 1
        oldest = context.longterm or context.recent
        longterm_last = context.longterm.last if context.longterm else 0
        return cls(oldest.first if oldest else window, longterm_last, window)

    def holding(self, number: int) -> str:
        """The tier of a memory, as :class:`game.web.api.shapes.MemoryView` names it."""
        if number >= self.window_first:
            return "window"
        if number < self.first:
            return "cleared"
        return "longterm" if number <= self.longterm_last else "recent"


def tiers(
    context: MemoryContext, total: int, compaction: int, window: int, tokens: Callable[[str], int]
) -> TiersView:
    """Which memory is where, by what stands in the prompt.

    Args:
        context: That.
        total: The newest memory's number.
        compaction: Number of the one that the summaries are of.
        window: Tokens of the window.
        tokens: Counts those of a text.
    """
    bounds = Bounds.of(context, total)
    views = {
        each.tier.value: summary(each, compaction, tokens(each.text)) for each in context.summaries
    }
    return TiersView(
        first=bounds.first,
        total=total,
        longterm=views.get("longterm"),
        recent=views.get("recent"),
        window_first=bounds.window_first,
        window_tokens=window,
    )


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


def inhabitant(number: int, there: Sequence[Inhabitant]) -> Inhabitant:
    """The agent with that number.

    Raises:
        NoSuchAgent: There is none.
    """
    found = next((each for each in there if each.number == number), None)
    if found is None:
        raise no_such(number)
    return found


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
