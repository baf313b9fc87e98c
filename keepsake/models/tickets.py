"""Calls of models in a queue: their priority, their place, and what comes of them.

:mod:`keepsake.models.queue` decides which goes next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

from keepsake.errors import ModelError
from keepsake.logs import Subsystem, get_logger
from keepsake.models.model import Model
from keepsake.models.profiles import ModelProfile
from keepsake.ports import Generation, GenerationRequest

log = get_logger(Subsystem.MODELS)

BuildFor = Callable[[ModelProfile], GenerationRequest | None]
"""Makes the request when its turn has come, for the current profile with all settings filled in.
Returns None if the request is no longer needed."""

Outcome = Generation | ModelError | None
"""The argument of ``done``: an answer, an error, or None if ``build`` returned None."""

Done = Callable[[Outcome], None]


class Priority(IntEnum):
    """The priority of a call; lower numbers go first."""

    PLAYER = 0
    EVENT = 1
    READ_AHEAD = 2
    """Reading a prompt before it is needed: it gives way to players, even while it runs."""
    IDLE = 3
    COMPACTION = 4
    SLEEP = 5


class PendingRequest:
    """One request for a call. It may be given up until its answer begins. Safe in any thread.

    Attributes:
        is_well_begun: Whether so much of the answer is written that the rest comes soon: a quarter
            of what it may have, at four characters a token. That is half of a usual summary.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = False
        self.given_up = False
        self.is_well_begun = False

    def note(self, characters: int, *, most_tokens: int) -> None:
        """Take note of how much of the answer is written.

        ``most_tokens``: The most tokens that it may have.
        """
        self.is_well_begun = characters >= most_tokens

    def begin(self) -> bool:
        """Note that a part of the answer is passed on; return False if it may not be."""
        with self._lock:
            self._begun = not self.given_up
            return self._begun

    def give_up(self) -> bool:
        """Give it up, unless a part of its answer was passed on; return whether it is."""
        with self._lock:
            self.given_up = not self._begun
            return self.given_up


@dataclass(eq=False, slots=True)
class Ticket:
    """A place in the queue."""

    priority: Priority
    key: str | None
    since: float
    model: Model
    build: BuildFor
    done: Done
    # set it to cancel the call: ``done`` is not called then; harmless after the end of the call
    cancelled: bool = False
    rebuilt: int = 0  # how often its prompt was rebuilt
    gave_way: bool = False  # whether it was taken back once, so that a player need not wait for it
    pending: PendingRequest = field(default_factory=PendingRequest)  # the newest request


def deliver(ticket: Ticket, outcome: Outcome) -> None:
    """Deliver the outcome of a call; an error in its callback is logged."""
    try:
        ticket.done(outcome)
    except Exception as error:  # an error in a callback must not stop the queue
        log.error("An answer could not be used", key=ticket.key, exc_info=error)


def passing(
    on_text: Callable[[str], None] | None, pending: PendingRequest
) -> Callable[[str], None] | None:
    """Return the function that passes on pieces of this request, until it is given up."""
    if on_text is None:
        return None

    def passed(piece: str) -> None:
        if pending.begin():
            on_text(piece)

    return passed
