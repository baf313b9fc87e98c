"""Can an agent still tell what was compacted? Asked of prompt and recall, afterwards.

A compaction draws a few questions with known answers from what it is about to summarise.
Once the index has caught up they are put to what the agent sees, and to its own recall;
how many still find their answer is a line in the archive beside the compaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from keepsake.agent.agent_log import log, logged
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.recaller import Recaller
from keepsake.agent.runtime import Runtime
from keepsake.agent.waiting import Alarm
from keepsake.archive.verdicts import RoundtripQuestion
from keepsake.errors import KeepsakeError
from keepsake.memory.roundtrip import rate
from keepsake.memory.types import CompactionResult, MemoryContext
from keepsake.recall.related import related

LOOK_SECONDS = 1.0
SEARCH_SECONDS = 10.0
"""How long one of the questions may be searched for."""
PATIENCE = 120
"""How often the index is looked at before recall is asked as it is."""


class Examiner:
    """Measures what one agent's compactions left."""

    def __init__(self, memory: MemoryComponent, recaller: Recaller, services: Runtime) -> None:
        self._name, self._memory = memory.name, memory
        self._recaller, self._services = recaller, services
        self._waiting = Alarm(services.timer)

    def close(self) -> None:
        """Measure nothing any more."""
        self._waiting.cancel()

    def compacted(self, result: CompactionResult) -> None:
        """A compaction is done: ask its questions when the index has followed."""
        if result.number and result.covered:
            self._ask_when_followed(result, PATIENCE)

    def _ask_when_followed(self, result: CompactionResult, looks: int) -> None:
        indexes = self._services.indexes
        if looks and indexes and not indexes.followed(self._memory.folder.name):
            self._waiting.set(LOOK_SECONDS, self._ask_when_followed, result, looks - 1)
            return
        self._recaller.prepare()
        self._services.workers.submit(self._examine, result.number, result.questions)

    def _examine(self, number: int, questions: Sequence[RoundtripQuestion]) -> None:
        """In a worker thread."""
        with logged(f"{self._name}: Measuring compaction {number} broke off"):
            try:
                self._measure(number, questions)
            except KeepsakeError as error:
                left = f"What compaction {number} left was not measured"
                log(f"[Memory] {self._name}: {left}: {error}")

    def _measure(self, number: int, questions: Sequence[RoundtripQuestion]) -> None:
        memory = self._memory.memory
        context = memory.context()
        visible = (*self._memory.always_shown(), *context.lines)
        found = rate(questions, visible, self._search(context))
        memory.record_rate(number, found)
        if found.asked:
            log(f"[Memory] {self._name}: {found.words} after compaction {number}")

    def _search(self, context: MemoryContext) -> Callable[[str], Sequence[str] | None] | None:
        """What a thought would be given on these words; None in a world without recall."""
        if self._services.indexes is None:
            return None
        before = context.window[0].number if context.window else None

        def search(text: str) -> Sequence[str] | None:
            found = self._recaller.find(text, by="examiner", before=before, seconds=SEARCH_SECONDS)
            if found is None:
                return None
            lines = related(found, context, self._services.recall.current)
            return (*lines.notes, *lines.experiences)

        return search
