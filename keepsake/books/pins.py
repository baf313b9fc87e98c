"""The pinned block: a few facts that always stand in the prompt and that nothing compacts.

``vault/agents/<name>/pinned.md``, a line that starts with ``- `` for each; whatever else
stands in the file is for its reader and stays as it is.

What the agent pinned itself carries a mark at its end, which no prompt shows. All else is the
builders', who wrote or pinned it: the agent can neither let go of that nor crowd it out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from keepsake.errors import NoteRefused
from keepsake.events.types import MemoryChange
from keepsake.language.perception import visible
from keepsake.records.store import RecordStore, Tell

LIMIT = 1200
"""Characters of all pinned lines together, about 300 tokens of every prompt."""
LONGEST_LINE = 300
OWN = "<!-- by the agent itself -->"
"""Behind a line that the agent pinned; whoever takes it away makes the line a builder's."""

_LINE = re.compile(rf"^[ \t]*-[ \t]+(?P<text>\S.*?)[ \t]*(?P<own>{re.escape(OWN)}[ \t]*)?$")


class Pinned:
    """The pinned block of one agent; safe to use from several threads."""

    def __init__(self, path: Path, agent: str = "", tell: Tell = lambda _: None) -> None:
        self.path = path
        self._agent, self._tell = agent, tell
        self._store = RecordStore(
            lambda _, source, __: tuple(
                _Pin(match["text"], match["own"] is not None)
                for match in map(_LINE.match, source.splitlines())
                if match
            ),
            lambda _, before, after: self._tell_changes(before or (), after or (), "hand"),
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """What is pinned, in the order of the file; all of it, however long.

        Raises:
            NoteRefused: The file is there and cannot be read.
        """
        return tuple(pin.text for pin in self._now())

    @property
    def own(self) -> tuple[str, ...]:
        """Those of :attr:`lines` that the agent pinned itself.

        Raises:
            NoteRefused: The file is there and cannot be read.
        """
        return tuple(pin.text for pin in self._now() if pin.own)

    @property
    def shown(self) -> tuple[str, ...]:
        """What of it a prompt shows: the first lines that keep within :data:`LIMIT`.

        The builders' lines have the first right to the room, wherever they stand.
        """
        pins, kept = self._now(), set[int]()
        room = LIMIT
        for own in (False, True):
            for place, pin in enumerate(pins):
                if pin.own is own:
                    if (room := room - len(pin.text)) < 0:
                        break
                    kept.add(place)
        return tuple(pins[place].text for place in sorted(kept))

    def _now(self) -> tuple[_Pin, ...]:
        return self._store.read(self.path) or ()

    def _write(self, make: Callable[[str, tuple[_Pin, ...]], str], by: str) -> None:
        before, after = self._store.change(
            self.path, lambda source, pins: make(source or "", pins or ())
        )
        self._tell_changes(before or (), after, by)

    def _tell_changes(self, known: tuple[_Pin, ...], pins: tuple[_Pin, ...], by: str) -> None:
        before, after = (Counter(pin.text for pin in each) for each in (known, pins))
        for op, lines in (("pin", after - before), ("unpin", before - after)):
            for line in lines.elements():
                self._tell(MemoryChange(agent=self._agent, op=op, n=0, size=len(line), by=by))

    def add(self, text: str, *, own: bool = False) -> str:
        """Pin one line.

        Returns:
            The line as it is kept.

        Raises:
            NoteRefused: It is empty, too long, pinned already, or the block is full.
        """
        line = _checked(text)

        def make(before: str, pins: tuple[_Pin, ...]) -> str:
            if line.casefold() in (pin.text.casefold() for pin in pins):
                raise NoteRefused("That is pinned already")
            used = sum(len(pin.text) for pin in pins)
            if used + len(line) > LIMIT:
                raise NoteRefused(
                    f"The pinned block is full ({used:,} of {LIMIT:,} characters)",
                    "Unpin something first: unpin <number>",
                )
            head = f"{before.rstrip()}\n" if before.strip() else ""
            return f"{head}- {line}{f' {OWN}' if own else ''}\n"

        self._write(make, "agent" if own else "builder")
        return line

    def remove(self, which: str, *, only_own: bool = False) -> str:
        """Take one line out: by its number, its words, or words that only it has.

        Returns:
            The line that is no longer pinned.

        Raises:
            NoteRefused: No line is meant, several may be, or it is not the agent's own.
        """
        removed = ""

        def make(before: str, pins: tuple[_Pin, ...]) -> str:
            nonlocal removed
            lines = before.splitlines(keepends=True)
            places = [index for index, line in enumerate(lines) if _LINE.match(line.rstrip())]
            index = _meant(which, tuple(pin.text for pin in pins))
            removed = pins[index].text
            if only_own and not pins[index].own:
                raise NoteRefused(
                    f"{removed[:60]!r} was not pinned by you", "You can unpin what you pinned"
                )
            del lines[places[index]]
            return "".join(lines)

        self._write(make, "agent" if only_own else "builder")
        return removed

    def replace(self, lines: tuple[str, ...]) -> None:
        """Pin these lines in place of those that are pinned; other text in the file stays.

        Raises:
            NoteRefused: A line is empty or too long, or they are too many.
        """
        clean = [_checked(line) for line in lines]
        if sum(map(len, clean)) > LIMIT:
            raise NoteRefused(
                f"Those are {sum(map(len, clean)):,} characters", f"Pin at most {LIMIT:,}"
            )

        def make(before: str, pins: tuple[_Pin, ...]) -> str:
            others = [line for line in before.splitlines() if not _LINE.match(line)]
            own = {pin.text for pin in pins if pin.own}
            marked = [f"- {line} {OWN}" if line in own else f"- {line}" for line in clean]
            return "\n".join([*others, *marked, ""])

        self._write(make, "builder")


@dataclass(frozen=True, slots=True)
class _Pin:
    """One pinned line, and whether the agent pinned it."""

    text: str
    own: bool


def _checked(text: str) -> str:
    line = re.sub(r"^-\s+", "", " ".join(visible(text).replace(OWN, " ").split()))
    if not any(char.isalnum() for char in line):
        raise NoteRefused("There is nothing to pin", "Write: pin <text>")
    if len(line) > LONGEST_LINE:
        raise NoteRefused(f"That is {len(line):,} characters", f"Pin at most {LONGEST_LINE} a line")
    return line


def _meant(which: str, items: tuple[str, ...]) -> int:
    """The index of the one line that ``which`` means."""
    wanted = " ".join(which.split()).strip(". ").casefold()
    number = re.fullmatch(r"(?:no\.?|number|#)?\s*(\d{1,4})", wanted)
    if number and 1 <= int(number[1]) <= len(items):
        return int(number[1]) - 1
    plain = [item.casefold().strip(". ") for item in items]
    found = [index for index, item in enumerate(plain) if item == wanted]
    found = found or [index for index, item in enumerate(plain) if wanted and wanted in item]
    if len(found) == 1:
        return found[0]
    if not items:
        raise NoteRefused("Nothing is pinned")
    why = "may be several of the pinned lines" if found else "is not pinned"
    listed = "; ".join(f"{n}. {item[:60]}" for n, item in enumerate(items, start=1))
    raise NoteRefused(f"{which[:60]!r} {why}", f"Give its number: {listed}")
