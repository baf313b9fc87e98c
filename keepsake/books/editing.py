"""Edits of a book's files by a person on a page: checked, and with the version before kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from keepsake.books import files
from keepsake.books.files import RecordStore
from keepsake.books.versions import Version, Versions
from keepsake.errors import NoteRefused

LONGEST_FILE = 200_000
"""The most characters of an edited file: more than any book's file has, and quick to parse."""


class EditableBook(StrEnum):
    """The books whose files people may edit on a page."""

    JOURNAL = "journal"
    PEOPLE = "people"
    NOTES = "notes"
    PINS = "pins"
    PROMISES = "promises"
    """Promises, and rules that the agent follows."""
    PLANS = "plans"


@dataclass(frozen=True, slots=True)
class EditedBook:
    """How the files of one book are found and written.

    Attributes:
        store: Parses and writes a file.
        folder: The folder of its files.
        names: The only file names; None for all markdown files that exist in the folder.
        check: Compares the record before and after an edit; raises NoteRefused.
    """

    store: RecordStore[Any]
    folder: Path
    names: frozenset[str] | None = None
    check: Callable[[Any, Any], None] = lambda _before, _after: None


class BookEditor:
    """Edits the files of one agent's books; safe to use from several threads.

    Args:
        folder: ``vault/agents/<name>``.
        books: The books.
    """

    def __init__(self, folder: Path, books: Mapping[EditableBook, EditedBook]) -> None:
        self._folder = folder
        self._books = books

    def text(self, of: EditableBook, name: str) -> str:
        """Return the text of a file as it is now; empty if there is none yet.

        Raises:
            NoteRefused: There is no such file, or it cannot be read.
        """
        path = self._path(of, name)
        try:
            return files.read(path) or ""
        except (OSError, UnicodeDecodeError) as error:
            raise files.unusable(path, error) from error

    def versions(self, of: EditableBook, name: str) -> list[Version]:
        """Return the versions before, the newest first.

        Raises:
            NoteRefused: There is no such file, or a version cannot be read.
        """
        path = self._path(of, name)
        try:
            return Versions(self._folder, of).of(path)
        except (OSError, UnicodeDecodeError) as error:
            raise files.unusable(path, error) from error

    def edit(self, of: EditableBook, name: str, text: str, was: str, now: datetime) -> None:
        """Replace the text of a file, and keep the version before.

        Args:
            was: The text that the person began with.

        Raises:
            NoteRefused: The file has another text meanwhile, the new one cannot be used, or a file
                cannot be written. Nothing was changed.
        """
        path = self._path(of, name)
        book = self._books[of]
        kept = Versions(self._folder, of)
        given = text if "\r\n" in was else text.replace("\r\n", "\n")

        def make(source: str | None, before: Any) -> str:
            if (source or "") != was:
                changed = f"{name} has changed meanwhile"
                raise NoteRefused(changed, "Load the page again, then edit it")
            if before is not None:
                book.check(before, book.store.parsed(path, given, now))
            if source:
                kept.keep(path, source, now)
            return given

        book.store.change(path, make)

    def restore(self, of: EditableBook, name: str, version: str, now: datetime) -> None:
        """Bring back an earlier version; the text of now becomes a version itself.

        Raises:
            NoteRefused: There is no such version, or a file cannot be read or written.
        """
        found = next((each for each in self.versions(of, name) if each.id == version), None)
        if found is None:
            raise NoteRefused(f"{name} has no version {version[:40]!r}", "Load the page again")
        self.edit(of, name, found.text, self.text(of, name), now)

    def _path(self, of: EditableBook, name: str) -> Path:
        book = self._books[of]
        path = book.folder / name
        known = book.names if book.names is not None else {p.name for p in files.pages(book.folder)}
        if name not in known:
            raise NoteRefused(f"There is no file {name[:80]!r} in {of}", "Load the page again")
        return path
