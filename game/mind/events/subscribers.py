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

from game.mind.archive.records import Memory
from game.mind.events.types import Event, Events, Nowhere

_log = logging.getLogger("keepsake.events")


@dataclass(frozen=True, slots=True)
class WrittenEvent:
    """A line of the event log, as it was written.

    Attributes:
        number: Its ``seq``.
        kind: Its ``kind``.
        agent: Whom it concerns, by name; empty for nobody in particular.
        line: The JSON object, without the line's end.
    """

    number: int
    kind: str
    agent: str
    line: bytes


type OnEvent = Callable[[Event], None]
type OnWritten = Callable[[Sequence[WrittenEvent]], None]
type OnMemory = Callable[[str, Memory], None]
type Stop = Callable[[], None]
"""Ends the listening; a second call does nothing."""


class _Listeners[*A]:
    """Those who listen to one thing; changed by replacing, so any thread may tell them."""

    def __init__(self) -> None:
        self._all: tuple[Callable[[*A], None], ...] = ()
        self._told: set[Callable[[*A], None]] = set()

    def add(self, listener: Callable[[*A], None]) -> Stop:
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
        self._events = _Listeners[Event]()
        self._written = _Listeners[Sequence[WrittenEvent]]()
        self._memories = _Listeners[str, Memory]()

    def on_event(self, listener: OnEvent) -> Stop:
        """Have ``listener`` told of each event, in the thread that emits it."""
        return self._events.add(listener)

    def on_written(self, listener: OnWritten) -> Stop:
        """Have ``listener`` told of lines that were written, in the log's thread, in order."""
        return self._written.add(listener)

    def on_memory(self, listener: OnMemory) -> Stop:
        """Have ``listener`` told of each archived memory and whose it is, on the reactor thread.

        The event of the same memory was emitted before, in the same turn of the reactor.
        """
        return self._memories.add(listener)

    def emitted(self, event: Event) -> None:
        """Tell of an event."""
        self._events.tell(event)

    def written(self, lines: Sequence[WrittenEvent]) -> None:
        """Tell of lines of the log."""
        self._written.tell(lines)

    def remembered(self, agent: str, memory: Memory) -> None:
        """Tell of a memory."""
        self._memories.tell(agent, memory)


class Tapped:
    """Takes events for the log, and tells those who listen.

    Args:
        log: The log.
        taps: Who listens.
    """

    def __init__(self, log: Events | None = None, taps: Taps | None = None) -> None:
        self.log: Events = log if log is not None else Nowhere()
        self.taps = taps if taps is not None else Taps()

    def emit(self, event: Event) -> None:
        """Hand it to the log first, then to whoever listens."""
        self.log.emit(event)
        self.taps.emitted(event)

    def close(self) -> None:
        """Close the log; the listeners go when they like."""
        self.log.close()
