"""Files that people and the game both write: no text is lost, and each edit is noticed."""

from __future__ import annotations

import errno
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.books import files as vault_files
from keepsake.books.files import RecordStore
from keepsake.errors import NoteRefused


@pytest.fixture
def store():
    return RecordStore(lambda _path, source, _time: source)


def add(store, path, line):
    store.change(path, lambda before, _: (before or "") + line + "\n")


def test_threads_lose_no_line_of_each_other(tmp_path, monkeypatch, store):
    path = tmp_path / "pinned.md"
    real = vault_files.read

    def slow(which, most):
        text = real(which, most)
        time.sleep(0.001)  # between reading and replacing, so that other threads interfere
        return text

    monkeypatch.setattr(vault_files, "read", slow)
    lines = [f"line {number}" for number in range(60)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda line: add(store, path, line), lines))
    assert sorted(real(path).splitlines()) == sorted(lines)


def test_a_file_saved_by_a_person_meanwhile_is_not_overwritten(tmp_path, store):
    path = tmp_path / "pinned.md"
    add(store, path, "one")
    saved = iter(["by hand\n"])

    def make(before, _):
        for text in saved:
            path.write_text(text)
            os.utime(path)
        return before + "two\n"

    store.change(path, make)
    assert path.read_text() == "by hand\ntwo\n"


WORDS = st.text("ab", min_size=1, max_size=2)
STEPS = st.lists(
    st.tuples(st.sampled_from(["person", "game", "away", "broken", "look"]), WORDS), max_size=12
)


def parse(path, source, changed):
    if source.startswith("#"):
        raise ValueError(f"{path.name} is broken")
    return source


@given(STEPS)
def test_edits_by_people_and_writes_by_the_game_are_all_seen(tmp_path_factory, steps):
    """The game reads the file after each step. Words of one size differ only by the file's time."""
    path = tmp_path_factory.mktemp("records") / "record.md"
    store = RecordStore(parse)
    store.refresh([path])
    good = None  # the last good record
    moment = 1_000_000_000
    for step, word in steps:
        if step == "person":
            path.write_text(word)
            good = word
        elif step == "broken":
            path.write_text(f"#{word}")
        elif step == "away":
            path.unlink(missing_ok=True)
            good = None
        elif step == "game":
            if path.exists() and path.read_text().startswith("#"):
                with pytest.raises(NoteRefused, match="broken"):
                    store.change(path, lambda *_, word=word: word)
            else:
                assert store.change(path, lambda *_, word=word: word) == (good, word)
                good = word
        moment += 1
        if path.exists():
            os.utime(path, ns=(moment, moment))
        assert store.refresh([path]).get(path) == good
        assert bool(store.problems()) == (path.exists() and path.read_text().startswith("#"))


def refuse(error):
    """Return a function that raises the error, in place of one that writes."""

    def refused(*_given):
        raise error

    return refused


@pytest.mark.parametrize(
    ("number", "cure"),
    [(errno.ENOSPC, "Free some disk space"), (errno.EROFS, "Fix the file, its folder or their")],
)
def test_a_file_that_cannot_be_written_is_reported_with_the_cure_of_the_cause(
    store, tmp_path, monkeypatch, number, cure
):
    path = tmp_path / "note.md"
    store.change(path, lambda *_: "A key.")
    monkeypatch.setattr(os, "fsync", refuse(OSError(number, os.strerror(number))))
    with pytest.raises(NoteRefused, match=re.escape(os.strerror(number))) as refused:
        store.change(path, lambda *_: "A lock.")
    assert refused.value.cure.startswith(cure)
    assert [each.name for each in tmp_path.iterdir()] == ["note.md"]
    assert path.read_text() == "A key."


def test_a_file_that_is_no_text_is_reported_with_the_cure_of_the_cause(store, tmp_path):
    path = tmp_path / "note.md"
    path.write_bytes(b"\xff")
    with pytest.raises(NoteRefused) as refused:
        store.change(path, lambda *_: "A lock.")
    assert refused.value.cure.startswith("Save it as UTF-8")
