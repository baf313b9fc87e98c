"""An agent's memory as of an earlier time: a fold of its archive up to that time.

:class:`Past` reads an archive once, and later only the lines that were added. It keeps the time and
place of every memory (12 bytes each), what rests on what, and every change of the summaries, so any
moment is found without reading. Reading blocks: call it in a worker thread.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.archive.tiers import SummaryState
from keepsake.json_lines import Record, parsed
from keepsake.tracing.texts import Texts, number_in

_MEMORY = LineType.MEMORY.start
_REPEAT = LineType.REPEAT.start
_TIME = b',"t":"'
_PLACE = b',"place":'
_RESTS_ON = b',"rests_on":['
"""The fields of a memory's line. Quotation marks within texts are escaped, so texts cannot hold
them."""
_COMMITS = (b',"what":"result","verb":"promise"', b',"what":"result","verb":"kept"')
"""What a promise, or the end of one, was answered with: its text has the promise as it is noted."""
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
"""A JSON string."""


@dataclass(frozen=True, slots=True)
class TierChange:
    """The summaries after a compaction, an undo or an edit.

    Attributes:
        kind: What changed them.
        time: When, in seconds since 1970.
        number: The newest memory at that time.
        state: The summaries afterwards.
    """

    kind: LineType
    time: float
    number: int
    state: SummaryState


@dataclass(frozen=True, slots=True)
class Moment:
    """The tiers of an agent at one moment.

    Attributes:
        number: The newest memory; 0 if there was none.
        state: The summaries.
        place: Where the agent remembered last; empty if that is not known.
    """

    number: int
    state: SummaryState
    place: str

    @property
    def window_first(self) -> int:
        """The first memory of the window; one more than :attr:`number` if it was empty."""
        return self.state.summarised + 1


class Past:
    """The past of one agent; safe to use from several threads.

    Attributes:
        places: The names of the places where it remembered anything.
        changes: Every change of the summaries, oldest first.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self.places: list[str] = []
        self.changes: list[TierChange] = []
        self._place_numbers: dict[bytes, int] = {}
        # Of each memory, by number - 1: when it was archived, and the number of its place. Times
        # never fall, even if the clock was set back: the order of the archive decides.
        self._times = array("d")
        self._where = array("i")
        # When it was first in another place, and which.
        self._moves: list[tuple[float, int]] = []
        # What became of plans: when, after which memory, and the archive's record. And the results
        # of promises.
        self._plans: list[tuple[float, int, Record]] = []
        self._commitments = array("Q")
        # By memory: the later memories that rest on it.
        self._resting: dict[int, list[int]] = {}
        self._latest = 0.0
        self._state = SummaryState()
        self._segment = ""
        self._offset = 0
        self._files: dict[str, int] = {}

    def read_on(self) -> None:
        """Read what was added to the archive since the last call.

        Raises:
            OSError, ArchiveError: The archive cannot be read.
        """
        with self._lock:
            archive = Archive(self._folder, read_only=True)
            files = {path.name: path.stat().st_ino for path in archive.segments()}
            if any(files.get(name) != inode for name, inode in self._files.items()):
                self._forget()  # a segment was rewritten, as when a person is forgotten
            self._files = files
            for segment, offset, line in archive.lines_after(self._segment, self._offset):
                self._segment = segment
                self._offset = offset
                # Opening the memory reports unreadable lines.
                with suppress(KeyError, ValueError, TypeError):
                    self._take(line)

    def _take(self, line: bytes) -> None:
        if line.startswith(_MEMORY):
            self._take_memory(line)
            return
        if line.startswith(_REPEAT):
            return
        record = parsed(line)
        kind = record.get("type")
        if kind == LineType.SOURCES:
            self._take_sources(record)
        if kind == LineType.PLAN:
            at = datetime.fromisoformat(record["t"]).timestamp()
            self._plans.append((at, len(self._times), record))
        if kind not in (LineType.COMPACTION, LineType.UNDO, LineType.EDIT, LineType.CLEAR):
            return
        self._state = self._state.after(record)
        time = datetime.fromisoformat(record["t"]).timestamp() if "t" in record else 0.0
        self._latest = max(self._latest, time)
        number = len(self._times)
        self.changes.append(TierChange(LineType(kind), self._latest, number, self._state))

    def _take_sources(self, record: Record) -> None:
        """Take what a model said of a summary, as if its writer had: it is true of then, too."""
        self._state = self._state.with_sources(record)
        self.changes = [
            replace(each, state=each.state.with_sources(record)) for each in self.changes
        ]

    def _take_memory(self, line: bytes) -> None:
        self._latest = max(self._latest, _time_in(line))
        where = self._place_in(line)
        missing = number_in(line) - len(self._times) - 1
        for _ in range(missing):  # damaged lines
            self._times.append(self._latest)
            self._where.append(-1)
        self._times.append(self._latest)
        self._where.append(where)
        if where >= 0 and (not self._moves or self._moves[-1][1] != where):
            self._moves.append((self._latest, where))
        if any(each in line for each in _COMMITS):
            self._commitments.append(len(self._times))
        for basis in _basis_in(line):
            self._resting.setdefault(basis, []).append(len(self._times))

    def _place_in(self, line: bytes) -> int:
        """Return the number of the memory's place; -1 if the line names none."""
        start = line.rfind(_PLACE)
        if start < 0:
            return -1
        found = _STRING.match(line, start + len(_PLACE))
        if found is None:
            return -1
        name = found[0]
        number = self._place_numbers.get(name)
        if number is None:
            number = len(self.places)
            self._place_numbers[name] = number
            self.places.append(str(parsed(b'{"place":' + name + b"}").get("place", "")))
        return number

    # -- questions

    @property
    def span(self) -> tuple[float, float] | None:
        """The times of the first and of the newest memory; None if there is none."""
        return (self._times[0], self._times[-1]) if self._times else None

    @property
    def last_number(self) -> int:
        """The number of the newest memory."""
        return len(self._times)

    def time_of(self, number: int) -> float:
        """Return when a memory was archived. Raise IndexError if there is no such memory."""
        if number < 1:
            raise IndexError(number)
        return self._times[number - 1]

    def resting_on(self, number: int) -> Sequence[int]:
        """Return the memories that rest on a memory: acts and their results, in order."""
        return self._resting.get(number, ())

    def plans_at(self, time: float) -> Sequence[Record]:
        """Return the archive's record of each plan as of that time, also of those that had ended.

        ``time``: In seconds since 1970.
        """
        return _newest(record for at, _, record in self._plans if at <= time)

    def plans_when(self, number: int) -> Sequence[Record]:
        """Return them, as :meth:`plans_at`, as of the moment when that memory was archived."""
        return _newest(record for _, after, record in self._plans if after < number)

    def commitments_until(self, number: int) -> Sequence[int]:
        """Return the memories that say what was promised, or kept, up to a memory; in order."""
        return self._commitments[: bisect_right(self._commitments, number)]

    def at(self, time: float) -> Moment:
        """Return the tiers as of that time, in seconds since 1970."""
        number = bisect_right(self._times, time)
        changed = bisect_right(self.changes, time, key=lambda change: change.time)
        state = self.changes[changed - 1].state if changed else SummaryState()
        return Moment(number, state, self._place_of(number))

    def when(self, number: int) -> Moment:
        """Return the tiers as of the moment when that memory was archived."""
        return Moment(number, self.state_when(number), self._place_of(number))

    def _place_of(self, number: int) -> str:
        where = self._where[number - 1] if number else -1
        return self.places[where] if where >= 0 else ""

    @property
    def state_now(self) -> SummaryState:
        """The summaries of now."""
        return self.changes[-1].state if self.changes else SummaryState()

    def state_when(self, number: int) -> SummaryState:
        """Return the summaries when that memory was archived."""
        changed = bisect_right(self.changes, number - 1, key=lambda change: change.number)
        return self.changes[changed - 1].state if changed else SummaryState()

    def moves(self) -> Sequence[tuple[float, int]]:
        """Return when the agent was first seen in another place, and the place's index."""
        return tuple(self._moves)

    def counts(self, most: int) -> list[tuple[float, int]]:
        """Return about ``most`` memories, evenly spread: when each was archived, its number."""
        total = len(self._times)
        step = max(total // most, 1)
        numbers = dict.fromkeys([*range(1, total + 1, step), total] if total else [])
        return [(self._times[number - 1], number) for number in numbers]


@dataclass(frozen=True, slots=True)
class Archived:
    """The archive of an agent.

    Attributes:
        name: The agent's name.
        folder: The folder of its archive.
        past: Its past, read to its end.
        texts: What its memories say, and those of other archives.
    """

    name: str
    folder: Path
    past: Past
    texts: Texts = field(default_factory=Texts)


def _newest(records: Iterable[Record]) -> Sequence[Record]:
    """Return the last record of each plan."""
    return tuple({record.get("id"): record for record in records}.values())


def _basis_in(line: bytes) -> Iterator[int]:
    """Yield the numbers of the memories on which that of a line rests."""
    start = line.rfind(_RESTS_ON)
    if start >= 0:
        start += len(_RESTS_ON)
        yield from map(int, filter(None, line[start : line.index(b"]", start)].split(b",")))


def _time_in(line: bytes) -> float:
    start = line.index(_TIME) + len(_TIME)
    text = line[start : line.index(b'"', start)].decode()
    return datetime.fromisoformat(text).timestamp()


def as_time(seconds: float) -> datetime:
    """Return seconds since 1970 as a time."""
    return datetime.fromtimestamp(seconds, UTC)
