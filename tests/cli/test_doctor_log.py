"""What ``keepsake doctor`` says of the event log's size."""

from pathlib import Path

import pytest

from game.cli.checks.log import event_log
from keepsake.events.log import EventLog
from keepsake.events.types import World
from keepsake.paths import Places, Ports


@pytest.fixture
def here(tmp_path: Path) -> Places:
    return Places(home=tmp_path / "home", vault=tmp_path / "vault", ports=Ports(20000))


def file(here: Places, name: str, size: int) -> None:
    """A file of so many bytes, which takes no room on the disk."""
    here.events.mkdir(parents=True, exist_ok=True)
    with (here.events / name).open("wb") as made:
        made.truncate(size)


def test_before_the_first_start_there_is_none(here: Places):
    (finding,) = event_log(here)
    assert finding.well
    assert "first start" in finding.what


def test_a_small_one_is_well(here: Places):
    log = EventLog(here.events)
    log.emit(World(op="starts"))
    assert log.flush(60)
    log.close()
    (finding,) = event_log(here)
    assert (finding.well, finding.cure) == (True, "")
    assert "in 1 file of" in finding.what


def test_a_large_one_is_named_with_the_days_that_may_go(here: Places):
    gigabyte = 1_000_000_000
    for day in range(1, 10):
        file(here, f"events-2026-05-0{day}-{day:010d}.jsonl.gz", gigabyte)
        file(here, f"prompts-2026-05-0{day}-{day:010d}.jsonl.gz", gigabyte)
    (finding,) = event_log(here)
    assert not finding.well
    assert "18,000.0 MB in 18 files" in finding.what
    assert "from 2026-05-01 on" in finding.what
    last = int(finding.cure.partition("those up to 2026-05-0")[2][0])
    assert 7 <= last <= 8  # to half of the limit, and never the newest day
    assert f"({2_000 * last:,} MB" in finding.cure
    for day in range(1, last + 1):
        for path in here.events.glob(f"*-2026-05-0{day}-*"):
            path.unlink()
    (afterwards,) = event_log(here)
    assert afterwards.well


def test_one_of_a_single_day_is_to_be_moved(here: Places):
    file(here, "events-2026-05-01-0000000001.jsonl.gz", 9_000_000_000)
    file(here, "events-2026-05-01-0000000900.jsonl", 1_000)
    (finding,) = event_log(here)
    assert not finding.well
    assert "all of one day" in finding.cure
