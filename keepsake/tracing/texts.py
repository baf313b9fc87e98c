"""What the memories of archives say, kept to be searched: a tenth of what the lines themselves are.

:class:`Texts` reads a segment of an archive once, and later only what was appended to it. A segment
that was replaced or cut is read anew. Reading blocks: call it in a worker thread.
"""

from __future__ import annotations

import os
import re
import threading
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from sys import getsizeof

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import HappeningKind
from keepsake.json_lines import ended_lines, parsed

MOST_BYTES = 128_000_000
"""The most bytes of RAM for the texts of all archives: three quarters of a million memories of a
hundred letters. Segments for which there is no room are read each time."""
_MEMORY = LineType.MEMORY.start
_ACT = f'"kind":"{MemoryKind.ACT}"'.encode()
_RESULT = f'"kind":"{MemoryKind.RESULT}"'.encode()
_TEXT = b',"text":"'
_WORDS = b',"words":"'
_HAPPENING = b',"happening":"'
_SOURCE = b',"source_id":"'
_ABOUT = b',"about":"'
_TO = b',"to":['
"""Fields of a memory's line. Quotation marks within texts are escaped, so no text has them."""
_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*')
"""What is in a JSON string."""
_PERSON = re.compile(rb'\["(?:[^"\\]|\\.)*","([^"\\]*)"\],?')
"""The name and the identity of somebody who is addressed."""
_KEPT_END = 64
"""The bytes before the end of what was read that are compared: if others stand there, the file is
another one."""
_OWN = 1
_IS_RESULT = 2
_HAPPENED = 4
"""Bits of a memory's kind: of the agent's own acts, their results, speech and deeds and poses."""
_HAPPENS = tuple(
    f',"what":"{kind}"'.encode()
    for kind in (HappeningKind.SPEECH, HappeningKind.DEED, HappeningKind.POSE)
)
NO_HAPPENING = 0
"""Stands for the happening of a memory that has none."""


def key_of(identity: str) -> int:
    """Return what stands for a happening or a person in RAM; two may hardly ever have the same."""
    return hash(identity.encode()) if identity else NO_HAPPENING


class SegmentTexts:
    """What the memories of one segment say, in the order of their lines.

    Lists that have one element for each memory only ever grow. Lines that are damaged are left out:
    opening the memory reports them.

    Attributes:
        numbers: The numbers of the memories.
        happenings: By memory, what stands for its happening; see :func:`key_of`.
        text: By memory a line: what was said, or else what was read on the screen, in small
            letters.
    """

    def __init__(self, path: Path) -> None:
        self.numbers = array("Q")
        self.happenings = array("q")
        self.text = ""
        self._path = path
        self._starts = array("Q")
        self._kinds = bytearray()
        # Of each memory, what stands for each person who spoke, acted or was addressed, or whom it
        # is about; and the memory's place.
        self._people = array("q")
        self._of_people = array("I")
        self._read = 0
        self._end = b""
        self._seen: tuple[int, int] = (0, 0)

    @property
    def size(self) -> int:
        """The bytes that it takes in RAM."""
        lists = (self.numbers, self.happenings, self._starts, self._people, self._of_people)
        return sum(map(getsizeof, (*lists, self._kinds, self.text)))

    def read_on(self, now: os.stat_result) -> bool:
        """Read what was appended; return False if the file is not the one that was read before.

        ``now``: What the disk says of the file.
        """
        if _seen(now) == self._seen and now.st_size == self._read:
            return True
        grown = now.st_ino == self._seen[0] and now.st_size > self._read
        if self._read and not grown:
            return False
        with self._path.open("rb") as file:
            file.seek(self._read - len(self._end))
            if file.read(len(self._end)) != self._end:
                return False
            data = file.read()
            # Not what was seen before: the game may have appended a line in between.
            self._seen = _seen(os.fstat(file.fileno()))
        data = data[: data.rfind(b"\n") + 1]
        self._take(data)
        self._read += len(data)
        self._end = (self._end + data)[-_KEPT_END:]
        return True

    def _take(self, data: bytes) -> None:
        at = self._read
        texts = []
        for line in ended_lines(data):
            if line.startswith(_MEMORY):
                with suppress(ValueError, OverflowError):
                    self.numbers.append(number_in(line))
                    self.happenings.append(_happening_in(line))
                    self._starts.append(at)
                    self._kinds.append(_kind_of(line))
                    for person in _people_in(line):
                        self._of_people.append(len(self.numbers) - 1)
                        self._people.append(person)
                    texts.append(_text_in(line))
            at += len(line) + 1
        if texts:
            new = b"\n".join(texts).decode(errors="replace").casefold()
            # Whoever searches meanwhile has fewer texts than numbers.
            self.text = (
                f"{self.text}\n{new}" if self.text or len(texts) < len(self.numbers) else new
            )

    def is_own(self, at: int) -> bool:
        """Whether the agent itself spoke or acted. ``at``: The place of the memory."""
        return bool(self._kinds[at] & _OWN)

    def is_result(self, at: int) -> bool:
        """Whether it is the result of an own act."""
        return bool(self._kinds[at] & _IS_RESULT)

    def has_happened(self, at: int) -> bool:
        """Whether somebody spoke or acted; False also if an old line does not say so."""
        return bool(self._kinds[at] & _HAPPENED)

    def place_of(self, number: int) -> int | None:
        """Return the place of a memory; None if it is not here."""
        at = bisect_left(self.numbers, number)
        return at if at < len(self.numbers) and self.numbers[at] == number else None

    def places_of(self, happening: int) -> Iterator[int]:
        """Yield the places of the memories of a happening."""
        yield from _places_of(happening, self.happenings)

    def places_with(self, person: int) -> Iterator[int]:
        """Yield the places of the memories in which somebody speaks, acts or is addressed.

        ``person``: What stands for their identity; see :func:`key_of`.
        """
        yield from (self._of_people[at] for at in _places_of(person, self._people))

    def people_between(self, first: int, end: int) -> Sequence[tuple[int, int]]:
        """Return who speaks, acts or is addressed in the memories of some places, and the place.

        Args:
            first: The first place.
            end: The place after the last one.
        """
        begin = bisect_left(self._of_people, first)
        until = bisect_left(self._of_people, end)
        return [*zip(self._people[begin:until], self._of_people[begin:until], strict=True)]

    def happenings_from(self, number: int) -> Sequence[int]:
        """Return what stands for the happenings of the memories from a number on."""
        return self.happenings[bisect_left(self.numbers, number) :]

    def memories(self, places: Iterable[int]) -> Iterator[Memory]:
        """Yield the memories of places; none for a line that is damaged, or there no more."""
        yield from (memory for _, memory in self.read(places))

    def read(self, places: Iterable[int]) -> Iterator[tuple[int, Memory]]:
        """Yield the memories of places, as :meth:`memories`, each with its place."""
        with self._path.open("rb") as file:
            for at in places:
                start = self._starts[at]
                line = os.pread(file.fileno(), self._ends(at) - start, start).partition(b"\n")[0]
                # Opening the memory reports damaged lines.
                with suppress(KeyError, ValueError, TypeError):
                    yield at, Memory.from_record(parsed(line))

    def _ends(self, at: int) -> int:
        """Return where the line of a memory has ended."""
        return self._starts[at + 1] if at + 1 < len(self._starts) else self._read


def _seen(file: os.stat_result) -> tuple[int, int]:
    return file.st_ino, file.st_mtime_ns


def memories_at(segments: Sequence[SegmentTexts], numbers: Iterable[int]) -> Iterator[Memory]:
    """Yield the memories of an archive with these numbers, without their repeats; reads them."""
    for number in numbers:
        for segment in segments:
            place = segment.place_of(number)
            if place is not None:
                yield from segment.memories([place])


def lines_with(text: str, needle: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text that have a needle, each with its place; quick."""
    start = 0
    place = 0
    while (found := text.find(needle, start)) >= 0:
        place += text.count("\n", start, found)
        end = text.find("\n", found)
        end = end if end >= 0 else len(text)
        yield place, text[text.rfind("\n", 0, found) + 1 : end]
        start = end + 1
        place += 1


def number_in(line: bytes) -> int:
    """Return the number of the memory of a line."""
    start = len(_MEMORY) + len(b'"n":')
    return int(line[start : line.index(b",", start)])


def _places_of(wanted: int, keys: array[int]) -> Iterator[int]:
    with suppress(ValueError):  # there is none, or no more
        at = -1
        while True:
            at = keys.index(wanted, at + 1)
            yield at


def _kind_of(line: bytes) -> int:
    own = _OWN * (_ACT in line)
    return own + _IS_RESULT * (_RESULT in line) + _HAPPENED * any(each in line for each in _HAPPENS)


def _people_in(line: bytes) -> set[int]:
    """Return what stands for each person whom a line names by identity."""
    found = [
        _string_at(line, start + len(field))
        for field in (_SOURCE, _ABOUT)
        if (start := line.find(field)) >= 0
    ]
    start = line.find(_TO)
    at = start + len(_TO) if start >= 0 else len(line)
    while (person := _PERSON.match(line, at)) is not None:
        found.append(person[1])
        at = person.end()
    return {hash(each) for each in found if each}


def _text_in(line: bytes) -> bytes:
    """Return what was said, or else what was read on the screen, in one line."""
    said = b""
    if (start := line.find(_WORDS)) >= 0:
        said = _string_at(line, start + len(_WORDS))
    if not said and (start := line.find(_TEXT)) >= 0:
        said = _string_at(line, start + len(_TEXT))
    if b"\\" in said:
        text = parsed(b'{"text":"' + said + b'"}').get("text", "")
        said = str(text).replace("\n", " ").encode(errors="replace")
    return said


def _string_at(line: bytes, at: int) -> bytes:
    found = _STRING.match(line, at)
    return found[0] if found else b""


def _happening_in(line: bytes) -> int:
    start = line.rfind(_HAPPENING)
    if start < 0:
        return NO_HAPPENING
    start += len(_HAPPENING)
    return hash(line[start : line.index(b'"', start)])


class Texts:
    """What the memories of several archives say; safe to use from several threads.

    Args:
        most: The most bytes of RAM that are kept.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._lock = threading.Lock()
        # By folder and name of the segment: each with the bytes that it takes.
        self._kept: dict[Path, dict[str, tuple[SegmentTexts, int]]] = {}

    @property
    def size(self) -> int:
        """The bytes of RAM that are kept."""
        return sum(size for of in self._kept.values() for _, size in of.values())

    def of(self, folder: Path) -> Sequence[SegmentTexts]:
        """Return the segments of an archive, oldest first, read to their ends.

        ``folder``: That of the archive; one that is missing has none.

        Raises:
            OSError, ArchiveError: The archive cannot be read.
        """
        with self._lock:
            known = self._kept.pop(folder, {})
            room = self._most - self.size
            found = []
            kept = {}
            for path in Archive(folder, read_only=True).segments() if folder.is_dir() else ():
                segment = _read_on(path, known.get(path.name))
                found.append(segment)
                size = segment.size
                if size <= room:
                    kept[path.name] = (segment, size)
                    room -= size
            self._kept[folder] = kept
            return found

    def keep_only(self, folders: Collection[Path]) -> None:
        """Forget all other archives, such as those of agents that were deleted."""
        with self._lock:
            self._kept = {each: of for each, of in self._kept.items() if each in folders}


def _read_on(path: Path, known: tuple[SegmentTexts, int] | None) -> SegmentTexts:
    now = path.stat()
    if known is not None and known[0].read_on(now):
        return known[0]
    new = SegmentTexts(path)
    new.read_on(now)
    return new
