"""The event log: takes events from any thread, writes them in one of its own.

An event costs its caller the making of a dataclass and one append to a queue. Ten times a second
the log's thread hands what has come to the operating system, and once a second it brings that to
the disk. Nobody is woken for an event: to wake a thread costs more than all the rest of it. What
the log promises is in ``docs/events.md``.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from keepsake.events.secrets import Scrubber
from keepsake.events.subscribers import Taps
from keepsake.events.types import Event, World
from keepsake.events.writer import FILE_BYTES, EventWriter, Taken
from keepsake.ports import Clock, SystemClock

BUFFER = 10_000
"""Events that wait while the log cannot be written; of more the newest are counted, not kept."""
RETRY_SECONDS = 2.0
_SYNC_SECONDS = 1.0
_LOOK_SECONDS = 0.1


class EventLog:
    """Writes events as JSON lines, and hands them to those who listen.

    Args:
        secrets: Values that must never stand in it.
        told: Called in the writer's thread when the log cannot be written (once, until it
            can again) and when it can again.
        retry: Seconds until a disk that refused is tried again.
        taps: Who listens, and the ids of the agents by the names that they bear now.
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
        taps: Taps | None = None,
    ) -> None:
        self.folder = folder
        self.problem = ""
        """Why the log cannot be written now; empty if it can."""
        self.lost = 0
        """Events that found no room since the log was opened."""
        self.taps = taps if taps is not None else Taps()
        self._clock, self._told, self._buffer, self._retry = (
            clock or SystemClock(),
            told,
            buffer,
            retry,
        )
        self._queue: deque[Taken | threading.Event] = deque()
        self._waiting: deque[Taken] = deque()
        self._lost_told, self._counting = 0, threading.Lock()
        self._asked, self._closing = threading.Event(), threading.Event()
        self._writer = EventWriter(folder, Scrubber(secrets), file_bytes, self.taps.written)
        self._synced = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="event-log", daemon=True)
        self._thread.start()

    def emit(self, event: Event) -> None:
        """Take an event; from any thread, never waits, never fails."""
        if len(self._queue) < self._buffer:
            # Looked up now: by the time that it is written, the name may be another's.
            agent_id = self.taps.agent_ids.get(str(getattr(event, "agent", "")), 0)
            self._queue.append((event, self._clock.now(), agent_id))
        else:
            with self._counting:
                self.lost += 1
        self.taps.emitted(event)

    @property
    def waiting(self) -> int:
        """Events that are not written yet, more or less; asked in any thread."""
        return len(self._queue) + len(self._waiting)

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
            else:
                self._asked.wait(_LOOK_SECONDS)
            self._asked.clear()
            ended = self._closing.is_set()
            self._guarded(self._write)
            if time.monotonic() - self._synced >= _SYNC_SECONDS:
                self._synced = time.monotonic()
                with suppress(OSError):  # what the disk refuses, writing to it will tell
                    self._writer.sync()
        self._guarded(self._writer.close)

    def _write(self) -> None:
        """Write what has come, and pass the marks behind which all is written."""
        while self._queue and len(self._waiting) < self._buffer:
            taken = self._queue.popleft()
            if isinstance(taken, threading.Event):
                try:
                    self._write_waiting()
                except BaseException:
                    self._queue.appendleft(taken)
                    raise
                taken.set()
            else:
                self._waiting.append(taken)
        self._write_waiting()

    def _write_waiting(self) -> None:
        self._writer.write(self._waiting)
        if lost := self.lost - self._lost_told:
            text = f"{lost} events found no room while the log could not be written"
            self._waiting.append((World(op="lost", n=lost, text=text), self._clock.now(), 0))
            self._lost_told += lost
            self._writer.write(self._waiting)

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
