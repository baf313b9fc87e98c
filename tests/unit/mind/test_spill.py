"""Lines that wait for an archive are kept, and delivered once, wherever a process is killed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.log import Archive
from keepsake.archive.records import MemoryKind
from keepsake.archive.spill import ROOM_BYTES, Spill, not_yet_in
from tests.memories import old_memory

BEGIN = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
WORDS = st.sampled_from(["Rain.", "Rain.", 'Tom says, "é\u2028 {}"', "x" * 300])


def lines_of(words, clock):
    return [
        {"text": text, "kind": "perception", "time": (BEGIN + timedelta(seconds=tick)).isoformat()}
        for text, tick in zip(words, clock, strict=True)
    ]


def deliver(folder, spill, agent, limit):
    """Deliver waiting lines as an opening agent does, killed after ``limit`` lines."""
    archive = Archive(folder / agent)
    try:
        missing = not_yet_in(archive, spill.of(agent))
        for line in missing[:limit]:
            newest = archive.read(max(archive.last_number, 1), max(archive.last_number, 1))
            if newest and newest[0].text == line["text"]:
                last = newest[0]
                times = newest[0].repeats + 1
                record = {"type": "repeat", "n": last.number, "t": line["time"], "times": times}
                archive.append(record)
            else:
                time = datetime.fromisoformat(line["time"])
                kind = MemoryKind(line["kind"])
                memory = old_memory(archive.last_number + 1, time, kind, line["text"])
                archive.append(memory.to_record())
        if limit >= len(missing):
            archive.sync()
            spill.done(agent)
    finally:
        archive.close()


def texts_in(folder, agent):
    archive = Archive(folder / agent)
    try:
        return [m.text for m in archive.read(1, archive.last_number) for _ in range(m.repeats)]
    finally:
        archive.close()


@given(
    st.lists(st.tuples(st.sampled_from(["Mira", "Joss"]), WORDS), max_size=12),
    st.lists(st.tuples(st.sampled_from(["Mira", "Joss"]), st.integers(0, 6)), max_size=6),
    st.booleans(),
)
def test_each_line_reaches_its_archive_once_and_in_order_despite_kills(said, kills, reserved):
    clock = range(len(said))
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        spill = Spill(folder / "waiting")
        if reserved:
            spill.reserve()
        for (agent, _), line in zip(said, lines_of([w for _, w in said], clock), strict=True):
            assert spill.keep(agent, line)
        for agent, limit in [*kills, ("Mira", 99), ("Joss", 99), ("Mira", 99)]:
            spill = Spill(folder / "waiting")  # as in a new process
            deliver(folder, spill, agent, limit)
        for agent in ("Mira", "Joss"):
            assert texts_in(folder, agent) == [text for whose, text in said if whose == agent]
        assert Spill(folder / "waiting").waiting() == {}


@given(st.lists(WORDS, min_size=1, max_size=5), st.data())
def test_a_file_cut_at_any_byte_keeps_its_complete_lines_and_is_continued(words, data):
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "waiting"
        spill = Spill(path)
        ends = []
        lines = lines_of(words, range(len(words)))
        for line in lines:
            assert spill.keep("Mira", line)
            ends.append(path.stat().st_size)
        cut = data.draw(st.integers(0, ends[-1]))
        path.write_bytes(path.read_bytes()[:cut] + b"\0" * data.draw(st.integers(0, 99)))
        whole = [line for line, end in zip(lines, ends, strict=True) if end <= cut]
        again = Spill(path)
        assert list(again.of("Mira")) == whole
        assert again.keep("Mira", lines[0])
        assert list(Spill(path).of("Mira")) == [*whole, lines[0]]


def test_disk_space_is_reserved_in_advance(tmp_path):
    path = tmp_path / "home" / "waiting"
    spill = Spill(path)
    assert spill.reserve()
    assert path.stat().st_blocks * 512 >= ROOM_BYTES, "allocated on the disk, not a sparse file"
    assert spill.keep("Mira", lines_of(["Rain."], [0])[0])
    assert path.stat().st_size == ROOM_BYTES, "a line uses the reserved space"
    assert len(Spill(path).of("Mira")) == 1


def test_an_unwritable_home_is_reported_and_a_changed_line_is_not_delivered(tmp_path):
    (tmp_path / "file").touch()
    spill = Spill(tmp_path / "file" / "waiting")
    assert not spill.reserve()
    assert not spill.keep("Mira", lines_of(["Rain."], [0])[0])
    assert spill.waiting() == {}
    spill = Spill(tmp_path / "waiting")
    assert spill.keep("Mira", lines_of(["Rain."], [0])[0])
    spill.path.write_bytes(spill.path.read_bytes().replace(b"Rain", b"Pain"))
    assert Spill(spill.path).of("Mira") == ()
