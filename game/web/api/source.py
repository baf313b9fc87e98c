"""Where the views have their world from: the one that runs in this process, or a record of one.

A view that asks nothing else shows a running world and a simulation's folder alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Protocol

from game.web.api.lives import ArchiveAccess, Grounds, Inhabitant
from game.web.api.shapes import AgentRow, Overview, PromptView, TiersView
from keepsake.events.agent_names import Names
from keepsake.recall.documents import Hit


class WorldSource(Protocol):
    """What the views ask; each of these may block, and is called in a view's thread.

    Raises:
        NoSuchAgent: There is none with that number.
        KeepsakeError: The world cannot answer now.
    """

    @property
    def recorded(self) -> bool:
        """Whether nothing runs: its present is the last event's time."""

    @property
    def title(self) -> str:
        """What a record is called; empty for the world that runs."""

    @property
    def events(self) -> Path:
        """The folder of its event log."""

    @property
    def zone(self) -> tzinfo | None:
        """The time zone of its days; None for this machine's."""

    def now(self) -> datetime:
        """Its present, with time zone."""

    def overview(self, *, may_act: bool) -> Overview:
        """All agents at a glance."""

    def row(self, number: int, *, may_act: bool) -> AgentRow:
        """One of them."""

    def prompt(self, number: int) -> PromptView:
        """What this process sent for it last; without a time if it sent nothing."""

    def tiers(self, number: int) -> TiersView:
        """Which of its memories is where."""

    def life(self, number: int) -> ArchiveAccess:
        """Its archive."""

    def names(self, number: int) -> Names:
        """What it is and was called."""

    def ranked(self, number: int, question: str, limit: int) -> Sequence[Hit] | None:
        """What its recall finds, best first; None if nothing can be searched."""

    def inhabitants(self) -> Sequence[Inhabitant]:
        """All agents, by name."""

    def grounds(self) -> Grounds:
        """The map."""


_worlds: list[WorldSource] = []
_chosen: ContextVar[int] = ContextVar("chosen", default=0)


def use(*worlds: WorldSource) -> None:
    """Show these worlds from now on; without any, the one that runs in this process."""
    _worlds[:] = worlds


def choose(place: int) -> None:
    """Show the world at that place of those in use, in this request; the first for any other."""
    _chosen.set(place if 0 <= place < len(_worlds) else 0)


def titles() -> list[str]:
    """What the worlds are called that can be chosen."""
    return [each.title for each in _worlds]


def source() -> WorldSource:
    """The world that is shown."""
    if not _worlds:
        # Only where it runs: it brings Evennia, of which a record knows nothing.
        from game.web.api.running import RunningWorld  # noqa: PLC0415

        use(RunningWorld())
    return _worlds[_chosen.get()]
