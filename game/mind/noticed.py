"""What was noticed, kept out of reach of every compaction.

``vault/agents/<name>/noticed.md``: rules that others gave the agent, what it promised, and
questions that it still owes an answer. One line each, always with whoever it comes from;
people may change, add and take out lines, and other text in the file stays as it is.

Nobody can fill the block: what one person may have in it is bounded, the first rules stay,
and promises and questions give way. Following a memory costs microseconds and writes
nothing; :meth:`NoticedBlock.save` writes, and belongs in a worker thread.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path

from game.mind import vault_files
from game.mind.errors import NoteRefused
from game.mind.heard import heard, meant_for
from game.mind.noticed_room import LIMIT, PERSON_LIMIT, PERSON_MOST, admit, same, shown
from game.mind.noticing import LONGEST, Noticed, NoticedKind, is_lasting, notice
from game.mind.perception import for_prompt, shorten
from game.mind.records import Memory
from game.mind.settling import settled
from game.mind.vault_files import Stamp

__all__ = [
    "LIMIT",
    "PATIENCE",
    "PERSON_LIMIT",
    "PERSON_MOST",
    "Noticed",
    "NoticedBlock",
    "NoticedKind",
    "is_lasting",
    "notice",
]

PATIENCE = 8
"""Memories that a question waits for its answer before it is kept."""
_MOST_WAITING = 8
_MOST_LINES = 200
"""Lines of the file that count; what a prompt shows is far less."""

_NEW_FILE = """\
# What was noticed

What others told this agent to keep to, what it has promised, and what it was asked and has
not answered. Noticed in what was said, kept through every compaction, shown with whoever it
comes from. Lines may be changed, added and taken out; what does not begin with "- rule",
"- promise" or "- question" is for its reader alone.
"""
_LINE = re.compile(
    r"^- (?P<kind>rule|promise|question) (?:from|to|of) (?P<who>[^:]{1,48}): (?P<text>\S.*?)"
    r"(?: \(memory (?P<number>\d{1,9})(?:, (?P<time>[\dT:.+-]{10,40}))?\))?[ \t]*$"
)
_READ_TO = re.compile(r"^<!-- noticed up to memory (\d{1,9}) -->$", re.M)
_SOMEBODY = "somebody"


class NoticedBlock:
    """The noticed block of one agent; safe to use from several threads.

    Args:
        path: The file; made when the first thing is noticed.
        log: Is told, once for each, why the file cannot be read.
    """

    def __init__(self, path: Path, log: Callable[[str], None] = lambda _: None) -> None:
        self.path = path
        self._log = log
        self._lock = threading.RLock()
        self._seen: Stamp | None = None
        self._problem = ""
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

    def lines_before(self, number: int | None) -> tuple[str, ...]:
        """Those of :attr:`lines` that come from before memory ``number``.

        What is still in the window says it itself; leaving it out here keeps the head of the
        prompt, which a model server has in its cache, as it is until the next compaction.

        Args:
            number: The first memory in the window; None for all lines.
        """
        with self._lock:
            self._refresh()
            return tuple(
                item.line for item in self._shown if number is None or item.number < number
            )

    # -- noticing

    def follow(self, memory: Memory, own_name: str, to: str = "") -> bool:
        """Notice what is in a new memory, and what it closes; quick, writes nothing.

        Args:
            memory: What the agent has just lived through.
            own_name: Its name.
            to: Whom it speaks to, for what it says without naming anybody.

        Returns:
            Whether there is something to :meth:`save`.
        """
        with self._lock:
            self._refresh()
            alone = self._alone_with(memory.source)
            to = to or self._partner(memory, own_name, alone)
            for item in settled([*self._items, *self._waiting.values()], memory, own_name, to):
                self._close(item)
            for item in notice(memory, own_name, to, alone=alone):
                if item.kind is NoticedKind.QUESTION:
                    self._wait(item)
                else:
                    self._find(item)
            self._promote(memory.number)
            self._read_to = max(self._read_to, memory.number)
            return bool(self._found or self._closed)

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
                    self.follow(memory, own_name)
            return bool(self._found or self._closed)

    def save(self) -> None:
        """Write what was noticed since; blocks on the disk.

        Raises:
            NoteRefused: The file cannot be read or written; what was noticed waits.
        """
        with self._lock:
            found, closed = tuple(self._found), tuple(self._closed)
            # A question that waits is in no file yet: after a crash it is to be heard again.
            waiting = [question.number - 1 for question in self._waiting.values()]
            read_to = min([self._read_to, *waiting])
        if not found and not closed:
            return
        # Not under the lock: a thought on the reactor must not wait for the disk.
        vault_files.change(self.path, lambda before: _changed(before, found, closed, read_to))
        with self._lock:
            self._refresh()
            self._found = [item for item in self._found if item not in found]
            self._closed = [item for item in self._closed if item not in closed]
            self._plan()

    def add(self, found: Iterable[Noticed]) -> tuple[Noticed, ...]:
        """Keep these at once, as far as there is room.

        Returns:
            Those of them that are kept now.

        Raises:
            NoteRefused: The file cannot be read or written.
        """
        wanted = tuple(found)
        if wanted:
            vault_files.change(self.path, lambda before: _changed(before, wanted, (), 0))
        kept = self.items
        return tuple(item for item in wanted if any(same(item, each) for each in kept))

    def remove(self, which: int | str) -> Noticed:
        """Take one out: by its place in :attr:`items`, from 1, or by words that only it has.

        Raises:
            NoteRefused: Nothing is meant, or several may be; or the file cannot be written.
        """
        gone: list[Noticed] = []

        def make(before: str | None) -> str:
            gone[:] = [_meant(which, _parsed(before or ""))]
            return _without(before or "", gone)

        vault_files.change(self.path, make)
        return gone[0]

    # -- inside; the lock is held

    def _wait(self, question: Noticed) -> None:
        """Remember a question for a while: most are answered with the next breath."""
        self._waiting.pop(question.who, None)
        self._waiting[question.who] = question  # the newest of one person stands for all
        if len(self._waiting) > _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]

    def _promote(self, number: int) -> None:
        for who, question in list(self._waiting.items()):
            if number - question.number >= PATIENCE:
                del self._waiting[who]
                self._find(question)

    def _find(self, item: Noticed) -> None:
        """Take ``item`` in if there will be room, also beside what is not written yet."""
        if (room := admit(self._items, item)) is not None:
            self._found = [each for each in (*self._found, item) if each in room]
            self._plan()

    def _plan(self) -> None:
        self._items = _planned(self._in_file, self._found, self._closed)
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
        self._found = [each for each in self._found if each != item]
        # Also what no save has written yet: one may be under way.
        self._closed = [*(each for each in self._closed if each != item), item]
        self._plan()

    def _refresh(self) -> None:
        now = vault_files.stamp(self.path)
        if now == self._seen:
            return
        try:
            source = vault_files.read(self.path) or ""
        except (OSError, UnicodeDecodeError) as error:
            self._trouble(str(vault_files.unusable(self.path, error)))
            return
        self._seen, self._problem = now, ""
        self._in_file = _parsed(source)
        self._plan()
        marks = _READ_TO.findall(source)
        self._read_to = max(self._read_to, int(marks[-1]) if marks else 0)

    def _trouble(self, problem: str) -> None:
        if problem != self._problem:
            self._log(problem)
        self._problem = problem


# -- the file


def _parsed(source: str) -> tuple[Noticed, ...]:
    found = (item for line in source.splitlines() if (item := _item(line)) is not None)
    return tuple(item for item, _ in zip(found, range(_MOST_LINES), strict=False))


def _item(line: str) -> Noticed | None:
    match = _LINE.match(line.rstrip())
    if match is None:
        return None
    who = "" if match["who"].casefold() == _SOMEBODY else match["who"].strip()
    text = shorten(for_prompt(match["text"]), 2 * LONGEST)
    return Noticed(
        NoticedKind(match["kind"]), for_prompt(who), text, int(match["number"] or 0), _time(match)
    )


def _time(match: re.Match[str]) -> datetime | None:
    try:
        return datetime.fromisoformat(match["time"]) if match["time"] else None
    except ValueError:
        return None  # a person's own way of writing it


def _written(item: Noticed) -> str:
    preposition = "to" if item.kind is NoticedKind.PROMISE else "from"
    time = f", {item.time.isoformat(timespec='seconds')}" if item.time else ""
    end = f" (memory {item.number}{time})" if item.number else ""
    return f"- {item.kind.value} {preposition} {item.who or _SOMEBODY}: {item.text}{end}"


def _changed(
    before: str | None, found: Sequence[Noticed], closed: Sequence[Noticed], read_to: int
) -> str:
    """The file with ``found`` in it, as far as there is room, and without ``closed``."""
    source = before if before and before.strip() else _NEW_FILE
    kept = _parsed(source)
    items = _planned(kept, found, closed)
    source = _without(source, [item for item in kept if item not in items])
    fresh = [_written(item) for item in items if item not in kept]
    marks = [*map(int, _READ_TO.findall(source)), read_to]
    body = _READ_TO.sub("", source).rstrip("\n")
    gap = "\n" if not _parsed(source) else ""
    return "\n".join([f"{body}{gap}", *fresh, f"<!-- noticed up to memory {max(marks)} -->", ""])


def _planned(
    items: Sequence[Noticed], found: Iterable[Noticed], closed: Iterable[Noticed]
) -> tuple[Noticed, ...]:
    """The items once ``closed`` are gone and ``found`` are in, as far as there is room."""
    gone = tuple(closed)
    planned = tuple(item for item in items if not any(same(item, each) for each in gone))
    for new in found:
        planned = admit(planned, new) or planned
    return planned


def _without(source: str, gone: Sequence[Noticed]) -> str:
    lines = source.splitlines(keepends=True)
    return "".join(line for line in lines if (item := _item(line)) is None or item not in gone)


def _meant(which: int | str, items: tuple[Noticed, ...]) -> Noticed:
    wanted = " ".join(str(which).split()).strip(". ").casefold()
    if wanted.isdecimal() and 1 <= int(wanted) <= len(items):
        return items[int(wanted) - 1]
    found = [item for item in items if wanted and wanted in item.line.casefold()]
    if len(found) == 1:
        return found[0]
    if not items:
        raise NoteRefused("Nothing was noticed")
    why = "may be several of the noticed lines" if found else "is none of the noticed lines"
    listed = "; ".join(f"{n}. {shorten(item.line, 60)}" for n, item in enumerate(items, start=1))
    raise NoteRefused(f"{str(which)[:60]!r} {why}", f"Give its number: {listed}")
