"""Runs the cleaners of all stores in order, for one person.

1. The request is written to the disk.
2. The archives are read: which memories are the person's, and how are texts recognised? That is
   written to the request, too.
3. Logs are cleaned, then for each agent its waiting memories and its folder, then the rows of the
   game's database, then the logs once more, for what was written meanwhile, and the database file.
4. The request is deleted.

A store that fails does not keep the others from being cleaned. Then the request stays, and the
deletion is continued at the next start, or when the person asks again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keepsake.erasure.cleaner import Cleaner
from keepsake.erasure.request import ErasureRequest
from keepsake.erasure.traces import AgentMemories
from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.ERASURE)


class Erasure:
    """One person's deletion from all stores. The caller chooses the thread of each step.

    Args:
        request: The request; it is kept on the disk until :meth:`end`.
        problems: The list for the problems; a new one if None.

    Attributes:
        problems: What could not be deleted, in words.
    """

    def __init__(self, request: ErasureRequest, problems: list[str] | None = None) -> None:
        self.request = request
        self.problems: list[str] = [] if problems is None else problems

    def begin(self, archives: Iterable[AgentMemories]) -> None:
        """Record the request, and collect what the person left behind; blocks.

        Raises:
            OSError: The request cannot be written, or an archive cannot be read. Nothing has been
                deleted.
        """
        self.request.save()
        self.request.traces.collect(archives)
        self.request.save()

    def run(self, cleaners: Sequence[Cleaner], agent: str = "") -> None:
        """Clean stores, one after the other; blocks.

        ``agent``: The name of the agent that they belong to, for the log; empty for none.
        """
        for cleaner in cleaners:
            try:
                cleaner.clean(self.request.traces)
            except OSError as error:
                log.error("Forgetting failed", agent=agent, store=cleaner.name, exc_info=error)
                self.problems.append(f"{cleaner.name}: {error}")
            except Exception as error:  # a bug in one cleaner must not keep words in other stores
                log.error("Forgetting failed", agent=agent, store=cleaner.name, exc_info=error)
                self.problems.append(f"{cleaner.name}: {error}")

    def end(self) -> bool:
        """Delete the request if everything is deleted; return whether it is."""
        if self.problems:
            return False
        try:
            self.request.done()
        except OSError as error:
            self.problems.append(f"{self.request.path.name}: {error}")
        return not self.problems
