"""The memory without summaries: the same interface, the newest memories alone."""

from __future__ import annotations

import pytest

from keepsake.archive.log import Archive
from keepsake.errors import CompactionError
from keepsake.memory.config import CompactionConfig, MemoryHost
from keepsake.memory.sliding import SlidingMemory
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import CompactReason, Outcome
from tests.unit.mind.lives import ManualClock, covered, live


def sliding_memory(folder, clock, size):
    config = CompactionConfig(immediate_window=size)
    host = MemoryHost(clock=clock, config=lambda: config)
    return SlidingMemory(
        "Mira", Archive(folder / "archive"), SummaryFolder(folder / "summaries", "Mira"), host
    )


@pytest.fixture
def open_sliding(tmp_path):
    opened = []

    def open_it(size=5):
        opened.append(sliding_memory(tmp_path, ManualClock(), size))
        return opened[-1]

    yield open_it
    for memory in opened:
        memory.close()


def test_only_the_newest_stand_in_the_prompt_and_all_in_the_archive(open_sliding):
    memory = open_sliding()
    live(memory, 12)
    assert covered(memory.context()) == [8, 9, 10, 11, 12]
    assert len(memory.archive.read(1, 12)) == 12
    assert memory.next_turn() is None
    assert memory.compact(CompactReason.MANUAL).outcome is Outcome.NOTHING
    assert memory.status().next_due is None
    memory.weigh(10_000)
    assert covered(memory.context()) == [9, 10, 11, 12], "it holds no more than there is room for"
    assert memory.load().overhead == 10_000
    assert memory.before_thought() is None
    with pytest.raises(CompactionError, match="makes no summaries"):
        memory.undo()
