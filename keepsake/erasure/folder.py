"""Deletes a person's words from the files of one agent's folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from keepsake.archive.log import locked
from keepsake.books.people import page_suffix
from keepsake.books.versions import STAMP, VERSIONS
from keepsake.erasure.archives import ArchiveCleaner, memories_of, rewrite
from keepsake.erasure.cleaner import Cleaner
from keepsake.erasure.texts import TextCleaner
from keepsake.erasure.traces import Traces
from keepsake.files import OWN, replace_file
from keepsake.tasks.stated_file import STATED

PLUGGED = "memories"
"""Subfolder of an agent's folder for the files of plugged-in memory systems."""
_ARCHIVE = "archive"
_PEOPLE = "people"
"""The folder whose files are named after a person, with the identity at the end."""
_TITLED = (_PEOPLE, "notes", "forgotten")
"""Folders whose files are named after their subject."""
_JOURNAL = "journal"
_UNTOUCHED = {".lock", "profile.md"}


class PluggedCleaner:
    """Deletes the files of plugged-in memory systems. They have any form, and are rebuilt."""

    name = "plugged memories"

    def __init__(self, folder: Path) -> None:
        self._folder = folder / PLUGGED

    def clean(self, _: Traces) -> None:
        """Delete the folder."""
        if self._folder.exists():
            shutil.rmtree(self._folder)


class PageCleaner:
    """Cleans pages, notes, journals, summaries, pins and promises: all files that people read.

    Args:
        folders: The subfolders whose files it cleans; with ``""`` the files of the folder itself.
    """

    def __init__(self, name: str, folder: Path, folders: Sequence[str]) -> None:
        self.name = name
        self._agent = folder.name
        self._folder = folder
        self._folders = folders

    def clean(self, traces: Traces) -> None:
        """Clean each file, and delete those about the person."""
        texts = TextCleaner(traces, self._agent)
        for path in self._files():
            if _is_about(path, traces):
                path.unlink()
                continue
            if path.suffix == ".jsonl":
                rewrite(path, lambda record, _: texts.cleaned_line(record))
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            if texts.matches(text):
                json = path.suffix == ".json"
                replace_file(path, texts.cleaned_json(text) if json else texts.cleaned_page(text))

    def finds(self, traces: Traces) -> bool:
        """Return whether any file has something of the person."""
        texts = TextCleaner(traces, self._agent)
        return any(
            _is_about(path, traces)
            or texts.matches(path.read_text(encoding="utf-8", errors="replace"))
            for path in self._files()
        )

    def _files(self) -> Iterator[Path]:
        for folder in self._folders:
            paths = (self._folder / folder).rglob("*") if folder else self._folder.glob("*")
            yield from (p for p in paths if p.is_file() and p.name not in _UNTOUCHED)


def _is_about(path: Path, traces: Traces) -> bool:
    folder = path.parent.name
    name = path.stem.partition(STAMP)[0]
    if folder == _PEOPLE and name.endswith(f"-{page_suffix(traces.person.key)}"):
        return True
    titled = folder in _TITLED and traces.named(name.replace("-", " "))
    return titled or traces.person.is_named_by_key(path.name)


class AgentCleaner:
    """Deletes a person's words from one agent's folder; in any thread.

    It locks the archive, as a mind does that has it open. So nothing is appended meanwhile, and a
    mind that is opened too early lets its memories wait until the archive is free.

    Files that are made from the archive come first, because the archive is needed to recognise the
    words in them.

    Args:
        folder: ``vault/agents/<name>``.
        begin: Called before the first file is changed, if any is.
    """

    def __init__(
        self, folder: Path, name: str = "", begin: Callable[[], None] = lambda: None
    ) -> None:
        self.name = name or folder.name
        self._folder = folder
        self._begin = begin

    def clean(self, traces: Traces) -> None:
        """Clean the folder, if it has something of the person.

        Raises:
            ArchiveInUse: A mind has the archive open. Nothing was changed.
            OSError: A file cannot be read or written.
        """
        if not self._folder.is_dir():  # the agent has no memory yet
            return
        with locked(self._folder / _ARCHIVE):
            self._clean(traces)

    def _clean(self, traces: Traces) -> None:
        folder = self._folder
        # What the agent perceived since the traces were collected.
        for memory in memories_of(folder).read():
            if traces.involves(folder.name, memory):
                traces.add(folder.name, memory, self.name)
        others = sorted(
            path.name
            for path in folder.iterdir()
            if path.is_dir()
            and path.name not in (_ARCHIVE, PLUGGED, VERSIONS, _JOURNAL, OWN, *_TITLED)
        )
        pages = [
            PageCleaner("pages and notes", folder, _TITLED),
            PageCleaner("journal", folder, [_JOURNAL]),
            PageCleaner("versions of edited files", folder, [VERSIONS]),
            PageCleaner("summaries, pins and promises", folder, ["", *others]),
        ]
        if not traces.numbers[folder.name] and not any(each.finds(traces) for each in pages):
            return
        self._begin()
        (folder / STATED).unlink(missing_ok=True)  # the agent's next prompts tell it anew
        cleaners: list[Cleaner] = [PluggedCleaner(folder), *pages, ArchiveCleaner(folder)]
        for cleaner in cleaners:
            cleaner.clean(traces)
