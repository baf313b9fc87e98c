"""The lines of memories of all archives, in which those that bear on a sentence are found.

Only lines that may bear on it become memories: of 100,000 lines that takes a second less.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.json_lines import parsed
from keepsake.language.numbers import numeral_words
from keepsake.language.perception import UNSPACED
from keepsake.tracing.content import Rarity, joined
from keepsake.tracing.past import number_in

_MEMORY = LineType.MEMORY.start
_ACT = f'"kind":"{MemoryKind.ACT}"'.encode()
_RESULT = f'"kind":"{MemoryKind.RESULT}"'.encode()
_TEXT = b',"text":"'
_WORDS = b',"words":"'
_HAPPENING = b',"happening":"'
_STRING = re.compile(rb'(?:[^"\\]|\\.)*')
"""What is in a JSON string."""
_LONG = 5
"""The letters from which on a stem is looked for at any place of a word, as that is quick."""


type Place = tuple[str, bytes]
"""The key of an agent, and the line of one of its memories."""


@dataclass(frozen=True, slots=True)
class Line:
    """The line of a memory.

    Attributes:
        key: The key of the agent.
        data: The line.
        parts: Those of the words of the sentence that it has.
    """

    key: str
    data: bytes
    parts: tuple[str, ...]

    @property
    def is_own(self) -> bool:
        """Whether the agent itself spoke or acted."""
        return _ACT in self.data

    @property
    def is_result(self) -> bool:
        """Whether it is the result of an own act."""
        return _RESULT in self.data

    @property
    def happening(self) -> str:
        """The id of what happened; empty if it is not known."""
        return _happening_in(self.data)

    @property
    def memory(self) -> Memory | None:
        """The memory; None if the line is damaged: opening the memory reports that."""
        with suppress(KeyError, ValueError, TypeError):
            return Memory.from_record(parsed(self.data))
        return None


def segments_of(folder: Path) -> Iterator[bytes]:
    """Yield the complete lines of each file of an archive.

    A whole file is read and searched much faster than its lines one by one.
    """
    if not folder.is_dir():
        return
    for path in Archive(folder, read_only=True).segments():
        data = path.read_bytes()
        yield data[: data.rfind(b"\n") + 1]


class Lines:
    """The lines of all memories.

    Args:
        folders: The folder of each archive, by key of the agent.
        parts: The words of a sentence, as compared.
        language: Their language.

    Attributes:
        rarity: In how many happenings each of the words is.
        sharing: The lines that have any of them, in order of their archives.
    """

    def __init__(self, folders: Mapping[str, Path], parts: Sequence[str], language: str) -> None:
        needles = [_Needle.of(each, language) for each in parts]
        self._having: dict[str, set[str]] = {each: set() for each in parts}
        self._by_happening: dict[str, list[Place]] = {}
        self._of_agent: dict[str, list[bytes]] = {each: [] for each in folders}
        self._numbered: dict[str, dict[int, bytes]] = {}
        self.sharing: list[Line] = []
        unnamed = 0
        for key, line, having in _memory_lines(folders, needles):
            self._of_agent[key].append(line)
            happening = _happening_in(line)
            if happening:
                self._by_happening.setdefault(happening, []).append((key, line))
            else:
                unnamed += 1
                happening = f"{unnamed}"
            if having:
                self._share(Line(key, line, having), happening)
        self._total = len(self._by_happening) + unnamed
        self.rarity = self.rarity_without(())

    def _share(self, line: Line, happening: str) -> None:
        for part in line.parts:
            self._having[part].add(happening)
        self.sharing.append(line)

    def rarity_without(self, happenings: Collection[str]) -> Rarity:
        """Return in how many happenings each of the words is, without some happenings."""
        counts = {part: len(found.difference(happenings)) for part, found in self._having.items()}
        return Rarity(counts, self._total - len(happenings))

    def of(self, happening: str) -> Sequence[Line]:
        """Return the lines of a happening, in all archives; none for an empty id."""
        return [Line(*each, ()) for each in self._by_happening.get(happening, ())]

    def read(self, key: str, numbers: Iterable[int]) -> Iterator[Memory]:
        """Yield some memories of an agent."""
        if key not in self._numbered:
            self._numbered[key] = {number_in(line): line for line in self._of_agent[key]}
        numbered = self._numbered[key]
        found = (Line(key, numbered[number], ()) for number in numbers if number in numbered)
        yield from (memory for _, memory in memories_of(found))

    def speaker_of(self, happening: str) -> Line | None:
        """Return the line of the agent who spoke or acted; None if it was nobody of these."""
        return next((each for each in self.of(happening) if each.is_own), None)


def memories_of(lines: Iterable[Line]) -> Iterator[tuple[str, Memory]]:
    """Yield the memories of lines, each with the key of its agent."""
    for line in lines:
        memory = line.memory
        if memory is not None:
            yield line.key, memory


def _memory_lines(
    folders: Mapping[str, Path], needles: Sequence[_Needle]
) -> Iterator[tuple[str, bytes, tuple[str, ...]]]:
    """Yield the key and the line of each memory, and which words it has."""
    forms = [(form, needle) for needle in needles for form in needle.forms]
    for key, folder in folders.items():
        for data in segments_of(folder):
            # In one piece, as that is much faster than line by line.
            small = joined(data.decode(errors="replace").casefold())
            here = [each for each in forms if each[0] in small]
            for line, text in zip(data.split(b"\n"), small.split("\n"), strict=True):
                if line.startswith(_MEMORY):
                    perhaps = [needle for form, needle in here if form in text]
                    yield key, line, _having(perhaps, line) if perhaps else ()


def _having(needles: Iterable[_Needle], line: bytes) -> tuple[str, ...]:
    """Return the words that a line has in what was said or seen, and not elsewhere."""
    text = _text_in(line)
    return tuple(dict.fromkeys(needle.part for needle in needles if needle.is_in(text)))


@dataclass(frozen=True, slots=True)
class _Needle:
    """A word that is looked for.

    Attributes:
        part: The word, as compared.
        forms: What a text has at least, if it has the word: one of these.
        begun: What finds the word where a word begins; None if any place counts.
    """

    part: str
    forms: tuple[str, ...]
    begun: re.Pattern[str] | None

    @classmethod
    def of(cls, part: str, language: str) -> _Needle:
        numbers = numeral_words(part, language) if part.isdecimal() else ()
        if numbers:
            forms = (part, *numbers)
            return cls(part, forms, re.compile(rf"(?<![^\W_])(?:{'|'.join(forms)})(?![^\W_])"))
        if len(part) >= _LONG or UNSPACED.match(part):
            return cls(part, (part,), None)
        return cls(part, (part,), re.compile(rf"(?<![^\W_]){re.escape(part)}"))

    def is_in(self, text: str) -> bool:
        """Whether a text in small letters has the word."""
        if not any(form in text for form in self.forms):
            return False
        return self.begun is None or self.begun.search(text) is not None


def _text_in(line: bytes) -> str:
    """Return what was said, or else what was read on the screen, in small letters."""
    start = line.find(_WORDS)
    at = start + len(_WORDS) if start >= 0 else line.find(_TEXT) + len(_TEXT)
    found = _STRING.match(line, at)
    return joined(found[0].decode(errors="replace").casefold()) if found else ""


def _happening_in(line: bytes) -> str:
    start = line.rfind(_HAPPENING)
    if start < 0:
        return ""
    start += len(_HAPPENING)
    return line[start : line.index(b'"', start)].decode()
