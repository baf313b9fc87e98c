"""Undo of compactions: one more line in the archive restores the state before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.archive.summaries import Tier
from keepsake.archive.tiers import SummaryState
from keepsake.events.values import CompactReason
from keepsake.memory import history
from keepsake.memory.integrity import check
from keepsake.memory.types import Rung
from tests.memories import seen
from tests.unit.mind.fake_agent import SMALL, add, clear, compact, due
from tests.unit.mind.test_cascade import edit

COUNT = CompactReason.COUNT
MANUAL = CompactReason.MANUAL


def state(memory):
    context = memory.context()
    return context.longterm, context.recent, context.window


def compacted(memory, times):
    """Compact ``times`` times; return the state before each."""
    states = []
    for _ in range(times):
        add(memory, 8)
        states.append(state(memory))
        compact(memory, MANUAL)
    return states


def test_undo_restores_the_last_state_with_one_line_of_the_archive(memory):
    for _ in range(3):
        memory.append(seen("The clock ticks."))
    add(memory, 7)
    before = state(memory)
    compact(memory, MANUAL)
    lines = sum(1 for _ in memory.archive.forwards())
    undone = memory.undo()
    assert state(memory) == before
    assert check(memory.archive, memory.context(), memory.summaries).problems == ()
    assert memory.context().window[0].repeats == 3
    assert (undone.number, undone.left) == (1, 0)
    assert "1-4" in undone.detail
    assert not memory.summaries.path(Tier.RECENT).exists()
    newest = next(memory.archive.backwards())
    assert (newest["type"], newest["id"]) == ("undo", 1)
    assert sum(1 for _ in memory.archive.forwards()) == lines + 1


@pytest.mark.parametrize("times", [2, 1])
def test_an_edit_of_an_undone_summary_is_set_aside_and_not_adopted(agent, memory, times, logged):
    states = compacted(memory, times)
    path = edit(agent, "recent.md", "Written by a person.")
    memory.undo()
    assert path.exists() == (times == 2)
    assert state(memory) == states[-1]
    (aside,) = (agent.folder / "summaries").glob("recent-edited-*.md")
    assert "Written by a person." in aside.read_text()
    assert logged.having("compaction Mira: ", "edited meanwhile")
    assert check(memory.archive, memory.context(), memory.summaries).whole


def test_an_undone_compaction_is_not_repeated_until_somebody_asks_for_one(agent):
    memory = agent.open()
    add(memory, 8)
    assert due(memory) is COUNT
    compact(memory, COUNT)
    memory.undo()
    assert due(memory) is None
    memory.close()
    memory = agent.open()
    assert due(memory) is None, "nor after a restart"
    add(memory, 100)
    assert due(memory) is due(memory, asleep=True) is None, "nor after the window has grown"
    assert memory.next_due() is None
    assert compact(memory, MANUAL).number == 2
    add(memory, 8)
    assert due(memory) is COUNT, "but after somebody has compacted again"
    memory.close()


def test_an_undo_holds_in_a_prompt_over_its_budget_which_shows_the_newest_lines(agent):
    memory = agent.open()
    add(memory, 30)
    compact(memory, MANUAL)
    memory.undo()
    agent.config = replace(SMALL, context_tokens=400, reserve_tokens=100)
    memory.window.overhead = 250
    assert memory.load().used > memory.load().budget
    assert memory.before_thought() is due(memory) is None
    context = memory.context()
    assert [each.number for each in context.window] == list(range(1, 31))
    assert 0 < len(context.shown) < 30
    assert context.shown[-1].number == 30
    memory.close()


@pytest.fixture
def with_history(memory):
    """A memory with three compactions, of which the second is undone."""
    compacted(memory, 1)
    compacted(memory, 1)
    memory.undo()
    add(memory, 1)
    compact(memory, MANUAL)
    return memory


def test_the_history_has_the_texts_before_and_after_each_compaction(memory):
    compacted(memory, 1)
    compacted(memory, 1)
    after = memory.context()
    first, second = history.compactions(memory.archive)
    assert (first.number, second.number) == (1, 2)
    assert first.before == SummaryState()
    assert second.before == first.after
    assert (second.after.recent, second.after.longterm) == (after.recent, after.longterm)


def test_the_history_has_what_a_compaction_covered_and_saved(with_history):
    first, _, third = history.compactions(with_history.archive)
    assert (first.covered, third.covered) == ((1, 4), (5, 13))
    assert first.steps[0].rung is Rung.MASK
    assert first.tokens_before > first.tokens_after > 0


def test_the_history_has_undone_compactions_and_what_can_be_undone(with_history):
    first, second, third = history.compactions(with_history.archive)
    assert second.undone is not None
    assert third.before == first.after
    assert [past.number for past in history.undoable(with_history.archive)] == [1, 3]


def test_unreadable_and_old_lines_hide_no_compaction(memory):
    compacted(memory, 1)
    memory.archive.append({"type": "rate", "id": 1})  # of an earlier version
    memory.archive.append({"type": "edit", "tier": "none", "t": "never"})
    compacted(memory, 1)
    assert [past.number for past in history.compactions(memory.archive)] == [1, 2]


def test_a_cleared_memory_has_no_history(agent, with_history):
    memory = clear(agent, with_history)
    assert history.compactions(memory.archive) == []
