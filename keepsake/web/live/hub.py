"""The newest records of the event log, and the streams that wait for more.

There is one hub a process. It keeps the newest records in RAM, so that a browser that was away
for a moment goes on where it was; each stream only remembers how far it has come. What a stream
has not taken is kept nowhere else: a browser that does not read costs nothing, and is cut off.

Everything here belongs to the reactor thread, but :meth:`Hub.written`.
"""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

from keepsake.archive.records import Memory
from keepsake.events.agent_names import id_of, time_of
from keepsake.events.secrets import Scrubber
from keepsake.events.subscribers import Taps, WrittenEvent
from keepsake.events.types import MemoryChange
from keepsake.json_lines import Record

KEPT = 2_000
"""Records in RAM: about 2 MB."""
MOST_STREAMS = 50
_LONGEST_TEXT = 4_000
"""Characters of a memory that a page is sent; the whole of it is in the archive."""
_REMEMBERED = ("append", "repeat")


@dataclass(frozen=True, slots=True)
class Timing:
    """How long what takes, in seconds."""

    flush: float = 0.1  # streams are served no more often than this, however much happens
    beat: float = 5.0  # between two signs of life to each browser
    # a browser that has read nothing for so long is cut off at the next beat
    patience: float = 30.0
    # after so long it is looked up again, at the next beat, whether a browser may watch
    rights: float = 4.0


class Stream(Protocol):
    """One browser that waits."""

    def wake(self) -> None:
        """There is something new; called on the reactor thread."""

    def beat(self) -> None:
        """Some time has passed."""

    def end(self) -> None:
        """The world stops, or there is no hub any more."""


class StreamRecord:
    """A record as a browser is shown it; cheap until its line is asked for."""

    __slots__ = ("_hub", "_line", "agent", "agent_id", "kind", "number")

    def __init__(self, written: WrittenEvent, hub: Hub) -> None:
        self.number, self.kind, self.agent = written.number, written.kind, written.agent
        self.agent_id = written.agent_id
        self._line, self._hub = written.line, hub if written.kind == MemoryChange.kind else None

    def at(self) -> datetime | None:
        """When it was; None if that is not known."""
        return time_of(json.loads(self._line).get("t"))

    @property
    def line(self) -> bytes:
        """The JSON object, a memory with its words as far as they are known."""
        if self._hub is not None:
            self._line, self._hub = self._hub.worded(self._line), None
        return self._line


@dataclass(frozen=True, slots=True)
class Since:
    """What has come since a record."""

    records: Sequence[StreamRecord]  # the newer ones, oldest first
    gap: bool  # whether some are missing before the first of them
    last: int  # the newest number there is; as far as the stream is if that is not known yet


class Hub:
    """Keeps the newest records and wakes those who wait for them.

    ``secrets`` stand in no words of memories that it shows. ``window_of`` gives the memories in the
    prompt of whoever bears a name, or bore it then, for records of before this process began.
    """

    def __init__(
        self,
        reactor: Any,
        secrets: Sequence[str] = (),
        *,
        kept: int = KEPT,
        most: int = MOST_STREAMS,
        timing: Timing | None = None,
        window_of: Callable[[str], Sequence[Memory]] = lambda _: (),
    ) -> None:
        self._reactor, self._most = reactor, most
        self.timing = timing or Timing()
        self._scrubber = Scrubber(secrets)
        self._records: deque[StreamRecord] = deque(maxlen=kept)
        self._memories: OrderedDict[tuple[str, int], Memory] = OrderedDict()
        self._window_of, self._asked = window_of, set[str]()
        self._streams: list[Stream] = []
        self.primed = False
        """Whether the log's end was read; until then no stream gets anything."""
        self._flush: Any = None
        self._beat: Any = None

    def listen(self, taps: Taps) -> None:
        """Listen to ``taps`` from now on."""
        taps.on_written(self.written)
        taps.on_memory(self.remembered)

    # -- what comes in

    def written(self, lines: Sequence[WrittenEvent]) -> None:
        """Lines of the log; from any thread."""
        self._reactor.callFromThread(self._take, tuple(lines))

    def remembered(self, agent: str, memory: Memory) -> None:
        """A memory whose record has come or will; kept as long as that may be asked for."""
        self._memories[agent, memory.number] = memory
        if len(self._memories) > (self._records.maxlen or 0):
            self._memories.popitem(last=False)

    def worded(self, line: bytes) -> bytes:
        """A record of a memory with its words, where it is one of those that were remembered."""
        record = json.loads(line)
        known = record.get("op") in _REMEMBERED
        memory = self._memory(str(record["agent"]), record["n"]) if known else None
        if memory is None:
            return line
        words = {"text": memory.text[:_LONGEST_TEXT], "source": memory.source}
        words |= {"place": memory.place, "reason": memory.reason}
        clean = {name: self._scrubber.clean(value) for name, value in words.items() if value}
        return _json(record | clean)

    def _memory(self, agent: str, number: int) -> Memory | None:
        if (agent, number) not in self._memories and agent not in self._asked:
            self._asked.add(agent)
            for memory in self._window_of(agent):
                self._memories.setdefault((agent, memory.number), memory)
        return self._memories.get((agent, number))

    def prime(self, before: Sequence[WrittenEvent]) -> None:
        """Take what was written before this process began; whoever waits is served from now on.

        The words of those memories are with the agents.
        """
        first = self._records[0].number if self._records else None
        known = [
            StreamRecord(each, self) for each in before if first is None or each.number < first
        ]
        room = (self._records.maxlen or 0) - len(self._records)
        self._records.extendleft(reversed(known[-room:] if room else []))
        self.primed = True
        self._serve_soon()

    def _take(self, lines: Sequence[WrittenEvent]) -> None:
        if self._records and lines[0].number <= self._records[-1].number:
            self._records.clear()  # the log was thrown away, and counts from 1 again
        self._records.extend(StreamRecord(each, self) for each in lines)
        self._serve_soon()

    def _serve_soon(self) -> None:
        if self._streams and self._flush is None and self.primed:
            self._flush = self._reactor.callLater(self.timing.flush, self._serve)

    # -- what goes out

    def since(self, number: int) -> Since:
        """What has come after record ``number``; all that is there after a number not known."""
        records, last = self._records, self.last
        if not self.primed or not records or number == last:
            return Since((), gap=False, last=number)
        first = records[0].number
        if number > last:  # of another log, or of a time that is lost
            return Since(tuple(records), gap=True, last=last)
        skipped = max(number + 1 - first, 0)
        return Since(tuple(islice(records, skipped, None)), number + 1 < first, last)

    @property
    def last(self) -> int:
        """Number of the newest record; 0 if there is none yet."""
        return self._records[-1].number if self._records else 0

    @property
    def full(self) -> bool:
        """Whether no more streams may come."""
        return len(self._streams) >= self._most

    @property
    def streams(self) -> int:
        """How many there are."""
        return len(self._streams)

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
        self._beat = (
            self._reactor.callLater(self.timing.beat, self._beats) if self._streams else None
        )
        for stream in list(self._streams):
            stream.beat()


def as_written(record: Record) -> WrittenEvent:
    """A record that was read back from the log, as its writer would report it."""
    kind, agent = str(record.get("kind")), str(record.get("agent", ""))
    return WrittenEvent(record["seq"], kind, agent, _json(record), id_of(record))


def _json(value: dict[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
