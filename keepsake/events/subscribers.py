"""Those who want to know of events while they happen: the live pages and the metrics.

An event that is *emitted* is handed on in the thread that emits it, as the dataclass that it is. A
line that was *written* is handed on in the log's own thread, with its number, its prompt as a hash
and its secrets taken out, as everybody may read it in the log.

Listeners are guests: one that breaks is reported once and keeps nobody from anything.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from keepsake.events.types import Event

_log = logging.getLogger("keepsake.events")


@dataclass(frozen=True, slots=True)
class WrittenEvent:
    """A line of the event log, as it was written: its main fields, and the JSON without its end."""

    number: int
    kind: str
    agent_id: int
    line: bytes


class Taps:
    """Whom to tell of events and of written lines.

    Listeners are added before anything happens; they are told in whatever thread it happens, must
    be quick, and must lock what they share.
    """

    def __init__(self) -> None:
        self._on_event: list[Callable[[Event], None]] = []
        self._on_written: list[Callable[[Sequence[WrittenEvent]], None]] = []
        self._broken: set[Callable[..., None]] = set()
        self.agent_ids: dict[str, int] = {}
        """Who bears a name now, or was the last to bear it: entered when a mind is opened."""

    def on_event(self, listener: Callable[[Event], None]) -> None:
        """Have each event handed to it."""
        self._on_event.append(listener)

    def on_written(self, listener: Callable[[Sequence[WrittenEvent]], None]) -> None:
        """Have the lines of the log handed to it."""
        self._on_written.append(listener)

    def emitted(self, event: Event) -> None:
        """Hand an event on."""
        self._tell(self._on_event, event)

    def written(self, lines: Sequence[WrittenEvent]) -> None:
        """Hand lines on."""
        self._tell(self._on_written, lines)

    def _tell(self, listeners: Sequence[Callable[[Any], None]], what: object) -> None:
        for listener in listeners:
            try:
                listener(what)
            except Exception as error:  # whatever is wrong with it: game and log go on without it
                if listener not in self._broken:  # once, as what is logged may be an event again
                    self._broken.add(listener)
                    _log.error("[Error] A listener to the events broke: %r", error)
