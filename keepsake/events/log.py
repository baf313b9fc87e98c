"""The event log: takes events from any thread, writes them in one of its own.

What it promises, and at what price, is in ``docs/events.md``: an event costs its caller the
making of a dataclass and one append to a queue. The log's thread looks for what has come every
twenty milliseconds, as long as something comes, and hands it to the operating system; another one
brings that to the disk once a second. Nobody is woken for an event but for the first one after a
silence: to wake a thread costs whoever does it more than all the rest of the handing over.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from keepsake.events.secrets import Scrubber
from keepsake.events.subscribers import WrittenEvent
from keepsake.events.types import Event, World
from keepsake.events.writer import FILE_BYTES, EventWriter, Taken
from keepsake.ports import Clock, SystemClock

BUFFER = 10_000
"""Events that wait while the log cannot be written; of more the newest are counted, not kept."""
SYNC_SECONDS = 1.0
RETRY_SECONDS = 2.0
_MOST_AT_ONCE = 500
"""Events that are written with one call."""
_GATHER_SECONDS = 0.02
"""Between two looks for events: those of meanwhile are written together. At four thoughts a second
the looks cost more than the writing: each lets the thread have the interpreter for nothing."""
_LOOKS = 3
"""So often in a row nothing may have come before the thread waits until it is woken."""


class EventLog:
    """Writes events as JSON lines.

    Args:
        secrets: Values that must never stand in it.
        told: Called in the writer's thread when the log cannot be written (once, until it
            can again) and when it can again.
        retry: Seconds until a disk that refused is tried again.
        written: Told in the writer's thread of what was written; never raises.
        agent_ids: Ids of agents by the names that they bear now; it may change.
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
        written: Callable[[Sequence[WrittenEvent]], None] = lambda _: None,
        agent_ids: Mapping[str, int] | None = None,
    ) -> None:
        self.folder = folder
        self.problem = ""
        """Why the log cannot be written now; empty if it can."""
        self._clock = clock or SystemClock()
        self._agent_ids = agent_ids if agent_ids is not None else {}
        self._told, self._buffer, self._retry = told, buffer, retry
        self._queue: SimpleQueue[Taken | threading.Event | None] = SimpleQueue()
        self._waiting: deque[Taken] = deque()
        self._marks: list[threading.Event] = []
        self._lost, self._lost_ever, self._counting = 0, 0, threading.Lock()
        self._closing = threading.Event()
        self._writer = EventWriter(folder, Scrubber(secrets), file_bytes, written)
        self._thread = threading.Thread(target=self._run, name="event-log", daemon=True)
        self._thread.start()
        threading.Thread(target=self._keep_synced, name="event-log-sync", daemon=True).start()

    def emit(self, event: Event) -> None:
        """Take an event; from any thread, never waits, never fails."""
        if self._queue.qsize() < self._buffer:
            # Looked up now: by the time that it is written, the name may be another's.
            agent_id = self._agent_ids.get(str(getattr(event, "agent", "")), 0)
            self._queue.put((event, self._clock.now(), agent_id))
        else:
            with self._counting:
                self._lost += 1
                self._lost_ever += 1

    @property
    def waiting(self) -> int:
        """Events that are not written yet, more or less; asked in any thread."""
        return self._queue.qsize() + len(self._waiting)

    @property
    def lost(self) -> int:
        """Events that found no room since the log was opened."""
        return self._lost_ever

    def flush(self, seconds: float = 5.0) -> bool:
        """Wait until all that was taken is with the operating system; False if it is not.

        Never on the reactor thread.
        """
        mark = threading.Event()
        self._queue.put(mark)
        return mark.wait(seconds)

    def close(self, seconds: float = 5.0) -> None:
        """Write what waits, bring it to the disk, and end; a second call does nothing."""
        self._closing.set()
        self._queue.put(None)
        self._thread.join(seconds)

    # -- in threads of its own

    def _run(self) -> None:
        ended = False
        while not ended:
            if self.problem:
                self._closing.wait(self._retry)
            ended = self._collect()
            if self._guarded(self._write):
                marks, self._marks = self._marks, []
                for mark in marks:
                    mark.set()
        self._guarded(self._writer.close)

    def _collect(self) -> bool:
        """Take what has come, if need be after a while; True when no more will come.

        It stops behind a mark, which is passed once all before it is written.
        """
        silence = self._is_silent()
        with suppress(Empty):
            while len(self._waiting) < _MOST_AT_ONCE:
                taken = self._queue.get(silence, self._retry)
                if taken is None:
                    return True
                if isinstance(taken, threading.Event):
                    self._marks.append(taken)
                    break
                self._waiting.append(taken)
                if silence:
                    time.sleep(_GATHER_SECONDS)
                    silence = False
        return False

    def _is_silent(self) -> bool:
        """Look for events, as long as some come; whether the thread may wait to be woken."""
        for _ in range(_LOOKS):
            if self._waiting or self._queue.qsize() >= _MOST_AT_ONCE:
                return False
            time.sleep(_GATHER_SECONDS)  # half of what waiting for an event costs
            if not self._queue.empty():
                return False
        return True

    def _write(self) -> None:
        self._writer.write(self._waiting)
        with self._counting:
            lost, self._lost = self._lost, 0
        if lost:
            text = f"{lost} events found no room while the log could not be written"
            self._waiting.append((World(op="lost", n=lost, text=text), self._clock.now(), 0))
            self._writer.write(self._waiting)

    def _guarded(self, work: Callable[[], None]) -> bool:
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
            return False
        if self.problem:
            self.problem = ""
            self._told(f"The event log in {self.folder} is written again")
        return True

    def _keep_synced(self) -> None:
        while not self._closing.wait(SYNC_SECONDS):
            with suppress(OSError):  # what the disk refuses, writing to it will tell
                self._writer.sync()
