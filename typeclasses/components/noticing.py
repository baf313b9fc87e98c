"""What is noticed in an agent's memories: rules that it was told, promises, open questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from game.mind.errors import KeepsakeError
from game.mind.noticed import NoticedBlock
from game.mind.records import Memory
from typeclasses.services import Services, log

FILE = "noticed.md"


class Noticing:
    """Keeps what was noticed of one agent's life in its folder of the vault.

    Args:
        name: The agent's name.
        folder: ``vault/agents/<name>``.
        services: Where the threads are.
    """

    def __init__(self, name: str, folder: Path, services: Services) -> None:
        self.block = NoticedBlock(folder / FILE, self._trouble)
        self._name, self._services = name, services
        self._told = ""
        self._saving = False

    def saw(self, memory: Memory) -> None:
        """Look at a new memory; quick, the file is written in a worker thread."""
        self._look(lambda: self.block.follow(memory, self._name))

    def catch_up(self, memories: Iterable[Memory]) -> None:
        """Look at what was lived through and not kept, as after a crash."""
        self._look(lambda: self.block.catch_up(memories, self._name))

    def _look(self, look: Callable[[], bool]) -> None:
        try:
            if look():
                self._save_soon()
        except Exception as error:
            # Whatever somebody said: it is in the archive, and must not be archived again.
            self._trouble(f"A memory could not be looked at: {error!r}")

    @property
    def lines(self) -> tuple[str, ...]:
        """All that is kept and fits into a prompt; each line names its source."""
        return self.block.lines

    def lines_before(self, number: int | None) -> tuple[str, ...]:
        """Those of them that the window, which begins with memory ``number``, no longer says."""
        return self.block.lines_before(number)

    def _save_soon(self) -> None:
        if not self._saving:
            self._saving = True
            self._services.searchers.submit(self._save)

    def _save(self) -> None:
        self._saving = False
        try:
            self.block.save()
        except KeepsakeError as error:
            self._trouble(str(error))
        except Exception as error:
            # Nobody looks at the future: without this line nobody would ever hear of it.
            log(f"[Error] {self._name}: Noticing broke off: {error!r}")

    def _trouble(self, problem: str) -> None:
        if problem != self._told:
            log(f"[Notes] {self._name}: {problem}")
        self._told = problem
