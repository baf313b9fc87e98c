"""Writes how far the plans of an agent are, in a worker thread."""

from __future__ import annotations

from collections.abc import Iterable

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from keepsake.agent.runtime import Runtime
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plans import PlanBook
from keepsake.errors import KeepsakeError
from keepsake.events.values import Author
from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.PLANS)

WRITE_SECONDS = 10.0
"""Seconds to write the file of plans. A disk that is slower must not keep the agent from acting."""


class PlanStates:
    """Changes the states of one agent's plans. A file that cannot be written is logged.

    Args:
        name: The agent's name, for the log.
        book: The plans as a file.
    """

    def __init__(self, name: str, book: PlanBook, services: Runtime) -> None:
        self._name = name
        self._book = book
        self._services = services

    def begin(self, plans: Iterable[Plan]) -> Deferred[None]:
        """Mark plans as begun; fires when that is on disk, or could not be written."""
        begun = tuple(plans)

        def change() -> None:
            for each in begun:
                self._book.set_state(each, PlanState.DOING, by=Author.WORLD)

        def failed(failure: Failure) -> None:
            log.warning("A plan could not be begun", agent=self._name, exc_info=failure.value)

        return self._services.in_thread(change, WRITE_SECONDS).addErrback(failed)

    def set(self, plan: Plan, state: PlanState, why: str = "") -> None:
        """Change the state of a plan; ``why``: The reason, as the file says it."""

        def change() -> None:
            try:
                self._book.set_state(plan, state, why, by=Author.WORLD)
            except KeepsakeError as error:
                log.warning("A plan could not be changed", agent=self._name, exc_info=error)

        self._services.workers.submit(change)
