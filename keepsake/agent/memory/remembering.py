"""The components of one agent that remember, made for each other."""

from __future__ import annotations

from collections.abc import Callable

from keepsake.agent.agent_log import Complaints, logged
from keepsake.agent.memory.acquaintances import Acquaintances
from keepsake.agent.memory.diary import Diary
from keepsake.agent.memory.keeper import MemoryTools
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.recaller import Recaller
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import Life
from keepsake.books.files import Owner
from keepsake.books.notes import NoteBook


class Remembering:
    """What one agent remembers with.

    ``asleep`` says whether its memory may be compacted because the agent sleeps.

    Attributes:
        memory: What it experienced.
        diary: Its journal.
        acquaintances: Whom it knows.
        keeper: Its notes and pins, and its recall.
    """

    def __init__(self, life: Life, services: Runtime, asleep: Callable[[], bool]) -> None:
        self.memory = memory = MemoryComponent(
            life,
            services,
            pins=lambda: self.keeper.pinned.shown,
            importance=lambda memory: self.diary.importance_of(memory),  # noqa: PLW0108 - made later
            may_compact=asleep,
        )
        self.diary = Diary(life, memory, services)
        self.acquaintances = Acquaintances(life, memory, services)
        trouble, emit = Complaints(f"[Notes] {life.name}"), services.events.emit
        notes = NoteBook(life.folder / "notes", Owner(life.name, trouble, emit))
        found_by = Recaller(life, notes, memory, services)
        self.keeper = MemoryTools(life, memory, self.diary, found_by, services)
        memory.watchers = (self.acquaintances.saw,)

    def look(self) -> None:
        """See what a person has changed in the agent's files; blocks, never raises.

        Whatever reads them sees it too: this is for those that nobody reads for a while.
        """
        with logged(f"{self.memory.name}: Its files could not be looked at"):
            self.keeper.notes.all()
            _ = self.keeper.pinned.shown, self.memory.commitments.items
            self.diary.journal.entries()
            self.acquaintances.look()
