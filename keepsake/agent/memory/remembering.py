"""The components of one agent that remember, made for each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial

from keepsake.agent.agent_log import logged
from keepsake.agent.body import Life
from keepsake.agent.memory.acquaintances import Acquaintances
from keepsake.agent.memory.diary import Diary
from keepsake.agent.memory.keeper import MemoryTools
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.plugged import PluggedMemory
from keepsake.agent.offstage.hearsay import Hearsay
from keepsake.agent.runtime import Runtime
from keepsake.archive.records import Memory
from keepsake.memory.protocol import OURS
from keepsake.memory.types import CompactionResult


class Remembering(ABC):
    """What one agent remembers with; also the :class:`MemoryOwner` of its memory.

    Attributes:
        memory: What it lived through.
        diary: Its journal.
        acquaintances: Whom it knows.
        keeper: Its notes and pins, and its recall.
        hearsay: What it may tell others, and what of it they know.
        plugged: The memory that it has in place of ours; None for ours.
    """

    def __init__(self, life: Life, services: Runtime) -> None:
        self.memory = memory = MemoryComponent(life, self, services)
        self.diary = diary = Diary(life, memory, self.met, services)
        self.acquaintances = Acquaintances(life, memory, services)
        self.plugged: PluggedMemory | None = None
        if life.memory not in OURS:
            self.plugged = PluggedMemory(life, memory, services)
        self.keeper = MemoryTools(life, memory, diary, services, self.plugged)
        # The diary first: whoever is new to the agent is so until its acquaintances have seen them.
        remembered = partial(services.taps.remembered, life.name)
        self.hearsay = Hearsay(life.name)
        ours = (diary.saw, self.acquaintances.saw, self.hearsay.saw, remembered)
        self.watchers = ours if self.plugged is None else (*ours, self.plugged.saw)

    @abstractmethod
    def may_compact(self) -> bool:
        """Whether its memory may be compacted because the agent sleeps."""

    @abstractmethod
    def compacted(self, result: CompactionResult) -> None:
        """A compaction has ended."""

    def pins(self) -> Sequence[str]:
        """The pinned lines as a prompt shows them; in any thread."""
        return self.keeper.pinned.shown

    def importance(self, memory: Memory) -> int:
        """How much a memory matters, 1 to 10; in any thread."""
        return self.diary.importance_of(memory).score

    def leaving(self, window: Sequence[Memory]) -> None:
        """A compaction begins; blocks."""
        self.diary.leaving(window)

    def met(self, memory: Memory) -> bool:
        """Whether the agent knew who caused a memory."""
        return not memory.source_id or self.acquaintances.met(memory.source_id)

    def read_back(self, services: Runtime) -> None:
        """Read what it may tell others from what it has lived through; blocks, never raises."""
        with logged(f"{self.memory.name}: What it has to tell could not be read"):
            before = self.memory.lately()
            services.post(lambda: self.hearsay.begin_with(before))

    def look(self) -> None:
        """See what a person has changed in the agent's files; blocks, never raises.

        Whatever reads them sees it too: this is for those that nobody reads for a while.
        """
        with logged(f"{self.memory.name}: Its files could not be looked at"):
            self.keeper.notes.all()
            _ = self.keeper.pinned.shown, self.memory.commitments.items
            self.diary.journal.entries()
            self.acquaintances.look()
