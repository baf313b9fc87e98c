"""The newest events of one kind: what was appended is read on, and nothing twice."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from keepsake.events.files import EVENTS, LineWriter, NewestEvents
from keepsake.json_lines import line_of

_DAY = date(2026, 11, 21)


def write(folder: Path, *kinds: str, first: int, limit: int = 10_000) -> None:
    """Append an event of each kind, from a number on."""
    writer = LineWriter(folder, EVENTS, limit)
    for seq, kind in enumerate(kinds, start=first):
        writer.write(line_of({"v": 1, "seq": seq, "kind": kind}), _DAY, seq)
    writer.close()


def numbers(events: NewestEvents) -> list[int]:
    return [int(each["seq"]) for each in events.read_on()]


def test_what_was_appended_is_read_once(tmp_path: Path) -> None:
    events = NewestEvents(tmp_path, "move", 10_000)
    assert numbers(events) == []
    write(tmp_path, "move", "thought", "move", first=1)
    assert numbers(events) == [1, 3]
    assert numbers(events) == []
    write(tmp_path, "thought", "move", first=4)
    assert numbers(events) == [5]


def test_a_line_that_is_being_written_is_read_when_it_has_ended(tmp_path: Path) -> None:
    write(tmp_path, "move", "move", first=1)
    (path,) = tmp_path.glob("*.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    events = NewestEvents(tmp_path, "move", 10_000)
    assert numbers(events) == [1]
    path.write_bytes(whole)
    assert numbers(events) == [2]


def test_a_new_file_is_read_on(tmp_path: Path) -> None:
    events = NewestEvents(tmp_path, "move", 10_000)
    write(tmp_path, "move", first=1, limit=50)
    assert numbers(events) == [1]
    write(tmp_path, "move", "move", "move", first=2, limit=50)
    assert len([*tmp_path.glob("*.jsonl")]) > 1
    assert numbers(events) == [2, 3, 4]


def test_at_first_only_the_newest_part_is_read(tmp_path: Path) -> None:
    write(tmp_path, *["move"] * 40, first=1, limit=400)
    size = len(line_of({"v": 1, "seq": 40, "kind": "move"}))
    events = NewestEvents(tmp_path, "move", size * 15)
    assert 14 <= len(numbers(events)) <= 15
    write(tmp_path, "move", first=41, limit=400)
    assert numbers(events) == [41]


def test_nothing_of_a_file_that_was_rewritten_comes_twice(tmp_path: Path) -> None:
    write(tmp_path, "thought", "move", first=1)
    events = NewestEvents(tmp_path, "move", 10_000)
    assert numbers(events) == [2]
    (path,) = tmp_path.glob("*.jsonl")
    path.write_bytes(line_of({"v": 1, "seq": 2, "kind": "move"}))
    write(tmp_path, "move", first=3)
    assert numbers(events) == [3]
    path.unlink()
    assert numbers(events) == []
