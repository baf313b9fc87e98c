"""The archive: lines are only appended, torn lines are set aside, and no memory is lost."""

from __future__ import annotations

import errno
import json
import os
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keepsake import json_lines
from keepsake.archive import log as archive_module
from keepsake.archive.log import Archive, Syncer
from keepsake.archive.tiers import load_tiers
from keepsake.errors import ArchiveError, ArchiveInUse, ArchiveUnwritable
from keepsake.events.values import CompactReason
from keepsake.memory.integrity import check, tier_problems
from keepsake.memory.types import MemoryContext
from tests.memories import seen
from tests.unit.mind.fake_agent import add, clear, compact, covered


def segment(agent):
    return sorted((agent.folder / "archive").glob("0*.jsonl"))[-1]


@pytest.mark.parametrize("torn", [b'{"type":"mem', b"\x00\x00\x00", b'"half', b"12"])
def test_a_torn_last_line_is_set_aside_and_its_number_reused(agent, torn, logged):
    memory = agent.open()
    add(memory, 3)
    memory.close()
    with segment(agent).open("ab") as file:
        file.write(torn)
    memory = agent.open()
    assert logged.having("WARNING archive Mira: ", "torn")
    assert [p.read_bytes() for p in (agent.folder / "archive").glob("torn-*")] == [torn]
    add(memory, 1)
    assert covered(memory.context()) == [1, 2, 3, 4]
    assert check(memory.archive, memory.context(), memory.summaries).whole
    memory.close()


def test_an_archive_cut_at_any_byte_opens(agent):
    """A kill or a power failure may cut the file at any byte."""
    memory = agent.open()
    add(memory, 4)
    compact(memory, CompactReason.MANUAL)
    add(memory, 5)
    compact(memory, CompactReason.MANUAL)
    memory.close()
    whole = segment(agent).read_bytes()
    for length in range(0, len(whole), 7):
        segment(agent).write_bytes(whole[:length])
        memory = agent.open()
        numbers = covered(memory.context())
        assert numbers == list(range(1, memory.tiers.last_number + 1))
        memory.close()


CANNOT_BE_READ = "the archive line 0000000001.jsonl:3 cannot be read"
NO_NUMBER = "the archive line 0000000001.jsonl:3 has no number"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b'"n":3,', b'"n":#,', CANNOT_BE_READ),
        (b'"n":3,', b"", NO_NUMBER),
        (b'"n":3,', b'"n":"x",', NO_NUMBER),
    ],
)
def test_damage_in_the_middle_is_reported_and_the_archive_opens(agent, old, new, problem):
    memory = agent.open()
    add(memory, 5)
    memory.close()
    path = segment(agent)
    path.write_bytes(path.read_bytes().replace(old, new))
    memory = agent.open()
    report = check(memory.archive, memory.context(), memory.summaries)
    assert problem in report.problems
    assert "memories 3-3 are missing from the archive" in report.problems
    add(memory, 1)
    assert memory.context().window[-1].number == 6
    memory.close()


def test_full_segments_are_continued_in_new_ones_and_read_back(agent, monkeypatch):
    monkeypatch.setattr(archive_module, "SEGMENT_LINES", 5)
    memory = agent.open()
    add(memory, 23)
    for segment in (agent.folder / "archive").glob("0*.jsonl"):
        first = json.loads(segment.read_text().partition("\n")[0])
        assert int(segment.stem) == first["n"], "a segment is named after its first memory"
    assert len(list((agent.folder / "archive").glob("0*.jsonl"))) == 5
    assert [m.number for m in memory.archive.read(4, 17)] == list(range(4, 18))
    assert memory.archive.read(30, 40) == []
    alone = [each.number for n in range(1, 24) for each in memory.archive.read(n, n)]
    assert alone == list(range(1, 24)), "also the last memory of each segment"
    compact(memory, CompactReason.MANUAL)
    for _ in range(9):
        memory.append(seen("Tick."))
    add(memory, 2)
    before = memory.context()
    memory.close()
    memory = agent.open()
    assert memory.context() == before
    assert [m.repeats for m in memory.archive.read(23, 26)] == [1, 9, 1, 1]
    assert check(memory.archive, memory.context(), memory.summaries).whole
    memory.close()


def test_the_same_line_is_one_memory_only_within_minutes_and_in_one_place(agent):
    memory = agent.open()
    line = seen("The ferry is late.", "Tom", "5-1")
    days = [datetime(2026, 5, day, 18, tzinfo=UTC) for day in (1, 2, 7)]
    told = [memory.append(line, time=day, place="The Kettle") for day in days]
    soon = days[-1] + timedelta(minutes=1)
    again = memory.append(line, time=soon, place="The Kettle")
    elsewhere = memory.append(line, time=soon, place="The Quay")
    assert [each.number for each in (*told, again, elsewhere)] == [1, 2, 3, 3, 4]
    kept = [(each.time, each.place, each.repeats) for each in memory.archive.read(1, 4)]
    places = ["The Kettle"] * 3 + ["The Quay"]
    assert kept == [*zip([*days, soon], places, (1, 1, 2, 1), strict=True)]
    memory.close()


@pytest.mark.parametrize("number", [2, 4])
def test_a_memory_takes_the_next_number_and_no_other(agent, number):
    memory = agent.open()
    add(memory, 2)
    (newest,) = memory.archive.read(2, 2)
    with pytest.raises(ValueError, match=f"memory {number} does not follow 2"):
        memory.archive.append(replace(newest, number=number).to_record())
    assert memory.archive.last_number == 2
    memory.close()


def test_a_second_process_is_refused_with_the_cure(agent):
    memory = agent.open()
    with pytest.raises(ArchiveInUse, match="KEEPSAKE_VAULT"):
        agent.open()
    memory.close()
    agent.open().close()


def test_a_full_disk_in_the_middle_of_a_line_loses_nothing(agent, monkeypatch):
    memory = agent.open()
    add(memory, 2)
    real = os.write

    def half_then_full(fd, data):
        if len(data) > 20:
            return real(fd, data[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(archive_module.os, "write", half_then_full)
    with pytest.raises(ArchiveUnwritable, match="Free some disk space"):
        memory.append(seen("This does not fit " + "x" * 3))
    monkeypatch.undo()
    assert memory.tiers.last_number == 2
    add(memory, 1)
    assert covered(memory.context()) == [1, 2, 3]
    memory.close()
    memory = agent.open()
    assert covered(memory.context()) == [1, 2, 3]
    assert check(memory.archive, memory.context(), memory.summaries).whole
    memory.close()


@pytest.mark.parametrize("change", ["an older one", "none", "grown", "moved"])
def test_an_archive_file_changed_during_the_game_loses_no_line(agent, change):
    memory = agent.open()
    add(memory, 3)
    path = segment(agent)
    folder = agent.folder / "archive"
    away = agent.folder / "away"
    whole = path.read_bytes()
    if change == "moved":
        folder.rename(away)
        with pytest.raises(ArchiveError, match="gone"):
            memory.archive.size()
    elif change != "grown":
        path.unlink()
    if change in ("an older one", "grown"):  # the first as after git or a restored backup
        path.write_bytes(whole[:90] if change == "an older one" else whole + b"torn")
    with pytest.raises(ArchiveUnwritable, match="gone" if change == "moved" else "lines are back"):
        add(memory, 1)
    if change == "moved":
        away.rename(folder)
    assert len(list(folder.glob("torn-*"))) == (change in ("an older one", "grown"))
    for _ in range(2):
        add(memory, 1)
        assert check(memory.archive, memory.context(), memory.summaries).whole
        memory.close()
        memory = agent.open()
    assert covered(memory.context()) == [1, 2, 3, 4, 5]
    memory.close()


def test_any_text_can_be_stored(agent):
    memory = agent.open()
    texts = ["naïve ☃ 𝄞", 'quote " backslash \\', "line\u2028two", "tab\tnull\x00", "\ud800 lone"]
    for text in texts:
        memory.append(seen(text))
    memory.close()
    memory = agent.open()
    kept = [m.text for m in memory.context().window]
    assert kept[:4] == texts[:4]
    assert kept[4] == "? lone"
    memory.close()


def test_the_syncer_syncs_archives_and_reports_errors(tmp_path, monkeypatch):
    synced = threading.Event()
    monkeypatch.setattr(json_lines, "_datasync", lambda _: synced.set())
    refused = ArchiveUnwritable("full")
    reported = threading.Event()

    class Full(Archive):
        def sync(self):
            super().sync()
            raise refused

    archive = Full(tmp_path)
    archive.append({"type": "note"})
    syncer = Syncer(0.01, lambda error: reported.set() if error is refused else None)
    syncer.syncs.add(archive.sync)
    assert reported.wait(60)
    assert synced.is_set()
    syncer.syncs.remove(archive.sync)
    syncer.stop()
    with pytest.raises(ArchiveUnwritable):
        archive.close()


def test_opening_reads_only_the_last_segments(agent, monkeypatch):
    """A long archive opens from its last segments alone."""
    monkeypatch.setattr(archive_module, "SEGMENT_LINES", 10)
    memory = agent.open()
    for _ in range(30):
        add(memory, 7)
        compact(memory, CompactReason.MANUAL)
    memory.close()
    for path in sorted((agent.folder / "archive").glob("0*.jsonl"))[:-3]:
        path.unlink()
    archive = Archive(agent.folder / "archive")
    tiers = load_tiers(archive)
    assert (tiers.last_number, len(tiers.view().window)) == (210, 4)
    archive.close()


def test_memories_missing_before_or_between_tiers_are_reported(agent):
    memory = agent.open()
    add(memory, 8)
    context = memory.context()
    lost = MemoryContext(None, None, context.window[2:])
    assert tier_problems(context) == []
    assert tier_problems(lost) == ["the tiers begin at memory 3, not at 1"]
    gap = MemoryContext(None, None, (*context.window[:3], *context.window[4:]))
    assert tier_problems(gap) == ["window ends at memory 3, but window begins at 5"]
    assert check(memory.archive, lost, memory.summaries).problems == tuple(tier_problems(lost))
    memory = clear(agent, memory)
    add(memory, 2)
    assert check(memory.archive, memory.context(), memory.summaries).whole
    memory.close()


@pytest.mark.parametrize("last", [1, 64, 4_096])
@pytest.mark.parametrize("block", [1, 7, 64, 1000, 65_536])
def test_reading_backwards_gives_every_line_for_any_block_size(agent, monkeypatch, block, last):
    monkeypatch.setattr(json_lines, "_BLOCK", block)
    monkeypatch.setattr(json_lines, "_LAST_BLOCK", last)
    monkeypatch.setattr(archive_module, "SEGMENT_LINES", 5)
    memory = agent.open()
    for number in range(1, 18):
        memory.append(seen(f"Thing {number} happened, {'and again ' * number}in the ürban mill."))
    with segment(agent).open("ab") as file:
        file.write(b'{"type":"memory","n":18,"te')  # a line that is being written
    backwards = list(memory.archive.backwards())
    assert [line["n"] for line in backwards] == list(range(17, 0, -1))
    assert backwards[::-1] == [record for _, record in memory.archive.forwards()]
    memory.close()


def test_single_memories_are_read_with_their_repeats(agent, monkeypatch):
    monkeypatch.setattr(archive_module, "SEGMENT_LINES", 5)
    memory = agent.open()
    for number in range(1, 18):
        for _ in range(1 + number % 3):
            memory.append(seen(f"Thing {number} happened."))
    archive = memory.archive
    assert [*archive.read_each([12, 3, 99, 3, 17, 0])] == [3, 12, 17]
    for number in range(19):
        alone = archive.read(number, number)
        assert [*archive.read_each([number]).values()] == alone
        assert [each.repeats for each in alone] == [1 + number % 3] * (1 <= number <= 17)
    memory.close()
