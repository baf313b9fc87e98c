"""Whoever wants to know of events while they happen: the live pages, the metrics, the charts.

Three moments can be listened to. An event that is *emitted* is told in the thread that emits it,
as the dataclass that it is. A line that was *written* is told in the log's own thread, with its
number, its prompt as a hash and its secrets taken out, as everybody may read it in the log. A
*memory* is told on the reactor thread as soon as it is archived: its words are in no event.

Listeners are guests: one that breaks is reported once and keeps nobody from anything.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from keepsake.archive.records import Memory
from keepsake.events.types import Event, Events, Nowhere

_log = logging.getLogger("keepsake.events")


@dataclass(frozen=True, slots=True)
class WrittenEvent:
    """A line of the event log, as it was written: its main fields, and the JSON without its end."""

    number: int
    kind: str
    agent: str
    line: bytes
    agent_id: int = 0


class _Listeners[*A]:
    """Those who listen to one thing; changed by replacing, so any thread may tell them."""

    def __init__(self) -> None:
        self._all: tuple[Callable[[*A], None], ...] = ()
        self._told: set[Callable[[*A], None]] = set()

    def add(self, listener: Callable[[*A], None]) -> Callable[[], None]:
        """Have it told; gives what ends that, of which a second call does nothing."""
        self._all = (*self._all, listener)
        return lambda: self._remove(listener)

    def _remove(self, listener: Callable[[*A], None]) -> None:
        self._all = tuple(each for each in self._all if each is not listener)
        self._told.discard(listener)

    def tell(self, *what: *A) -> None:
        for listener in self._all:
            try:
                listener(*what)
            except Exception as error:
                # Whatever is wrong with a listener: the game and the log go on without it.
                # Once, since what is logged here may be an event again.
                if listener not in self._told:
                    self._told.add(listener)
                    _log.error("[Error] A listener to the events broke: %r", error)


class Taps:
    """Whom to tell of events, of written lines and of memories.

    Listeners are added on one thread (the reactor's); they are told in whatever thread the thing
    happens, must be quick, and must lock what they share.
    """

    def __init__(self) -> None:
        events, written = _Listeners[Event](), _Listeners[Sequence[WrittenEvent]]()
        memories = _Listeners[str, Memory]()
        self.on_event, self.emitted = events.add, events.tell
        self.on_written, self.written = written.add, written.tell
        # A memory comes with its agent's name, after its event and in the same turn of the reactor.
        self.on_memory, self.remembered = memories.add, memories.tell
        self.agent_ids: dict[str, int] = {}
        """Who bears a name now, or was the last to bear it: entered when a mind is opened."""


class Tapped:
    """Takes events for the log first, then tells those who listen."""

    def __init__(self, log: Events | None = None, taps: Taps | None = None) -> None:
        self.log: Events = log if log is not None else Nowhere()
        self.taps = taps if taps is not None else Taps()

    def emit(self, event: Event) -> None:
        """Hand it on."""
        self.log.emit(event)
        self.taps.emitted(event)

    def close(self) -> None:
        """Close the log; the listeners go when they like."""
        self.log.close()
