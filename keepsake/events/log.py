"""The event log: takes events from any thread, writes them as JSON lines in one of its own.

An event costs its caller the making of a dataclass and one append to a queue. Ten times a second
the log's thread hands what has come to the operating system, and once a second it brings that to
the disk. Nobody is woken for an event: to wake a thread costs more than all the rest of it. What
the log promises is in ``docs/events.md``.
"""

from __future__ import annotations

import json
import logging
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
from keepsake.json_lines import Record
from keepsake.ports import Clock, SystemClock

_log = logging.getLogger("keepsake.events")

FILE_BYTES = 16_000_000
BUFFER = 10_000
"""Events that wait while the log cannot be written; of more the newest are counted, not kept."""
RETRY_SECONDS = 2.0
LONGEST = 20_000
"""Characters of a text that is no prompt: more is an error page of a server, or a fault."""
_PROMPTS_BYTES = 8_000_000
"""The most of a file of prompts, which is read whole to find one of them."""
_SYNC_SECONDS, _LOOK_SECONDS = 1.0, 0.1
_OURS = ("v", "seq", "t", "kind")
"""Fields that nobody has said."""

type Taken = tuple[Event, datetime, int]
"""An event that waits to be written, when it happened, and its agent's id; no class, for speed."""


@dataclass(slots=True)
class Subscribers:
    """Whom to tell of events: the metrics and the traces.

    Listeners are added before anything happens, must be quick, and must lock what they share. One
    that breaks is reported, and is told nothing more.
    """

    # called with an event, in the thread that emits it
    on_event: list[Callable[[Any], None]] = field(default_factory=list)
    # who bears a name now, or was the last to bear it: entered when a mind is opened
    agent_ids: dict[str, int] = field(default_factory=dict)


def _tell(listeners: list[Callable[[Any], None]], what: object) -> None:
    for listener in [*listeners]:
        try:
            listener(what)
        except Exception as error:  # whatever is wrong with it: game and log go on without it
            listeners.remove(listener)  # first, as what is logged may be an event again
            _log.error("[Error] A listener to the events broke: %r", error)


class EventLog(Events):
    """Writes events as JSON lines, and hands them to those who listen.

    Args:
        secrets: Values that must never stand in it.
        told: Called in the log's thread when the log cannot be written (once, until it
            can again) and when it can again.
        retry: Seconds until a disk that refused is tried again.
        subscribers: Who listens, and the ids of the agents by the names that they bear now.

    Attributes:
        problem: Why the log cannot be written now; empty if it can.
        lost: Events that found no room since the log was opened.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock | None = None,
        secrets: Iterable[str] = (),
        told: Callable[[str], None] = lambda _: None,
        file_bytes: int = FILE_BYTES,
        buffer: int = BUFFER,
        retry: float = RETRY_SECONDS,
        subscribers: Subscribers | None = None,
    ) -> None:
        self.folder, self.subscribers = folder, subscribers or Subscribers()
        self.problem, self.lost = "", 0
        self._clock, self._told, self._limit = clock or SystemClock(), told, file_bytes
        self._buffer, self._retry = buffer, retry
        self._scrubber = Scrubber(secrets)
        self._queue: deque[Taken | threading.Event] = deque()
        self._files: tuple[LineWriter, PromptWriter] | None = None
        self._number = self._lost_told = 0
        self._sleeps = False
        self._asked, self._closing = threading.Event(), threading.Event()
        self._synced = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="event-log", daemon=True)
        self._thread.start()

    def emit(self, event: Event) -> None:
        """Take an event; from any thread, never waits, never fails."""
        if len(self._queue) < self._buffer:
            # Looked up now: by the time that it is written, the name may be another's.
            agent_id = self.subscribers.agent_ids.get(str(getattr(event, "agent", "")), 0)
            self._queue.append((event, self._clock.now(), agent_id))
            if self._sleeps:
                self._asked.set()
        else:
            self.lost += 1
        _tell(self.subscribers.on_event, event)

    def flush(self, seconds: float = 5.0) -> bool:
        """Wait until all that was taken is with the operating system; False if it is not.

        Never on the reactor thread.
        """
        mark = threading.Event()
        self._queue.append(mark)
        self._asked.set()
        return mark.wait(seconds)

    def close(self, seconds: float = 5.0) -> None:
        """Write what waits, bring it to the disk, and end; a second call does nothing."""
        self._closing.set()
        self._asked.set()
        self._thread.join(seconds)

    # -- in a thread of its own

    def _run(self) -> None:
        ended = False
        while not ended:
            if self.problem:
                self._closing.wait(self._retry)
            else:  # what comes in a moment is written together; where nothing comes, it sleeps
                self._sleeps = not self._queue
                self._asked.wait(_LOOK_SECONDS if self._queue else _SYNC_SECONDS)
            self._sleeps = False
            self._asked.clear()
            ended = self._closing.is_set()
            self._guarded(self._write)
            if time.monotonic() - self._synced >= _SYNC_SECONDS:
                self._synced = time.monotonic()
                with suppress(OSError):  # what the disk refuses, writing to it will tell
                    for writer in self._writers:
                        writer.sync()
        for writer in self._writers:
            self._guarded(writer.close)

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do what the disk may refuse; that it does is told once, until it does no more."""
        try:
            work()
        except Exception as error:
            # Mostly the disk; but whatever it is, the thread must live and try again.
            if not self.problem:
                self._told(
                    f"The event log in {self.folder} cannot be written ({error}). Free some "
                    f"disk space or mend the permissions; {self._buffer:,} events can wait"
                )
            self.problem = str(error) or repr(error)
        else:
            if self.problem:
                self.problem = ""
                self._told(f"The event log in {self.folder} is written again")

    @property
    def _writers(self) -> tuple[LineWriter, ...]:
        return () if self._files is None else (self._files[1].lines, self._files[0])

    def _write(self) -> None:
        """Write what has come, and pass the marks behind which all is written."""
        while self._queue:
            taken = self._queue[0]
            if isinstance(taken, threading.Event):
                taken.set()
            else:
                self._write_one(*taken)
            self._queue.popleft()
        if lost := self.lost - self._lost_told:
            text = f"{lost} events found no room while the log could not be written"
            self._write_one(World(op="lost", n=lost, text=text), self._clock.now(), 0)
            self._lost_told += lost

    def _write_one(self, event: Event, taken: datetime, agent_id: int) -> None:
        if self._files is None:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            lines = LineWriter(self.folder, EVENTS, self._limit)
            self._number = lines.last_number()
            self._files = lines, PromptWriter(self.folder, min(self._limit, _PROMPTS_BYTES))
        lines, prompts = self._files
        moment, number = taken.astimezone(UTC), self._number + 1
        record = to_record(event, moment, number)
        try:
            self._complete(record, event, agent_id)
            if isinstance(event, Thought) and event.prompt:
                text = self._scrubber.clean(event.prompt)
                record["prompt"] = prompts.store(event.agent, text, moment.date(), number)
            line = _json(record)
        except (TypeError, ValueError, AttributeError) as error:
            # An event that is none must not keep all the others out of the log.
            fault = Fault(level="error", text=f"An event could not be logged: {error!r}")
            line = _json(to_record(fault, moment, number))
        lines.write(line.encode("utf-8", "replace") + b"\n", moment.date(), number)
        self._number = number

    def _complete(self, record: Record, event: Event, agent_id: int) -> None:
        """Take secrets out of a record, and say whose it is."""
        for name, value in record.items():
            if name not in _OURS and name != "prompt":
                record[name] = self._clean(value)
        if isinstance(event, Fault) and not event.agent:
            record["agent"] = self._concerned(event.text)
            record["agent_id"] = self.subscribers.agent_ids.get(record["agent"], 0)
        elif record.get("agent"):
            record["agent_id"] = record["agent_id"] or agent_id

    def _clean(self, value: Any) -> Any:
        """A value without secrets, whatever it is made of, and no longer than it may be."""
        if isinstance(value, str):
            # First without secrets, then cut: half a secret would not be known for one.
            text = self._scrubber.clean(value) if len(value) >= SHORTEST else value
            if len(text) <= LONGEST:
                return text
            return f"{text[:LONGEST]}… ({len(value):,} characters)"
        if isinstance(value, dict):
            return {name: self._clean(each) for name, each in value.items()}
        return [*map(self._clean, value)] if isinstance(value, list | tuple) else value

    def _concerned(self, text: str) -> str:
        """Whom a fault concerns: its text begins with the name, behind what kind it is."""
        while text.startswith("[") and "] " in text:
            text = text.partition("] ")[2]
        names = tuple(self.subscribers.agent_ids)
        found = (each for each in names if text.startswith((f"{each}:", f"{each} ")))
        return max(found, key=len, default="")


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
