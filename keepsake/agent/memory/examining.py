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
from keepsake.archive import history
from keepsake.archive.history import PastCompaction
from keepsake.archive.verdicts import Rate, RoundtripQuestion
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
        self._begun = self._closed = False

    def close(self) -> None:
        """Measure nothing any more."""
        self._closed = True
        self._waiting.cancel()

    def resume(self) -> None:
        """Ask what the last compaction left, if the server stopped before that was done."""
        try:
            memory = self._memory.memory
            status, archive = memory.status(), memory.archive
        except KeepsakeError:  # it cannot be opened now; the memory itself says so
            return
        if not status.last_number or status.last_rate is not None:
            return

        def work() -> None:
            with logged(f"{self._name}: Past compactions could not be read"):
                if past := history.standing(archive):
                    self._services.post(lambda: self._resumed(past[-1]))

        self._services.workers.submit(work)

    def _resumed(self, last: PastCompaction) -> None:
        # A compaction since then has its own questions, and they may be under way.
        if not (self._closed or self._begun) and last.questions and last.covered:
            self._ask_when_followed(last.number, last.questions, PATIENCE)

    def compacted(self, result: CompactionResult) -> None:
        """A compaction is done: ask its questions when the index has followed."""
        try:
            questions = tuple(self._memory.memory.questions)
        except KeepsakeError:  # the archive is closed by now; the memory itself says so
            return
        if result.number and result.covered:
            self._waiting.cancel()
            self._ask_when_followed(result.number, questions, PATIENCE)

    def _ask_when_followed(
        self, number: int, questions: tuple[RoundtripQuestion, ...], looks: int
    ) -> None:
        self._begun = True
        indexes = self._services.indexes
        if looks and indexes and not indexes.followed(self._memory.folder.name):
            self._waiting.set(LOOK_SECONDS, self._ask_when_followed, number, questions, looks - 1)
            return
        self._recaller.prepare()
        self._services.workers.submit(self._examine, number, questions)

    def _examine(self, number: int, questions: tuple[RoundtripQuestion, ...]) -> None:
        """In a worker thread."""
        with logged(f"{self._name}: Measuring compaction {number} broke off"):
            try:
                self._measure(number, questions)
            except KeepsakeError as error:
                left = f"What compaction {number} left was not measured"
                log(f"[Memory] {self._name}: {left}: {error}")

    def _measure(self, number: int, questions: tuple[RoundtripQuestion, ...]) -> None:
        memory = self._memory.memory
        context = memory.context()
        visible = (*self._memory.always_shown(), *context.lines)
        found = rate(questions, visible, self._search(context))
        memory.record_rate(number, found)
        if found.asked:
            log(f"[Memory] {self._name}: {told(found)} after compaction {number}")

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


def told(found: Rate) -> str:
    """The rate in words: ``7 of 8 answers are still there (3 in the prompt)``."""
    if found.recalled is None:
        return f"{found.prompt} of {found.asked} answers are still in the prompt (no recall)"
    return (
        f"{found.recalled} of {found.asked} answers are still there ({found.prompt} in the prompt)"
    )
