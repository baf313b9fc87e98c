"""The newest lines of the event log, and the streams that wait for more.

There is one hub a process. It keeps the newest lines in RAM, so that a browser that was away for a
moment goes on where it was; each stream only remembers how far it has come.

Everything here belongs to the reactor thread, but :meth:`Hub.written`.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from keepsake.archive.records import Memory
from keepsake.events.log import WrittenEvent
from keepsake.events.secrets import Scrubber
from keepsake.events.types import MemoryChange
from keepsake.json_lines import in_json

KEPT = 2_000
"""Lines in RAM: about 2 MB."""
MOST_STREAMS = 50
_LONGEST_TEXT = 4_000
"""Characters of a memory that a page is sent; the whole of it is in the archive."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long what takes, in seconds."""

    flush: float = 0.1  # streams are served no more often than this, however much happens
    beat: float = 5.0  # between two signs of life to each browser
    patience: float = 30.0  # a browser that has read nothing for so long is cut off at a beat
    rights: float = 4.0  # after so long it is looked up again whether a browser may watch


class Stream(Protocol):
    """One browser that waits."""

    def wake(self) -> None:
        """There is something new; called on the reactor thread."""

    def beat(self) -> None:
        """Some time has passed."""

    def end(self) -> None:
        """The world stops, or there is no hub any more."""


class Hub:
    """Keeps the newest lines and wakes those who wait for them.

    Args:
        secrets: What is hidden in the words of memories.
        memory_of: Gives an agent's memory of a number, by the agent's id; None if it is nowhere.
        before: The end of the log as it was before this process began.
    """

    def __init__(
        self,
        reactor: Any,
        secrets: Sequence[str] = (),
        *,
        memory_of: Callable[[int, int], Memory | None] = lambda *_: None,
        before: Sequence[WrittenEvent] = (),
        kept: int = KEPT,
        most: int = MOST_STREAMS,
        timing: Timing | None = None,
    ) -> None:
        self._reactor, self._most, self._memory_of = reactor, most, memory_of
        self.timing = timing or Timing()
        self._scrubber = Scrubber(secrets)
        self._records: deque[WrittenEvent] = deque(before, maxlen=kept)
        self._streams: list[Stream] = []
        self._flush: Any = None
        self._beat: Any = None

    def written(self, lines: Sequence[WrittenEvent]) -> None:
        """Take lines of the log; from any thread."""
        self._reactor.callFromThread(self._take, tuple(lines))

    def _take(self, lines: Sequence[WrittenEvent]) -> None:
        if self._records and lines[0].number <= self._records[-1].number:
            self._records.clear()  # the log was thrown away, and counts from 1 again
        self._records.extend(lines)
        if self._streams and self._flush is None:
            self._flush = self._reactor.callLater(self.timing.flush, self._serve)

    def since(self, number: int) -> tuple[Sequence[WrittenEvent], bool]:
        """What has come after line ``number``, and whether some before it are missing.

        After a number that is not known, as of another log, that is all there is.
        """
        if not self._records or number == self.last:
            return (), False
        first = self._records[0].number
        if number > self.last:
            return tuple(self._records), True
        return tuple(islice(self._records, max(number + 1 - first, 0), None)), number + 1 < first

    @property
    def last(self) -> int:
        """Number of the newest line; 0 if there is none yet."""
        return self._records[-1].number if self._records else 0

    @property
    def full(self) -> bool:
        """Whether no more streams may come."""
        return self.streams >= self._most

    @property
    def streams(self) -> int:
        """How many there are."""
        return len(self._streams)

    def line(self, event: WrittenEvent) -> bytes:
        """The JSON of an event; that of a memory with its words, without secrets."""
        if event.kind != MemoryChange.kind:
            return event.line
        record = json.loads(event.line)
        known = record.get("op") in ("append", "repeat")
        memory = self._memory_of(event.agent_id, record["n"]) if known else None
        if memory is None:
            return event.line
        words = {"text": memory.text[:_LONGEST_TEXT], "source": memory.source}
        words |= {"place": memory.place, "reason": memory.reason}
        clean = {name: self._scrubber.clean(value) for name, value in words.items() if value}
        return in_json(record | clean).encode("utf-8", "replace")

    def add(self, stream: Stream) -> None:
        """Wake this stream from now on."""
        self._streams.append(stream)
        if self._beat is None:
            self._beat = self._reactor.callLater(self.timing.beat, self._beats)

    def remove(self, stream: Stream) -> None:
        """Wake it no more; a second call does nothing."""
        self._streams = [each for each in self._streams if each is not stream]

    def close(self) -> None:
        """End all streams."""
        for stream in list(self._streams):
            stream.end()
        for call in (self._flush, self._beat):
            if call is not None and call.active():
                call.cancel()
        self._flush = self._beat = None

    def _serve(self) -> None:
        self._flush = None
        for stream in list(self._streams):
            stream.wake()

    def _beats(self) -> None:
        again = self._streams or None
        self._beat = again and self._reactor.callLater(self.timing.beat, self._beats)
        for stream in list(self._streams):
            stream.beat()
