"""The pinned block: a few facts that always stand in the prompt and that nothing compacts.

``vault/agents/<name>/pinned.md``, a line that starts with ``- `` for each; other text in the file
is for its reader and stays as it is.

A line that the agent pinned itself carries a mark at its end, which no prompt shows. All other
lines are the builders': the agent can neither unpin them nor crowd them out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import accumulate

from keepsake.books.files import ListBook, meant
from keepsake.errors import NoteRefused
from keepsake.language.perception import visible

LIMIT = 1200
"""Characters of all pinned lines together, about 300 tokens of every prompt."""
LONGEST_LINE = 300
OWN = "<!-- by the agent itself -->"
"""Behind a line that the agent pinned; a person who deletes the mark makes the line a builder's."""

_LINE = re.compile(rf"^[ \t]*-[ \t]+(?P<text>\S.*?)[ \t]*(?P<own>{re.escape(OWN)}[ \t]*)?$")


@dataclass(frozen=True, slots=True)
class _Pin:
    """One pinned line, and whether the agent pinned it."""

    text: str
    own: bool = field(compare=False)


class Pinned(ListBook[_Pin]):
    """The pinned block of one agent; safe to use from several threads."""

    of = "pins"

    @staticmethod
    def read_line(line: str) -> _Pin | None:
        """The pin in a line."""
        match = _LINE.match(line)
        return _Pin(match["text"], match["own"] is not None) if match else None

    @staticmethod
    def write_line(item: _Pin) -> str:
        """The line of a pin."""
        return f"- {item.text} {OWN}" if item.own else f"- {item.text}"

    @property
    def lines(self) -> tuple[str, ...]:
        """What is pinned, in the order of the file; all of it, however long."""
        return tuple(pin.text for pin in self.items)

    @property
    def own(self) -> tuple[str, ...]:
        """Those of :attr:`lines` that the agent pinned itself."""
        return tuple(pin.text for pin in self.items if pin.own)

    @property
    def shown(self) -> tuple[str, ...]:
        """What of it a prompt shows: the first lines that keep within :data:`LIMIT`.

        The builders' lines have the first right to the room, wherever they stand.
        """
        pins = self.items
        order = sorted(range(len(pins)), key=lambda place: pins[place].own)
        used = accumulate(len(pins[place].text) for place in order)
        kept = {place for place, size in zip(order, used, strict=True) if size <= LIMIT}
        return tuple(pins[place].text for place in sorted(kept))

    def add(self, text: str, *, own: bool = False) -> str:
        """Pin one line, and give it as it is kept.

        Raises:
            NoteRefused: It is empty, too long, pinned already, or the block is full.
        """
        line = _checked(text)

        def plan(pins: tuple[_Pin, ...]) -> list[_Pin]:
            if line.casefold() in (pin.text.casefold() for pin in pins):
                raise NoteRefused("That is pinned already")
            used = sum(len(pin.text) for pin in pins)
            if used + len(line) > LIMIT:
                raise NoteRefused(
                    f"The pinned block is full ({used:,} of {LIMIT:,} characters)",
                    "Unpin something first: unpin <number>",
                )
            return [*pins, _Pin(line, own)]

        self._change(plan)
        self._store.tell("pin", "agent" if own else "builder", size=len(line))
        return line

    def remove(self, which: str, *, only_own: bool = False) -> str:
        """Take one line out, by its number, its words, or words that only it has; and give it.

        Raises:
            NoteRefused: No line is meant, several may be, or it is not the agent's own.
        """
        removed = ""

        def plan(pins: tuple[_Pin, ...]) -> list[_Pin | None]:
            nonlocal removed
            if not pins:
                raise NoteRefused("Nothing is pinned")
            texts = [pin.text for pin in pins]
            place = meant(which, range(1, len(pins) + 1), texts, "pinned lines")
            removed = texts[place]
            if only_own and not pins[place].own:
                raise NoteRefused(
                    f"{removed[:60]!r} was not pinned by you", "You can unpin what you pinned"
                )
            return [*pins[:place], None, *pins[place + 1 :]]

        self._change(plan)
        self._store.tell("unpin", "agent" if only_own else "builder", size=len(removed))
        return removed


def _checked(text: str) -> str:
    line = re.sub(r"^-\s+", "", " ".join(visible(text).replace(OWN, " ").split()))
    if not any(char.isalnum() for char in line):
        raise NoteRefused("There is nothing to pin", "Write: pin <text>")
    if len(line) > LONGEST_LINE:
        raise NoteRefused(f"That is {len(line):,} characters", f"Pin at most {LONGEST_LINE} a line")
    return line
