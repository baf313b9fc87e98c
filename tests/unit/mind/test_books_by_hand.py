"""Files that people edited badly are used as they are, or reported and left alone, never lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from keepsake.books.journal import Journal
from keepsake.books.kept_lines import Commitment, CommitmentKind, Commitments, Pinned
from keepsake.books.notes import NoteBook
from keepsake.books.people import PeopleBook
from keepsake.errors import NoteRefused
from tests.unit.mind.journals import NOON, write
from tests.unit.mind.memory_log import TOM, MemoryLog

FIRST = "I planted peas by the blue gate."
SECOND = "The beans are up beside the wall."


class Kind(NamedTuple):
    """How one kind of book is opened, written and read."""

    open: Callable[[Path], Any]
    add: Callable[[Any, str], object]
    words: Callable[[Any], Iterable[str]]


def _page(book: PeopleBook, text: str) -> None:
    log = MemoryLog()
    for _ in range(book.through):
        log.does("Eve", "", "waves.")
    book.take([log.says("Tom", TOM, text)])


KINDS = {
    "note": Kind(
        lambda folder: NoteBook(folder / "notes"),
        lambda book, text: book.write("Garden", text, now=NOON),
        lambda book: (note.text for note in book.all()),
    ),
    "journal": Kind(
        lambda folder: Journal(folder / "journal"),
        write,
        lambda book: (entry.text for entry in book.entries()),
    ),
    "page": Kind(
        PeopleBook, _page, lambda book: (line.text for page in book.all() for line in page.lines)
    ),
    "pins": Kind(lambda folder: Pinned(folder / "pinned.md"), Pinned.add, lambda book: book.shown),
    "promises": Kind(
        lambda folder: Commitments(folder / "noticed.md"),
        lambda book, text: book.add(Commitment(CommitmentKind.PROMISE, "Tom", text, 1)),
        lambda book: book.lines(),
    ),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture
def path(kind: Kind, tmp_path: Path) -> Path:
    """The file of a book that contains ``FIRST``."""
    kind.add(kind.open(tmp_path), FIRST)
    (path,) = (each for each in tmp_path.rglob("*.md"))
    return path


def words(kind: Kind, book: Any) -> str:
    return " ".join(kind.words(book))


def test_a_byte_order_mark_and_crlf_are_accepted(kind: Kind, path: Path, tmp_path: Path):
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    book = kind.open(tmp_path)
    assert FIRST in words(kind, book)
    kind.add(book, SECOND)
    assert book.problems in ([], ())
    for again in (book, kind.open(tmp_path)):
        assert FIRST in words(kind, again)
        assert SECOND in words(kind, again)


@pytest.mark.parametrize("blank", ["", " \n\n", "\ufeff"])
def test_an_emptied_file_starts_again(kind: Kind, path: Path, tmp_path: Path, blank: str):
    book = kind.open(tmp_path)
    assert words(kind, book)
    path.write_text(blank)
    assert not words(kind, book)
    kind.add(book, SECOND)
    for again in (book, kind.open(tmp_path)):
        assert SECOND in words(kind, again)
        assert again.problems in ([], ())
    assert SECOND in path.read_text()


@pytest.mark.parametrize("broken", [b"\xff\xfep\x00i\x00n\x00s\x00", b"x" * 5_000_000, None])
def test_an_unreadable_file_is_reported_and_never_overwritten(
    kind: Kind, path: Path, tmp_path: Path, broken: bytes | None
):
    path.unlink()
    if broken:
        path.write_bytes(broken)
    else:
        path.mkdir()
    book = kind.open(tmp_path)
    if not (broken is None and kind in (KINDS["note"], KINDS["journal"], KINDS["page"])):
        (problem,) = book.problems
        assert str(path) in problem
    try:
        kind.add(book, SECOND)
    except NoteRefused:
        assert SECOND not in words(kind, book)
    assert path.is_dir() if broken is None else path.read_bytes() == broken


# -- links


def test_a_book_is_written_through_its_link(kind: Kind, path: Path, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = path.rename(elsewhere / path.name)
    target.chmod(0o600)
    path.symlink_to(os.path.relpath(target, path.parent))
    book = kind.open(tmp_path)
    kind.add(book, SECOND)
    assert path.is_symlink()
    assert SECOND in target.read_text()
    assert target.stat().st_mode & 0o777 == 0o600
    for again in (book, kind.open(tmp_path)):
        assert FIRST in words(kind, again)
        assert SECOND in words(kind, again)
        assert again.problems in ([], ())


def test_a_link_that_leads_to_nothing_is_reported_and_not_overwritten(
    kind: Kind, path: Path, tmp_path: Path
):
    path.unlink()
    path.symlink_to(tmp_path / "unmounted" / path.name)
    book = kind.open(tmp_path)
    (problem,) = book.problems
    assert f"leads to {tmp_path / 'unmounted' / path.name}, which is missing" in problem
    with suppress(NoteRefused):  # some books write another file then
        kind.add(book, SECOND)
    assert path.is_symlink()
    assert not (tmp_path / "unmounted").exists()


def test_a_folder_that_leads_to_nothing_is_refused(kind: Kind, tmp_path: Path):
    (tmp_path / "agent").symlink_to(tmp_path / "unmounted")
    with pytest.raises(NoteRefused, match="which is missing"):
        kind.add(kind.open(tmp_path / "agent"), FIRST)


def test_a_pipe_is_reported_and_blocks_nobody(kind: Kind, path: Path, tmp_path: Path):
    path.unlink()
    os.mkfifo(path)
    book = kind.open(tmp_path)
    if kind not in (KINDS["note"], KINDS["journal"], KINDS["page"]):
        (problem,) = book.problems
        assert "no regular file" in problem
    with suppress(NoteRefused):
        kind.add(book, SECOND)
    assert path.is_fifo()


def test_a_forgotten_note_with_a_relative_link_still_leads_to_its_text(tmp_path: Path):
    (tmp_path / "bees.md").write_text("They swarm in May.\n")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "bees.md").symlink_to("../bees.md")
    book = NoteBook(tmp_path / "notes")
    book.forget("bees")
    (aside,) = (tmp_path / "notes" / "forgotten").iterdir()
    assert aside.read_text() == "They swarm in May.\n"
    assert not (tmp_path / "notes" / "bees.md").is_symlink()
