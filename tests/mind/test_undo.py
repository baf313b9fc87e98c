"""Taking compactions back: one more line in the archive, and everything stands as before."""

from __future__ import annotations

import threading
from dataclasses import replace

import frontmatter
import pytest

from game.mind.archive import history
from game.mind.archive.integrity import check
from game.mind.archive.records import Tier
from game.mind.errors import CompactionError, CompactionRunning
from game.mind.memory import CompactReason, Rung
from game.mind.summaries.roundtrip import Rate
from tests.mind.lives import SMALL, Life, covered, live

COUNT, MANUAL, EMERGENCY = CompactReason.COUNT, CompactReason.MANUAL, CompactReason.EMERGENCY


@pytest.fixture
def life(tmp_path):
    return Life(tmp_path / "Mira")


@pytest.fixture
def memory(life):
    memory = life.open()
    yield memory
    memory.close()


def state(memory):
    context = memory.context()
    return context.longterm, context.recent, context.window


def stands_again(memory, before):
    """Whether it is as before, but for what has happened since."""
    longterm, recent, window = state(memory)
    return (longterm, recent, window[: len(before[2])]) == before


def compacted(memory, times):
    """Compact so many times; the states before each."""
    states = []
    for _ in range(times):
        live(memory, 8)
        states.append(state(memory))
        memory.compact(MANUAL)
    return states


def whole(memory):
    return check(memory.archive, memory.context(), memory.summaries).problems == ()


def test_the_last_one_is_taken_back(life, memory):
    (before,) = compacted(memory, 1)
    undone = memory.undo()
    assert state(memory) == before
    assert (undone.number, undone.restored, undone.left) == (1, (1, 4), 0)
    assert undone.tokens_after > undone.tokens_before
    assert "1-4" in undone.detail
    assert not memory.summaries.path(Tier.RECENT).exists()
    assert whole(memory)


def test_again_and_again_back_to_the_first(memory):
    states = compacted(memory, 4)
    for before in reversed(states):
        memory.undo()
        assert stands_again(memory, before)
        assert whole(memory)
    with pytest.raises(CompactionError, match="no compaction to take back"):
        memory.undo()


def test_the_archive_only_grows_and_shows_it(memory):
    compacted(memory, 2)
    lines = sum(1 for _ in memory.archive.forwards())
    position = memory.undo().position
    assert sum(1 for _ in memory.archive.forwards()) == lines + 1
    newest = next(memory.archive.backwards())
    assert (newest["type"], newest["id"]) == ("undo", 2)
    assert str(position).endswith(f":{lines + 1}")


def test_it_survives_restarts(life):
    memory = life.open()
    states = compacted(memory, 3)
    for before in reversed(states):
        memory.undo()
        memory.close()
        memory = life.open()
        assert stands_again(memory, before)
        assert whole(memory)
    live(memory, 1)
    assert covered(memory.context()) == list(range(1, 26))
    memory.close()


def test_what_happened_since_stays(memory):
    compacted(memory, 2)
    live(memory, 5)
    memory.undo()
    assert covered(memory.context()) == list(range(1, 22))
    assert memory.context().window[-1].number == 21


def test_repeats_are_brought_back_with_their_count(life, memory):
    for _ in range(3):
        memory.append("The clock ticks.")
    live(memory, 6)
    before = state(memory)
    memory.compact(MANUAL)
    memory.undo()
    assert state(memory) == before
    assert memory.context().window[0].repeats == 3


def test_a_crash_before_the_files_are_written_is_mended(life):
    memory = life.open()
    states = compacted(memory, 2)
    folder = life.folder / "summaries"
    left = {path: path.read_bytes() for path in folder.glob("*.md")}
    memory.undo()
    memory.close()
    for path, data in left.items():
        path.write_bytes(data)  # as they were when the undoing had its line and nothing else
    memory = life.open()
    assert state(memory) == states[1]
    assert whole(memory)
    memory.close()


def test_an_edit_of_what_was_taken_back_is_set_aside_and_not_adopted(life):
    memory = life.open()
    states = compacted(memory, 2)
    path = life.folder / "summaries" / "recent.md"
    post = frontmatter.load(path)
    post.content = "Written by a person."
    path.write_text(frontmatter.dumps(post))
    memory.undo()
    assert state(memory) == states[1]
    (aside,) = (life.folder / "summaries").glob("recent-edited-*.md")
    assert "Written by a person." in aside.read_text()
    assert whole(memory)
    memory.close()


def test_an_edit_made_before_the_compaction_comes_back(life, memory):
    compacted(memory, 1)
    path = life.folder / "summaries" / "recent.md"
    post = frontmatter.load(path)
    post.content = "I met Tom, who is a baker."
    path.write_text(frontmatter.dumps(post))
    live(memory, 8)
    memory.compact(MANUAL)
    memory.undo()
    assert memory.context().recent.text == "I met Tom, who is a baker."
    assert whole(memory)


def test_after_a_clearing_there_is_nothing_to_take_back_and_it_says_why(life):
    memory = life.open()
    compacted(memory, 1)
    memory.clear()
    with pytest.raises(CompactionError, match="cleared"):
        memory.undo()
    memory.close()
    memory = life.open()
    with pytest.raises(CompactionError, match="cleared"):
        memory.undo()
    assert memory.is_empty()
    (before,) = compacted(memory, 1)
    memory.undo()
    assert state(memory) == before
    memory.close()


def test_not_while_a_compaction_runs(life, memory):
    live(memory, 8)
    life.summarizer.gate = threading.Event()
    worker = threading.Thread(target=memory.compact, args=(MANUAL,))
    worker.start()
    assert life.summarizer.entered.wait(60)
    with pytest.raises(CompactionRunning):
        memory.undo()
    life.summarizer.gate.set()
    worker.join()
    assert memory.undo().number == 1


def test_the_automatic_ones_do_not_make_it_again_at_once(life):
    memory = life.open()
    live(memory, 8)
    assert memory.next_turn() is COUNT
    memory.compact(COUNT)
    memory.undo()
    assert memory.next_turn() is None
    live(memory, 1)
    memory.close()
    memory = life.open()
    assert memory.next_turn() is None, "nor after a restart"
    live(memory, 2)
    assert memory.next_turn() is COUNT, "but once the window has grown as far again"
    assert memory.compact(MANUAL).number == 2
    memory.close()


def test_a_prompt_over_its_budget_does_not_wait_for_that(life, memory):
    live(memory, 8)
    memory.compact(COUNT)
    life.config = replace(SMALL, preserve_memories=2)
    memory.weigh(life.config.budget - 20)
    assert "the next thought compacts" in memory.undo().detail
    assert memory.before_thought() is EMERGENCY


def test_numbers_of_compactions_are_never_given_twice(memory):
    compacted(memory, 2)
    memory.undo()
    memory.undo()
    live(memory, 2)
    assert memory.compact(MANUAL).number == 3
    assert memory.status().compactions == 3
    assert memory.status().last_number == 3


def test_figures_go_back_as_well(memory):
    compacted(memory, 1)
    memory.record_rate(1, Rate(4, 3, 4))
    verdict = memory.status().last_verdict
    compacted(memory, 1)
    assert memory.status().last_rate is None
    memory.undo()
    status = memory.status()
    assert (status.last_number, status.last_verdict, status.last_rate) == (
        1,
        verdict,
        Rate(4, 3, 4),
    )


# -- the history


def test_the_history_has_both_texts_figures_and_what_was_taken_back(memory):
    compacted(memory, 2)
    memory.record_rate(2, Rate(5, 2, 4))
    after = memory.context()
    memory.undo()
    live(memory, 1)
    memory.compact(MANUAL)
    first, second, third = history.compactions(memory.archive)
    assert (first.number, second.number, third.number) == (1, 2, 3)
    assert first.before == history.Texts()
    assert second.after.recent == after.recent
    assert second.after.longterm == after.longterm
    assert second.rate == Rate(5, 2, 4)
    assert second.undone is not None
    assert not second.stands
    assert third.before == first.after
    assert [past.number for past in history.standing(memory.archive)] == [1, 3]
    assert first.covered == (1, 4)
    assert third.covered == (5, 13)
    assert first.steps[0].rung is Rung.MASK
    assert first.tokens_before > first.tokens_after > 0
    segment, line = str(third.position).split(":")
    text = (memory.archive.folder / segment).read_text().splitlines()[int(line) - 1]
    assert '"id":3' in text


def test_a_clearing_shows_in_the_history(memory):
    compacted(memory, 1)
    memory.clear()
    (past,) = history.compactions(memory.archive)
    assert past.cleared
    assert not past.stands


def test_a_line_that_cannot_be_read_does_not_hide_the_others(memory):
    compacted(memory, 1)
    memory.archive.append({"type": "rate", "id": "x"})
    memory.archive.append({"type": "edit", "tier": "none", "t": "never"})
    compacted(memory, 1)
    assert [past.number for past in history.compactions(memory.archive)] == [1, 2]


@pytest.mark.parametrize("end", ["undo", "clear"])
def test_an_edit_of_a_summary_that_goes_is_set_aside_too(life, memory, end):
    compacted(memory, 1)
    path = life.folder / "summaries" / "recent.md"
    post = frontmatter.load(path)
    post.content = "Written by a person."
    path.write_text(frontmatter.dumps(post))
    getattr(memory, end)()
    assert not path.exists()
    (aside,) = (life.folder / "summaries").glob("recent-edited-*.md")
    assert "Written by a person." in aside.read_text()
    assert any("edited meanwhile" in line for line in life.log)
    assert whole(memory)
