"""The cascade: what is summarised when, what a failure leaves alone, what survives."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import frontmatter
import pytest

from game.mind.archive.integrity import check
from game.mind.archive.records import MemoryKind, Tier
from game.mind.compaction.config import CompactionConfig
from game.mind.errors import CompactionError, CompactionRunning
from game.mind.memory import CompactReason, Outcome
from game.mind.summaries.files import SummaryFolder
from tests.mind.lives import SMALL, Life, covered, live

COUNT, MANUAL = CompactReason.COUNT, CompactReason.MANUAL


@pytest.fixture
def life(tmp_path):
    return Life(tmp_path / "Mira")


@pytest.fixture
def memory(life):
    memory = life.open()
    yield memory
    memory.close()


def live_until_due(memory, limit=1000):
    """Add memories one by one until a compaction is due; returns the memory number."""
    for _ in range(limit):
        if memory.next_turn():
            return memory.status().total
        live(memory, 1)
    raise AssertionError("never due")


def test_default_sizes_compact_at_129_193_257(life):
    life.config = CompactionConfig(min_saving_tokens=0)
    memory = life.open()
    due = []
    for _ in range(3):
        due.append(live_until_due(memory))
        memory.compact(COUNT)
    assert due == [129, 193, 257]
    assert (memory.context().longterm.first, memory.context().longterm.last) == (1, 129)
    assert (memory.context().recent.first, memory.context().recent.last) == (130, 193)
    assert len(memory.context().window) == 64
    memory.close()


def test_first_cycle_makes_only_the_short_term_summary(life, memory):
    live(memory, 8)
    result = memory.compact(COUNT)
    assert result.outcome is Outcome.FIRST
    assert [source.tier for source in life.summarizer.sources] == [Tier.RECENT]
    assert memory.context().longterm is None
    assert (memory.context().recent.first, memory.context().recent.last) == (1, 4)


def test_the_first_memory_is_in_the_first_summary(life, memory):
    live(memory, 8)
    memory.compact(COUNT)
    assert life.summarizer.sources[0].lines[0] == "Thing 1 happened."


def test_waterfall_feeds_the_old_short_term_summary_into_the_long_term_one(life, memory):
    live(memory, 8)
    memory.compact(COUNT)
    old = memory.context().recent.text
    live(memory, 3)
    result = memory.compact(COUNT)
    longterm = next(s for s in life.summarizer.sources if s.tier is Tier.LONGTERM)
    assert result.outcome is Outcome.WATERFALL
    assert longterm.lines == (old,)
    live(memory, 3)
    before = memory.context()
    memory.compact(COUNT)
    longterm = [s for s in life.summarizer.sources if s.tier is Tier.LONGTERM][-1]
    assert longterm.lines == (before.longterm.text, before.recent.text)
    assert covered(memory.context()) == list(range(1, 15))


def test_own_acts_reach_the_summarizer_behind_the_cursor(life, memory):
    memory.append("say good evening", MemoryKind.ACT, reason="he looks cold")
    live(memory, 7)
    memory.compact(COUNT)
    assert life.summarizer.sources[0].lines[0] == "~Mira> say good evening | he looks cold"


@pytest.mark.parametrize("tier", list(Tier))
def test_a_failed_call_changes_nothing_and_backs_off(life, memory, tier):
    live(memory, 8)
    memory.compact(COUNT)
    live(memory, 3)
    before = memory.context()
    life.summarizer.failing = {tier}
    with pytest.raises(CompactionError, match="nobody answers"):
        memory.compact(COUNT)
    assert memory.context() == before
    assert memory.next_turn() is None
    life.clock.advance(31)
    assert memory.next_turn() is COUNT
    with pytest.raises(CompactionError):
        memory.compact(COUNT)
    life.clock.advance(31)
    assert memory.next_turn() is None, "the second wait is longer than the first"
    life.clock.advance(31)
    life.summarizer.failing = set()
    live(memory, 2)
    memory.compact(COUNT)
    assert covered(memory.context()) == list(range(1, 14))
    assert memory.status().failures == 0


def test_after_repeated_failures_the_extractive_summary_steps_in(life, memory):
    life.summarizer.failing = set(Tier)
    live(memory, 8)
    for _ in range(life.config.fallback_after):
        with pytest.raises(CompactionError):
            memory.compact(COUNT)
    result = memory.compact(COUNT)
    assert result.model == "extractive"
    assert "Thing" in memory.context().recent.text


def test_memories_that_arrive_during_a_compaction_are_kept(life, memory):
    life.summarizer.gate = threading.Event()
    live(memory, 8)
    worker = threading.Thread(target=memory.compact, args=(COUNT,))
    worker.start()
    assert life.summarizer.entered.wait(60)
    live(memory, 5)
    assert memory.next_turn() is None
    with pytest.raises(CompactionRunning):
        memory.compact(MANUAL)
    life.summarizer.gate.set()
    worker.join()
    assert covered(memory.context()) == list(range(1, 14))
    assert [m.number for m in memory.context().window] == list(range(5, 14))


def test_a_second_compaction_refused_does_not_count_as_a_failure(life, memory):
    life.summarizer.gate = threading.Event()
    live(memory, 8)
    worker = threading.Thread(target=memory.compact, args=(COUNT,))
    worker.start()
    assert life.summarizer.entered.wait(60)
    with pytest.raises(CompactionRunning):
        memory.compact(MANUAL)
    life.summarizer.gate.set()
    worker.join()
    assert memory.status().failures == 0


def test_the_two_calls_run_side_by_side(life, memory):
    live(memory, 8)
    memory.compact(COUNT)
    live(memory, 3)
    barrier = threading.Barrier(2, timeout=60)
    plain = life.summarizer.summarize
    life.summarizer.summarize = lambda source: (barrier.wait(), plain(source))[1]
    memory.compact(COUNT)


def test_nothing_to_compact_says_so(memory):
    live(memory, 4)
    result = memory.compact(MANUAL)
    assert result.outcome is Outcome.NOTHING
    assert "immediate window of 4" in result.detail


def test_manual_compaction_works_below_the_threshold(memory):
    live(memory, 5)
    assert memory.next_turn() is None
    assert memory.compact(MANUAL).covered == (1, 1)


def test_log_lines(life, memory):
    life.config = CompactionConfig(immediate_window=64, recent_window=64)
    live(memory, 129)
    memory.compact(COUNT)
    live(memory, 64)
    memory.compact(COUNT)
    recent, longterm = memory.context().recent, memory.context().longterm
    assert life.log[0] == (
        "[Memory] Mira: Starting compaction (129 memories, 64 immediate, 65 recent)"
    )
    assert life.log[1].startswith("[Memory] Mira: Short-term summary updated (")
    assert life.log[2:] == [
        "[Memory] Mira: Compaction complete (first summary)",
        "[Memory] Mira: Starting compaction (193 memories, 64 immediate, 64 recent)",
        f"[Memory] Mira: Long-term summary updated ({len(longterm.text)} chars)",
        f"[Memory] Mira: Short-term summary updated ({len(recent.text)} chars)",
        "[Memory] Mira: Compaction complete (waterfall)",
    ]


def test_files_in_the_vault(life, memory):
    live(memory, 8)
    memory.compact(COUNT)
    live(memory, 3)
    memory.compact(COUNT)
    folder = life.folder / "summaries"
    post = frontmatter.load(folder / "recent.md")
    assert post.content == memory.context().recent.text
    assert (post["memory_range_start"], post["memory_range_end"]) == (5, 7)
    assert post["kind"] == "short-term summary"
    assert post["model"] == "scripted"
    assert post["tokens_before"] > post["tokens_after"] > 0
    segment, line = post["archive"].split(":")
    lines = (life.folder / "archive" / segment).read_text().splitlines()
    assert '"type":"compaction"' in lines[int(line) - 1]
    assert frontmatter.load(folder / "longterm.md")["memory_range_end"] == 4


def test_two_summaries_in_one_second_both_stay(life, memory):
    live(memory, 8)
    memory.compact(COUNT)
    live(memory, 3)
    memory.compact(COUNT)
    names = [path.name for path in memory.summaries.stamped()]
    assert names == ["recent-20260501-120000-2.md", "recent-20260501-120000.md"]


def test_restart_finds_everything(life):
    memory = life.open()
    live(memory, 8)
    memory.compact(COUNT)
    live(memory, 3)
    memory.compact(COUNT)
    live(memory, 2)
    before, status = memory.context(), memory.status()
    memory.close()
    memory = life.open()
    assert memory.context() == before
    assert memory.status() == status
    live(memory, 1)
    assert memory.context().window[-1].number == 14
    memory.close()


def test_consecutive_repeats_fold_and_survive_a_restart(life):
    memory = life.open()
    for _ in range(3):
        memory.append("The clock ticks.")
    assert [m.line for m in memory.context().window] == ["The clock ticks. (repeated 3×)"]
    memory.append("It strikes.")
    memory.append("The clock ticks.")
    memory.close()
    memory = life.open()
    assert [m.repeats for m in memory.context().window] == [3, 1, 1]
    assert memory.archive.read(1, 3)[0].repeats == 3
    memory.close()


def test_the_same_act_twice_is_two_memories(memory):
    memory.append("say hello", MemoryKind.ACT)
    memory.append("say hello", MemoryKind.ACT)
    assert memory.status().total == 2


@pytest.mark.parametrize(("immediate", "recent"), [(2, 1), (12, 20), (1, 1)])
def test_changed_sizes_keep_every_memory_in_one_tier(life, memory, immediate, recent):
    live(memory, 8)
    memory.compact(COUNT)
    life.config = replace(SMALL, immediate_window=immediate, recent_window=recent)
    for _ in range(40):
        live(memory, 1)
        if memory.next_turn():
            memory.compact(COUNT)
        assert covered(memory.context()) == list(range(1, memory.status().total + 1))


def test_clear_empties_the_prompt_and_numbers_go_on(life):
    memory = life.open()
    live(memory, 8)
    memory.compact(COUNT)
    memory.clear()
    assert memory.is_empty()
    memory.close()
    memory = life.open()
    assert memory.is_empty()
    live(memory, 8)
    assert covered(memory.context()) == list(range(9, 17))
    memory.compact(COUNT)
    assert covered(memory.context()) == list(range(9, 17))
    assert memory.status().compactions == 2
    assert len(memory.archive.read(1, 100)) == 16
    memory.close()


# -- summaries that people edit


def edit(life, name, body):
    path = life.folder / "summaries" / name
    post = frontmatter.load(path)
    post.content = body
    path.write_text(frontmatter.dumps(post))


def test_an_edited_summary_is_adopted_and_covers_the_same(life):
    memory = life.open()
    live(memory, 8)
    memory.compact(COUNT)
    edit(life, "recent.md", "I met Tom, who is a baker.")
    memory.adopt_edits()
    assert memory.context().recent.text == "I met Tom, who is a baker."
    assert covered(memory.context()) == list(range(1, 9))
    memory.close()
    memory = life.open()
    assert memory.context().recent.text == "I met Tom, who is a baker."
    assert check(memory.archive, memory.context(), memory.summaries).whole
    memory.close()


def test_an_edit_is_what_flows_into_the_long_term_summary(life, memory):
    live(memory, 8)
    memory.compact(COUNT)
    edit(life, "recent.md", "I met Tom, who is a baker.")
    live(memory, 3)
    memory.compact(COUNT)
    longterm = next(s for s in life.summarizer.sources if s.tier is Tier.LONGTERM)
    assert longterm.lines == ("I met Tom, who is a baker.",)


def test_an_edit_made_during_a_compaction_is_set_aside_not_lost(life, memory):
    live(memory, 8)
    memory.compact(COUNT)
    live(memory, 3)
    life.summarizer.gate = threading.Event()
    life.summarizer.entered.clear()
    worker = threading.Thread(target=memory.compact, args=(COUNT,))
    worker.start()
    assert life.summarizer.entered.wait(60)
    edit(life, "recent.md", "Written by a person in the meantime.")
    life.summarizer.gate.set()
    worker.join()
    aside = list((life.folder / "summaries").glob("recent-edited-*.md"))
    assert len(aside) == 1
    assert "Written by a person" in aside[0].read_text()


def test_an_edit_is_not_adopted_into_texts_that_a_compaction_is_replacing(life, memory):
    live(memory, 8)
    memory.compact(COUNT)
    live(memory, 3)
    life.summarizer.gate = threading.Event()
    life.summarizer.entered.clear()
    worker = threading.Thread(target=memory.compact, args=(COUNT,))
    worker.start()
    assert life.summarizer.entered.wait(60)
    edit(life, "recent.md", "Written by a person in the meantime.")
    assert memory.adopt_edits() == []
    life.summarizer.gate.set()
    worker.join()
    (aside,) = (life.folder / "summaries").glob("recent-edited-*.md")
    assert "Written by a person" in aside.read_text()


@pytest.mark.parametrize("garbage", ["", "---\n: [\n---\nhello", "no front matter", b"\xff\xfe"])
def test_a_malformed_summary_file_is_reported_and_left_alone(life, memory, garbage):
    live(memory, 8)
    memory.compact(COUNT)
    path = life.folder / "summaries" / "recent.md"
    data = garbage if isinstance(garbage, bytes) else garbage.encode()
    path.write_bytes(data)
    text = memory.context().recent.text
    assert any("recent.md" in note for note in memory.adopt_edits())
    assert path.read_bytes() == data
    assert memory.context().recent.text == text


def test_lost_files_are_written_again_at_the_next_start(life):
    memory = life.open()
    live(memory, 8)
    memory.compact(COUNT)
    memory.close()
    path = life.folder / "summaries" / "recent.md"
    text = path.read_text()
    path.unlink()
    memory = life.open()
    assert frontmatter.loads(path.read_text()).content == frontmatter.loads(text).content
    memory.close()


def test_a_vault_that_cannot_take_the_summary_loses_only_the_copy(life, memory):
    live(memory, 8)
    (life.folder / "summaries").write_text("a file where the folder should be")
    memory.compact(COUNT)
    assert memory.context().recent is not None
    assert any("could not be written" in line for line in life.log)


def test_a_check_between_a_commit_and_its_files_waits_for_them(tmp_path, monkeypatch):
    life = Life(tmp_path / "Mira")
    memory = life.open()
    live(memory, 8)
    writing, go_on = threading.Event(), threading.Event()
    write = SummaryFolder.write

    def slowly(self, *args, **kwargs):
        writing.set()
        assert go_on.wait(60)
        return write(self, *args, **kwargs)

    monkeypatch.setattr(SummaryFolder, "write", slowly)
    with ThreadPoolExecutor(2) as pool:
        compacted = pool.submit(memory.compact, CompactReason.MANUAL)
        assert writing.wait(60)
        assert memory.context().recent is not None, "it is committed, and its file is not there"
        report = pool.submit(memory.check)
        assert not wait([report], timeout=0.2).done
        go_on.set()
        assert compacted.result(60).number == 1
        assert report.result(60).problems == ()
    memory.close()
