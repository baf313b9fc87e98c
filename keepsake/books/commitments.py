"""What was noticed, kept out of reach of every compaction.

``vault/agents/<name>/noticed.md``: rules that others gave the agent, what it promised, and
questions that it still owes an answer. One line each, always with whoever it comes from;
people may change, add and take out lines, and other text in the file stays as it is.

Nobody can fill the block: what one person may have in it is bounded, the first rules stay,
and promises and questions give way. Following a memory costs microseconds and writes
nothing; :meth:`Commitments.save` writes, and belongs in a worker thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from keepsake.archive.records import BY_RULE, Memory, MemoryKind
from keepsake.books.commitments_file import changed, parsed, planned, read_to
from keepsake.books.commitments_room import admit, alike, same, shown, whose
from keepsake.books.noticing import Noticed, NoticedKind, notice
from keepsake.books.resolution import settled
from keepsake.events.types import MemoryChange
from keepsake.language.deeds import RULED
from keepsake.language.heard import heard, meant_for
from keepsake.records.store import RecordStore, Report, Tell

PATIENCE = 8
"""Memories that a question waits for its answer before it is kept."""
_MOST_WAITING = 8
_MOST_REFUSED, _PERSON_REFUSED = 8, 2
"""What is listed of that for which there is no room: in all, and of one person."""


type _Held = tuple[tuple[Noticed, ...], int]
"""What a file holds: its items, and the last memory that was looked at."""


class Commitments:
    """The noticed block of one agent; safe to use from several threads."""

    def __init__(
        self,
        path: Path,
        log: Report = lambda _: None,
        agent: str = "",
        tell: Tell = lambda _: None,
    ) -> None:
        self.path = path
        self._log = log
        self._agent, self._tell = agent, tell
        self._lock = threading.RLock()
        self._store = RecordStore(
            lambda _, source, __: (parsed(source), read_to(source)),
            lambda _, before, after: self._tell_changes(before, after, "hand"),
            log,
        )
        self._version = 0
        self._in_file: tuple[Noticed, ...] = ()
        self._items: tuple[Noticed, ...] = ()
        """What is in the file, and what will be with the next save."""
        self._shown: tuple[Noticed, ...] = ()
        self._read_to = 0
        self._waiting: dict[str, Noticed] = {}
        self._speaker = ("", 0)
        self._around: deque[str] = deque(maxlen=PATIENCE)
        self._found: list[Noticed] = []
        self._closed: list[Noticed] = []
        self._refused: tuple[Noticed, ...] = ()

    # -- reading: never raises

    @property
    def items(self) -> tuple[Noticed, ...]:
        """All that is kept, what waits for the next save included, oldest first.

        From the last good state of the file, if it cannot be read now.
        """
        with self._lock:
            self._refresh()
            return self._items

    @property
    def lines(self) -> tuple[str, ...]:
        """What a prompt shows: rules, then promises, then questions, within the limit."""
        return self.lines_before(None)

    def lines_before(
        self, number: int | None, may: Callable[[int], bool] = lambda _: True
    ) -> tuple[str, ...]:
        """Those of :attr:`lines` that come from before memory ``number``.

        What is still in the window says it itself; leaving it out here keeps the head of the
        prompt, which a model server has in its cache, as it is until the next compaction.

        Args:
            number: The first memory in the window; None for all lines.
            may: Whether what rests on the memory of that number may be shown.
        """
        with self._lock:
            self._refresh()
            return tuple(
                item.line
                for item in self._shown
                if (number is None or item.number < number) and may(item.number)
            )

    @property
    def refused(self) -> tuple[Noticed, ...]:
        """Rules and promises that found no room, or none any more, the first ones.

        They come in when there is.
        """
        with self._lock:
            self._refresh()
            return self._refused

    # -- noticing

    def follow(self, memory: Memory, own_name: str) -> bool:
        """Notice what is in a new memory, and what it closes; quick, writes nothing.

        Returns:
            Whether there is something to :meth:`save`.
        """
        with self._lock:
            self._refresh()
            return self._follow(memory, own_name)

    def missed(self, memories: Iterable[Memory]) -> list[Memory]:
        """Those that are newer than what the file was made from: after a crash, or never read."""
        with self._lock:
            self._refresh()
            return [memory for memory in memories if memory.number > self._read_to]

    def catch_up(self, memories: Iterable[Memory], own_name: str) -> bool:
        """Follow what was lived through and not saved, after a crash: what is newer than the file.

        Returns:
            Whether there is something to :meth:`save`.
        """
        with self._lock:
            self._refresh()
            known = self._read_to
            for memory in memories:
                if memory.number > known:
                    self._follow(memory, own_name)
            return bool(self._found or self._closed)

    def save(self, *, by: str = "rules") -> None:
        """Write what was noticed since, and have the event log told; blocks on the disk.

        Raises:
            NoteRefused: The file cannot be read or written; what was noticed waits.
        """
        with self._lock:
            found, closed = tuple(self._found), tuple(self._closed)
            # A question that waits is in no file yet: after a crash it is to be heard again.
            waiting = [question.number - 1 for question in self._waiting.values()]
            through = min([self._read_to, *waiting])
        if not found and not closed:
            return
        # Not under the lock: a thought on the reactor must not wait for the disk.
        self._write(lambda before: changed(before, found, closed, through), by)
        with self._lock:
            self._refresh()
            self._found = [item for item in self._found if item not in found]
            self._closed = [item for item in self._closed if item not in closed]
            self._plan()
            # Somebody may have filled the file by hand meanwhile.
            rules = [item for item in found if item.kind is NoticedKind.RULE]
            self._refuse(item for item in rules if item not in self._closed)

    def add(self, found: Iterable[Noticed]) -> tuple[Noticed, ...]:
        """Keep these at once, as far as there is room.

        Returns:
            Those of them that are kept now.

        Raises:
            NoteRefused: The file cannot be read or written.
        """
        wanted = tuple(found)
        if wanted:
            self._write(lambda before: changed(before, wanted, (), 0), "night")
        with self._lock:
            self._refresh()
            self._refuse(wanted)
            return tuple(item for item in wanted if self._holds(item))

    def drop(self, person: Callable[[Noticed], bool], by: str = "builder") -> int:
        """Take out all that ``person`` says is theirs, also what waits for room.

        Returns:
            How many there were.

        Raises:
            NoteRefused: The file cannot be written; nothing is gone for good.
        """
        with self._lock:
            self._refresh()
            gone = [item for item in (*self._items, *self._refused) if person(item)]
            for item in gone:
                self._close(item)
            self._refused = tuple(item for item in self._refused if not person(item))
            self._waiting = {who: q for who, q in self._waiting.items() if not person(q)}
        self.save(by=by)
        return len(gone)

    # -- inside; the lock is held

    def _follow(self, memory: Memory, own_name: str) -> bool:
        by_rule = memory.kind is MemoryKind.ACT and memory.event in RULED
        if by_rule or memory.event in BY_RULE:  # nobody means the agent, or promises anything
            return bool(self._found or self._closed)
        alone = self._alone_with(memory.source)
        to = self._partner(memory, own_name, alone)
        known = [*self._items, *self._waiting.values(), *self._refused]
        for item in settled(known, memory, own_name, to):
            self._close(item)
        for item in notice(memory, own_name, to, alone=alone):
            if item.kind is not NoticedKind.QUESTION:
                self._find(item)
                continue
            # Most questions are answered with the next breath; the newest of one person stands
            # for all.
            self._waiting.pop(item.who, None)
            self._waiting[item.who] = item
            if len(self._waiting) > _MOST_WAITING:
                del self._waiting[next(iter(self._waiting))]
        for who, question in list(self._waiting.items()):
            if memory.number - question.number >= PATIENCE:
                del self._waiting[who]
                self._find(question)
        self._read_to = max(self._read_to, memory.number)
        return bool(self._found or self._closed)

    def _tell_changes(self, before: _Held | None, after: _Held | None, by: str) -> None:
        """Have the event log told of what the file holds and did not, and the other way round."""
        was, now = before[0] if before else (), after[0] if after else ()
        for op, items, others in (("noticed", now, was), ("closed", was, now)):
            for item in (each for each in items if each not in others):
                of, n, size = item.kind.value, item.number, len(item.text)
                self._tell(MemoryChange(agent=self._agent, op=op, n=n, of=of, size=size, by=by))

    def _write(self, make: Callable[[str | None], str], by: str) -> None:
        """Change the file; the lock is not held."""
        before, after = self._store.change(self.path, lambda source, _: make(source))
        self._tell_changes(before, after, by)

    def _find(self, item: Noticed) -> None:
        """Take ``item`` in if there will be room, also beside what is not written yet.

        A promise that gives way to it is listed with what found no room, so that compactions
        carry it: whoever promises much has not kept the first of it.
        """
        before = self._items
        if (room := admit(before, item)) is not None:
            self._found = [each for each in (*self._found, item) if each in room]
            self._plan()
            self._refused = tuple(each for each in self._refused if not self._holds(each))
        gone = [i for i in before if i.kind is NoticedKind.PROMISE and not alike(i, item)]
        self._refuse([*gone, item])

    def _holds(self, item: Noticed) -> bool:
        return any(same(item, each) for each in self._items)

    def _refuse(self, items: Iterable[Noticed]) -> None:
        """List those of ``items`` that found no room; the log hears of the first."""
        for item in items:
            if item.kind is NoticedKind.QUESTION or self._holds(item):
                continue
            listed = self._refused
            of_this_one = [each for each in listed if whose(each) == whose(item)]
            known = any(same(item, each) for each in listed)
            if known or len(listed) == _MOST_REFUSED or len(of_this_one) == _PERSON_REFUSED:
                continue
            if not listed:
                self._log(f'No room in {self.path} for "{item.line}": take lines out of it')
            self._refused = (*listed, item)

    def _readmit(self) -> None:
        """Take in what was refused, now that something has gone; nothing else gives way."""
        waiting, self._refused = self._refused, ()
        for item in waiting:
            if len(admit(self._items, item) or ()) > len(self._items):
                self._found.append(item)
                self._plan()
            elif not self._holds(item):
                self._refused = (*self._refused, item)

    def _plan(self) -> None:
        self._items = planned(self._in_file, self._found, self._closed)
        self._shown = shown(self._items)

    def _alone_with(self, who: str) -> bool:
        """Whether all that happened of late came from ``who``."""
        if who:
            self._around.append(who)
        return set(self._around) <= {who}

    def _partner(self, memory: Memory, own_name: str, alone: bool) -> str:
        """Whom the agent speaks to when it names nobody: whoever spoke to it just before."""
        if (said := heard(memory)) is not None and meant_for(said, own_name, alone=alone):
            self._speaker = (said.who, memory.number)
        who, number = self._speaker
        return who if memory.number - number <= PATIENCE else ""

    def _close(self, item: Noticed) -> None:
        if self._waiting.get(item.who) == item:
            del self._waiting[item.who]
            return
        self._refused = tuple(each for each in self._refused if each != item)
        self._found = [each for each in self._found if each != item]
        # Also what no save has written yet: one may be under way.
        self._closed = [*(each for each in self._closed if each != item), item]
        self._plan()
        self._readmit()

    def _refresh(self) -> None:
        """Take in what the file holds, or held when it could be read last."""
        self._store.look([self.path])
        if self._version == self._store.version:
            return
        self._version = self._store.version
        self._in_file, through = self._store.known(self.path) or ((), 0)
        self._plan()
        self._readmit()
        self._read_to = max(self._read_to, through)
