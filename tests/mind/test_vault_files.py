"""Files that people and the game both write: nothing that was there is lost."""

from __future__ import annotations

import gc
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from keepsake.records import files as vault_files


def add(path, line):
    return vault_files.change(path, lambda before: (before or "") + line + "\n")


def test_two_threads_lose_no_line_of_each_other(tmp_path, monkeypatch):
    path, real = tmp_path / "pinned.md", vault_files.read

    def slow(which):
        text = real(which)
        time.sleep(0.001)  # between comparing and replacing, where the other one would come in
        return text

    monkeypatch.setattr(vault_files, "read", slow)
    lines = [f"line {number}" for number in range(60)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda line: add(path, line), lines))
    assert sorted(real(path).splitlines()) == sorted(lines)


def test_one_file_has_one_turn_whatever_it_is_called(tmp_path):
    path, inside, gate = tmp_path / "pinned.md", threading.Event(), threading.Event()
    (tmp_path / "link").symlink_to(tmp_path)
    other = tmp_path / "link" / "pinned.md"

    def held(before):
        inside.set()
        assert gate.wait(60)
        return (before or "") + "first\n"

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(vault_files.change, path, held)
        assert inside.wait(60)
        second = pool.submit(add, other, "second")
        add(tmp_path / "another.md", "nobody waits for this one")
        assert not second.done()
        gate.set()
        first.result(60), second.result(60)
    assert path.read_text() == "first\nsecond\n"


def test_a_person_who_saves_meanwhile_is_not_overrun(tmp_path):
    path = tmp_path / "pinned.md"
    add(path, "one")
    saved = iter(["by hand\n"])

    def make(before):
        for text in saved:
            path.write_text(text)
            os.utime(path)
        return before + "two\n"

    assert vault_files.change(path, make) == "by hand\ntwo\n"


def test_a_note_that_is_moved_aside_takes_what_was_being_written(tmp_path):
    path, inside, gate = tmp_path / "garden.md", threading.Event(), threading.Event()

    def held(before):
        inside.set()
        assert gate.wait(60)
        return "peas\n"

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(vault_files.change, path, held)
        assert inside.wait(60)
        moving = pool.submit(vault_files.move_aside, path, tmp_path / "old")
        gate.set()
        writing.result(60)
        assert moving.result(60).read_text() == "peas\n"
    assert not path.exists()


def test_a_failure_leaves_the_turn_to_the_next(tmp_path):
    path = tmp_path / "pinned.md"

    def fails(before):
        raise ZeroDivisionError

    for _ in range(2):
        try:
            vault_files.change(path, fails)
        except ZeroDivisionError:
            continue
        raise AssertionError("it was to fail")
    assert add(path, "one") == "one\n"
    gc.collect()
    assert not vault_files._turns, "nothing is kept of files that nobody changes"
