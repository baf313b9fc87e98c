"""What is noticed in an agent's memories: rules that it was told, promises, open questions."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from keepsake.agent.agent_log import Complaints, log, logged
from keepsake.agent.body import Life
from keepsake.agent.services import Services
from keepsake.archive.records import Memory
from keepsake.books.commitments import Commitments
from keepsake.books.noticing import Noticed
from keepsake.books.noticing_asleep import reread
from keepsake.books.resolution import settled
from keepsake.errors import KeepsakeError
from keepsake.sleep.asking import NightOver

FILE = "noticed.md"
AT_ONCE = 32
"""Memories of before that are looked at while whatever else wants the block waits."""


class Noticing:
    """Keeps what was noticed of one agent's life in its folder of the vault."""

    def __init__(self, life: Life, services: Services) -> None:
        name, emit = life.name, services.events.emit
        self._trouble = Complaints(f"[Notes] {name}")
        self.block = Commitments(life.folder / FILE, self._trouble, name, emit)
        self._name, self._services = name, services
        self._saving = False
        self._behind: deque[Memory] = deque()
        self._lock, self._settling = threading.Lock(), threading.Lock()

    def saw(self, memory: Memory) -> None:
        """Look at a new memory; quick, the file is written in a worker thread."""
        with self._lock:
            if self._behind:  # what was lived before is looked at before
                self._behind.append(memory)
                return
        if self.block.follow(memory, self._name):
            self._save_soon()

    def kept(self, promise: Noticed) -> None:
        """What was promised has been done, as the world itself knows."""

        def close() -> None:
            with logged(f"{self._name}: A promise that was kept could not be closed"):
                self.block.drop(lambda each: each == promise, by="rules")

        self._services.searchers.submit(close)

    def catch_up(self, memories: Iterable[Memory]) -> None:
        """Have a worker thread look at what was lived through and not kept; quick."""
        with logged(f"{self._name}: What was not noticed yet could not be looked at"):
            missed = self.block.missed(memories)
            with self._lock:
                self._behind.extend(missed)
            if missed:
                self._services.learners.submit(self.settle)

    def settle(self) -> None:
        """Look at all that was not looked at yet; blocks, never raises.

        After this a compaction may take those memories out of the window.
        """
        found = False
        with self._settling:
            while some := self._next():
                # What breaks on one of them must not keep all that comes after waiting.
                with logged(f"{self._name}: Noticing what was lived before broke off"):
                    found = self.block.catch_up(some, self._name) or found
                with self._lock:  # not sooner, or a new one would be looked at before them
                    for _ in range(min(len(some), len(self._behind))):
                        self._behind.popleft()
            if found:
                self._save()

    def _next(self) -> list[Memory]:
        with self._lock:
            return list(islice(self._behind, AT_ONCE))

    def close(self) -> None:
        """The agent is gone; what was not looked at is so when it comes back."""
        with self._lock:
            self._behind.clear()

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
