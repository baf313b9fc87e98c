"""The pinned block: a few facts that always stand in the prompt and that nothing compacts.

``vault/agents/<name>/pinned.md``, a line that starts with ``- `` for each; whatever else
stands in the file is for its reader and stays as it is.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path

from game.mind import vault_files
from game.mind.errors import NoteRefused
from game.mind.perception import visible
from game.mind.vault_files import Stamp

LIMIT = 1200
"""Characters of all pinned lines together, about 300 tokens of every prompt."""
LONGEST_LINE = 300

_LINE = re.compile(r"^[ \t]*-[ \t]+(?P<text>\S.*?)[ \t]*$")


class Pinned:
    """The pinned block of one agent; safe to use from several threads.

    Args:
        path: The file; made when the first line is pinned.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._seen: Stamp | None = None
        self._lines: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """What is pinned, in the order of the file; all of it, however long.

        Raises:
            NoteRefused: The file is there and cannot be read.
        """
        with self._lock:
            now = vault_files.stamp(self.path)
            if now != self._seen:
                self._lines = _items(self._source())
                self._seen = now
            return self._lines

    @property
    def shown(self) -> tuple[str, ...]:
        """What of it a prompt shows: the first lines that keep within :data:`LIMIT`."""
        room, kept = LIMIT, []
        for line in self.lines:
            if (room := room - len(line)) < 0:
                break
            kept.append(line)
        return tuple(kept)

    def add(self, text: str) -> str:
        """Pin one line.

        Returns:
            The line as it is kept.

        Raises:
            NoteRefused: It is empty, too long, pinned already, or the block is full.
        """
        line = _checked(text)

        def make(before: str | None) -> str:
            items = _items(before or "")
            if line.casefold() in (item.casefold() for item in items):
                raise NoteRefused("That is pinned already")
            used = sum(map(len, items))
            if used + len(line) > LIMIT:
                raise NoteRefused(
                    f"The pinned block is full ({used:,} of {LIMIT:,} characters)",
                    "Unpin something first: unpin <number>",
                )
            head = f"{before.rstrip()}\n" if before and before.strip() else ""
            return f"{head}- {line}\n"

        vault_files.change(self.path, make)
        return line

    def remove(self, which: str) -> str:
        """Take one line out: by its number, its words, or words that only it has.

        Returns:
            The line that is no longer pinned.

        Raises:
            NoteRefused: No line is meant, or several may be.
        """
        removed = ""

        def make(before: str | None) -> str:
            nonlocal removed
            lines = (before or "").splitlines(keepends=True)
            places = [index for index, line in enumerate(lines) if _LINE.match(line.rstrip())]
            index = _meant(which, _items(before or ""))
            removed = _items(before or "")[index]
            del lines[places[index]]
            return "".join(lines)

        vault_files.change(self.path, make)
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

        def make(before: str | None) -> str:
            others = [line for line in (before or "").splitlines() if not _LINE.match(line)]
            return "\n".join([*others, *(f"- {line}" for line in clean), ""])

        vault_files.change(self.path, make)

    def _source(self) -> str:
        try:
            return vault_files.read(self.path) or ""
        except (OSError, UnicodeDecodeError) as error:
            raise vault_files.unusable(self.path, error) from error


def _items(source: str) -> tuple[str, ...]:
    return tuple(match["text"] for line in source.splitlines() if (match := _LINE.match(line)))


def _checked(text: str) -> str:
    line = re.sub(r"^-\s+", "", " ".join(visible(text).split()))
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
