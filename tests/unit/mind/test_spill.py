"""What waits for an archive is kept, and brought there once, wherever a process is killed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.spill import ROOM_BYTES, Spill, not_yet_in

BEGIN = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
WORDS = st.sampled_from(["Rain.", "Rain.", 'Tom says, "é\u2028 {}"', "x" * 300])


def lines_of(words, clock):
    return [
        {"text": text, "kind": "perception", "time": (BEGIN + timedelta(seconds=tick)).isoformat()}
        for text, tick in zip(words, clock, strict=True)
    ]


def bring(folder, spill, agent, most):
    """What an opening does, killed after ``most`` lines; consecutive doubles become repeats."""
    archive = Archive(folder / agent)
    try:
        missing = not_yet_in(archive, spill.of(agent))
        for line in missing[:most]:
            newest = archive.read(max(archive.last_number, 1), max(archive.last_number, 1))
            if newest and newest[0].text == line["text"]:
                last, times = newest[0], newest[0].repeats + 1
                record = {"type": "repeat", "n": last.number, "t": line["time"], "times": times}
                archive.append(record)
            else:
                time = datetime.fromisoformat(line["time"])
                kind = MemoryKind(line["kind"])
                memory = Memory(archive.last_number + 1, time, kind, line["text"])
                archive.append(memory.to_record())
        if most >= len(missing):
            archive.sync()
            spill.done(agent)
    finally:
        archive.close()


def lived(folder, agent):
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
def test_each_line_comes_into_its_archive_once_and_in_order_however_often_it_is_killed(
    said, kills, reserved
):
    clock = range(len(said))
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        spill = Spill(folder / "waiting")
        if reserved:
            spill.reserve()
        for (agent, _), line in zip(said, lines_of([w for _, w in said], clock), strict=True):
            assert spill.keep(agent, line)
        for agent, most in [*kills, ("Mira", 99), ("Joss", 99), ("Mira", 99)]:
            spill = Spill(folder / "waiting")  # as a new process finds it
            bring(folder, spill, agent, most)
        for agent in ("Mira", "Joss"):
            assert lived(folder, agent) == [text for whose, text in said if whose == agent]
        assert Spill(folder / "waiting").waiting() == {}


@given(st.lists(WORDS, min_size=1, max_size=5), st.data())
def test_a_file_cut_at_any_byte_has_every_whole_line_and_is_gone_on_with(words, data):
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "waiting"
        spill, ends = Spill(path), []
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


def test_its_room_is_there_before_the_disk_is_full(tmp_path):
    path = tmp_path / "home" / "waiting"
    spill = Spill(path)
    assert spill.reserve()
    assert path.stat().st_blocks * 512 >= ROOM_BYTES, "allocated, not only promised"
    assert spill.keep("Mira", lines_of(["Rain."], [0])[0])
    assert path.stat().st_size == ROOM_BYTES, "a line needs no more room"
    assert len(Spill(path).of("Mira")) == 1


def test_a_home_that_cannot_be_written_is_told_and_a_changed_line_is_not_brought(tmp_path):
    (tmp_path / "file").touch()
    spill = Spill(tmp_path / "file" / "waiting")
    assert not spill.reserve()
    assert not spill.keep("Mira", lines_of(["Rain."], [0])[0])
    assert spill.waiting() == {}
    spill = Spill(tmp_path / "waiting")
    assert spill.keep("Mira", lines_of(["Rain."], [0])[0])
    spill.path.write_bytes(spill.path.read_bytes().replace(b"Rain", b"Pain"))
    assert Spill(spill.path).of("Mira") == ()
