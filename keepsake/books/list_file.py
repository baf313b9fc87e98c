"""A markdown list that a person and the game both edit: one item a line, other text stays.

The pinned block and the list of promises are such files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from keepsake.books.store import RecordStore, Report
from keepsake.errors import NoteRefused

type ReadLine[T] = Callable[[str], T | None]
"""The item in a line; None for a line that holds none."""
type Changed[T] = Callable[[T, bool, str], None]
"""Takes an item, whether it came or went, and who did that: ``hand`` for a person's editor."""


class ListFile[T]:
    """The items of one file; safe to use from several threads. Items are hashable."""

    def __init__(
        self,
        path: Path,
        read_line: ReadLine[T],
        write_line: Callable[[T], str],
        changed: Changed[T],
        *,
        report: Report = lambda _: None,
        head: str = "",
    ) -> None:
        self._path, self._read_line, self._write_line = path, read_line, write_line
        self._changed, self._head = changed, head
        self._store = RecordStore[tuple[T, ...]](
            lambda _, source, __: self._items(source),
            lambda _, before, after: self._tell(before or (), after or (), "hand"),
            report,
        )

    def items(self) -> tuple[T, ...]:
        """All items, in the order of the file; of one that cannot be read its last good state.

        Quick: it does not wait for who writes the file now.
        """
        self._store.look([self._path], wait=False)
        return self._store.known(self._path) or ()

    def problems(self) -> list[str]:
        """Why the file cannot be read; empty if it can, or is not there."""
        self._store.look([self._path])
        return list(self._store.problems().values())

    def change(self, plan: Callable[[tuple[T, ...]], Sequence[T | None]], by: str) -> None:
        """Change the file, whole or not at all.

        Args:
            plan: Takes the items and gives what becomes of each, None for one that goes; more of
                them are added at the end of the file. May refuse, and is asked again if somebody
                saves the file meanwhile.
            by: Who changes it, for the event log.

        Raises:
            NoteRefused: The file cannot be read or written, or ``plan`` refused.
        """

        def make(source: str | None, items: tuple[T, ...] | None) -> str:
            planned, count = plan(items or ()), len(items or ())
            return self._text(source or self._head, planned[:count], planned[count:])

        before, after = self._store.change(self._path, make)
        self._tell(before or (), after, by)

    def _items(self, source: str) -> tuple[T, ...]:
        found = (self._read_line(line.rstrip()) for line in source.splitlines())
        return tuple(item for item in found if item is not None)

    def _text(self, source: str, kept: Sequence[T | None], new: Sequence[T | None]) -> str:
        lines, left = list[str](), iter(kept)
        for line in source.splitlines(keepends=True):
            if (was := self._read_line(line.rstrip())) is None:
                lines.append(line)
            elif (now := next(left)) is not None:
                lines.append(line if now == was else f"{self._write_line(now)}\n")
        added = [f"{self._write_line(item)}\n" for item in new if item is not None]
        if not added:
            return "".join(lines)
        body = "".join(lines).rstrip()
        gap = "" if not body else "\n" if self._items(body) else "\n\n"
        return f"{body}{gap}{''.join(added)}"

    def _tell(self, before: Sequence[T], after: Sequence[T], by: str) -> None:
        was, now = Counter(before), Counter(after)
        for item in (now - was).elements():
            self._changed(item, True, by)
        for item in (was - now).elements():
            self._changed(item, False, by)


def meant(which: str, numbers: Sequence[int], texts: Sequence[str], of: str) -> int:
    """The place of the one item that a number or some words mean.

    Args:
        which: A number, all of its words, or words that only it has.
        numbers: What each is called by number.
        texts: The words of each.
        of: What they are, for the error: ``pinned lines``.

    Raises:
        NoteRefused: None is meant, or several may be.
    """
    wanted = " ".join(which.split()).strip(". ").casefold()
    number = wanted.removeprefix("number").removeprefix("no.").strip(" #()")
    plain = [text.casefold().strip(". ") for text in texts]
    found = [place for place, each in enumerate(numbers) if number == str(each)]
    found = found or [place for place, text in enumerate(plain) if text == wanted]
    found = found or [place for place, text in enumerate(plain) if wanted and wanted in text]
    if len(found) == 1:
        return found[0]
    why = "may be several" if found else "is none"
    listed = "; ".join(f"{n}. {text[:60]}" for n, text in zip(numbers, texts, strict=True))
    cure = f"Give its number: {listed}" if listed else "There are none"
    raise NoteRefused(f"{which[:60]!r} {why} of the {of}", cure)
