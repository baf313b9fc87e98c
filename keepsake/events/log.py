"""The event log: takes events from any thread and writes them as JSON lines in its own thread.

An event costs its caller one dataclass and one append to a queue. The log's thread passes queued
events to the operating system within a tenth of a second, and syncs them to the disk once a second.
An event wakes only a thread that sleeps: to wake a thread costs more than all the rest.
``docs/events.md`` says what the log guarantees.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepsake.events.files import EVENTS, LineWriter
from keepsake.events.prompts import PromptWriter
from keepsake.events.secrets import SHORTEST, Scrubber
from keepsake.events.types import Event, Events, Fault, Thought, World, to_record
from keepsake.events.values import FaultLevel, WorldOp
from keepsake.json_lines import Record
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import Clock, SystemClock

log = get_logger(Subsystem.EVENTS)

FILE_BYTES = 16_000_000
"""The size in bytes at which the next file begins."""
BUFFER = 10_000
"""The most events in the queue while the log cannot be written. Further events are only counted."""
RETRY_SECONDS = 2.0
"""Seconds until a log that could not be written is tried again."""
LONGEST = 20_000
"""The most characters of a text, except a prompt. Longer texts are error pages, or faults."""
_PROMPTS_BYTES = 8_000_000
"""The most bytes of a file of prompts: a lookup of one prompt reads the whole file."""
_SYNC_SECONDS = 1.0
"""Seconds between two times that the file is synced: what a power cut may cost."""
_COLLECT_SECONDS = 0.1
"""Seconds for which events are collected, to be written together."""
_OWN_FIELDS = ("v", "seq", "t", "kind")
"""Fields that the log sets itself, so they hold no secrets."""

type QueuedEvent = tuple[Event, datetime, int]
"""An event in the queue, its time, and its agent's id. A tuple is faster than a class."""


@dataclass(slots=True)
class Subscribers:
    """The listeners to events: the metrics and the traces.

    Add listeners before the first event. They must be quick, and must lock the data they share. A
    listener that raises an exception is logged and removed.
    """

    # called with an event, in the thread that emits it
    on_event: list[Callable[[Any], None]] = field(default_factory=list)
    # by name, the agent that has it now or had it last; set when an agent's mind is opened
    agent_ids: dict[str, int] = field(default_factory=dict)


def _notify(listeners: list[Callable[[Any], None]], what: object) -> None:
    for listener in [*listeners]:
        try:
            listener(what)
        except Exception as error:  # of any kind: game and log continue without the listener
            listeners.remove(listener)  # first, because logging may emit an event again
            log.error("An event listener failed and is removed", exc_info=error)


class EventLog(Events):
    """Writes events as JSON lines, and passes them to listeners.

    Args:
        secrets: Values that must never be in the log.
        retry: Seconds until the next try to write after the disk refused.
        subscribers: The listeners, and the agents' ids by their present names.

    Attributes:
        problem: Why the log cannot be written now; empty if it can.
        lost: The number of events since opening that had no room in the queue.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock | None = None,
        secrets: Iterable[str] = (),
        file_bytes: int = FILE_BYTES,
        buffer: int = BUFFER,
        retry: float = RETRY_SECONDS,
        subscribers: Subscribers | None = None,
    ) -> None:
        self.folder = folder
        self.subscribers = subscribers or Subscribers()
        self.problem = ""
        self.lost = 0
        self._clock = clock or SystemClock()
        self._limit = file_bytes
        self._buffer = buffer
        self._retry = retry
        self._scrubber = Scrubber(secrets)
        self._queue: deque[QueuedEvent | threading.Event] = deque()
        self._files: tuple[LineWriter, PromptWriter] | None = None
        self._number = 0
        self._lost_logged = 0
        self._sleeps = False
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._synced = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="event-log", daemon=True)
        self._thread.start()

    def emit(self, event: Event) -> None:
        """Take an event. May be called from any thread; never waits, never fails."""
        if len(self._queue) < self._buffer:
            # Look it up now: when the event is written, another agent may have the name.
            agent_id = self.subscribers.agent_ids.get(str(getattr(event, "agent", "")), 0)
            self._queue.append((event, self._clock.now(), agent_id))
            if self._sleeps:
                self._wake.set()
        else:
            self.lost += 1
        _notify(self.subscribers.on_event, event)

    def flush(self, seconds: float = 5.0) -> bool:
        """Wait until all events so far are with the operating system; False after the timeout.

        Must not be called on the reactor thread.
        """
        mark = threading.Event()
        self._queue.append(mark)
        self._wake.set()
        return mark.wait(seconds)

    def close(self, seconds: float = 5.0) -> None:
        """Write the queued events, sync them to the disk, and end; a second call does nothing."""
        self._closing.set()
        self._wake.set()
        self._thread.join(seconds)

    # -- in the log's own thread

    def _run(self) -> None:
        ended = False
        while not ended:
            if self.problem:
                self._closing.wait(self._retry)
            else:  # collects events for a moment if some are queued, else sleeps
                self._sleeps = not self._queue
                self._wake.wait(_COLLECT_SECONDS if self._queue else _SYNC_SECONDS)
            self._sleeps = False
            self._wake.clear()
            ended = self._closing.is_set()
            self._reported(self._write)
            if time.monotonic() - self._synced >= _SYNC_SECONDS:
                self._synced = time.monotonic()
                with suppress(OSError):  # the next write reports a disk that refuses
                    for writer in self._writers:
                        writer.sync()
        for writer in self._writers:
            self._reported(writer.close)

    def _reported(self, work: Callable[[], None]) -> None:
        """Do work that the disk may refuse; report its first failure, and when it works again."""
        try:
            work()
        except Exception as error:
            # Mostly the disk. After any other error, too, the thread must live and try again.
            if not self.problem:
                told = (
                    f"The event log in {self.folder} cannot be written ({error}). Free some "
                    f"disk space or fix the permissions; {self._buffer:,} events can wait"
                )
                log.error(told, exc_info=error)
            self.problem = str(error) or repr(error)
        else:
            if self.problem:
                self.problem = ""
                log.info(f"The event log in {self.folder} can be written again")

    @property
    def _writers(self) -> tuple[LineWriter, ...]:
        return () if self._files is None else (self._files[1].lines, self._files[0])

    def _write(self) -> None:
        """Write the queued events, and set the marks of :meth:`flush` on the way."""
        while self._queue:
            taken = self._queue[0]
            if isinstance(taken, threading.Event):
                taken.set()
            else:
                self._write_one(*taken)
            self._queue.popleft()
        if lost := self.lost - self._lost_logged:
            text = f"{lost} events were lost while the log could not be written"
            self._write_one(World(op=WorldOp.LOST, n=lost, text=text), self._clock.now(), 0)
            self._lost_logged += lost

    def _write_one(self, event: Event, taken: datetime, agent_id: int) -> None:
        if self._files is None:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            lines = LineWriter(self.folder, EVENTS, self._limit)
            self._number = lines.last_number()
            self._files = lines, PromptWriter(self.folder, min(self._limit, _PROMPTS_BYTES))
        lines, prompts = self._files
        moment = taken.astimezone(UTC)
        number = self._number + 1
        record = to_record(event, moment, number)
        try:
            self._complete(record, event, agent_id)
            if isinstance(event, Thought) and event.prompt:
                text = self._scrubber.clean(event.prompt)
                record["prompt"] = prompts.store(event.agent, text, moment.date(), number)
            line = _json(record)
        except (TypeError, ValueError, AttributeError) as error:
            # A malformed event must not keep all the others out of the log.
            text = f"An event could not be logged: {error!r}"
            fault = Fault(level=FaultLevel.ERROR, subsystem=Subsystem.EVENTS, text=text)
            line = _json(to_record(fault, moment, number))
        lines.write(line.encode("utf-8", "replace") + b"\n", moment.date(), number)
        self._number = number

    def _complete(self, record: Record, event: Event, agent_id: int) -> None:
        """Remove secrets from a record, and add its agent's id."""
        for name, value in record.items():
            if name not in _OWN_FIELDS and name != "prompt":
                record[name] = self._clean(value)
        if record.get("agent"):
            record["agent_id"] = record["agent_id"] or agent_id

    def _clean(self, value: Any) -> Any:
        """Remove secrets from a value of any JSON type, and cut long texts to ``LONGEST``."""
        if isinstance(value, str):
            # Remove secrets before the cut: half a secret would not be recognised.
            text = self._scrubber.clean(value) if len(value) >= SHORTEST else value
            if len(text) <= LONGEST:
                return text
            return f"{text[:LONGEST]}… ({len(value):,} characters)"
        if isinstance(value, dict):
            return {name: self._clean(each) for name, each in value.items()}
        return [*map(self._clean, value)] if isinstance(value, list | tuple) else value


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
