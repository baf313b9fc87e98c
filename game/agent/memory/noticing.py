"""What is noticed in an agent's memories: rules that it was told, promises, open questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from game.agent.agent_log import Complaints, log, logged
from game.agent.body import Life
from game.agent.services import Services
from game.mind.archive.records import Memory
from game.mind.books.commitments import Commitments
from game.mind.books.noticing_asleep import reread
from game.mind.books.resolution import settled
from game.mind.errors import KeepsakeError
from game.mind.sleep.asking import NightOver

FILE = "noticed.md"


class Noticing:
    """Keeps what was noticed of one agent's life in its folder of the vault."""

    def __init__(self, life: Life, services: Services) -> None:
        name, emit = life.name, services.events.emit
        self._trouble = Complaints(f"[Notes] {name}")
        self.block = Commitments(life.folder / FILE, self._trouble, name, emit)
        self._name, self._services = name, services
        self._saving = False

    def saw(self, memory: Memory) -> None:
        """Look at a new memory; quick, the file is written in a worker thread."""
        if self.block.follow(memory, self._name):
            self._save_soon()

    def catch_up(self, memories: Iterable[Memory]) -> None:
        """Look at what was lived through and not kept, as after a crash."""
        with logged(f"{self._name}: What was not noticed yet could not be looked at"):
            if self.block.catch_up(memories, self._name):
                self._save_soon()

    def reread(
        self,
        window: Sequence[Memory],
        last: int,
        ask: Callable[[str, tuple[str, ...]], str],
    ) -> None:
        """Have a model look for what the rules missed, and keep it; blocks.

        ``last``: The number of the last memory that left the ``window`` with a compaction.

        Raises:
            NightOver: The agent has woken; all else is a line in the log.
        """
        try:
            leaving = [memory for memory in window if memory.number <= last]
            found = reread(leaving, self._name, ask)
            # What was taken back or done on the same day is over before it is noticed.
            over = {item for memory in window for item in settled(found, memory, self._name)}
            kept = self.block.add(item for item in found if item not in over)
        except NightOver:
            raise
        except KeepsakeError as error:
            log(f"[Notes] {self._name}: What was told is not read again in this sleep: {error}")
        except Exception as error:
            # Nobody looks at the future: without this line nobody would ever hear of it.
            log(f"[Error] {self._name}: Noticing in sleep broke off: {error!r}")
        else:
            for item in kept:
                log(f"[Notes] {self._name}: Noticed in sleep: {item.line}")

    def _save_soon(self) -> None:
        if not self._saving:
            self._saving = True
            self._services.searchers.submit(self._save)

    def _save(self) -> None:
        self._saving = False
        with logged(f"{self._name}: Noticing broke off"):
            try:
                self.block.save()
            except KeepsakeError as error:
                self._trouble(str(error))
