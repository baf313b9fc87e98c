"""A model may name later which memories a summary tells; the archive keeps that as a line."""

from __future__ import annotations

import pytest

from keepsake.archive.summaries import Tier
from keepsake.events.values import CompactReason
from keepsake.language.sourced_text import summary_sentences
from keepsake.memory.history import compactions
from keepsake.tracing.past import Past
from tests.unit.mind.fake_agent import FakeAgent, add, compact


@pytest.fixture
def agent(tmp_path):
    return FakeAgent(tmp_path)


def name(memory, number=1):
    """Name memory 2 for the last sentence of the short-term summary; return that sentence."""
    made = next(each for each in compactions(memory.archive) if each.number == number)
    *others, last = summary_sentences(made.after.recent.text)
    memory.note_sources(number, Tier.RECENT, (*((),) * len(others), (2,)))
    return last


def test_it_counts_for_the_summary_now_and_after_a_restart(agent):
    memory = agent.open()
    add(memory, 20)
    compact(memory, CompactReason.MANUAL)
    assert not memory.tiers.state.recent.cited
    last = name(memory)
    assert memory.tiers.state.recent.cited[last] == (2,)
    memory.close()
    assert agent.open().tiers.state.recent.cited[last] == (2,)


def test_it_counts_for_an_old_compaction_and_for_the_memory_as_of_then(agent):
    memory = agent.open()
    for _ in range(2):
        add(memory, 20)
        compact(memory, CompactReason.MANUAL)
    now = memory.tiers.state
    last = name(memory)
    assert memory.tiers.state == now, "another compaction made the summaries of now"
    first, second = compactions(memory.archive)
    assert first.after.recent.cited[last] == second.before.recent.cited[last] == (2,)
    assert not second.after.recent.cited
    past = Past(agent.folder / "archive")
    past.read_on()
    then, now = (change.state.recent.cited for change in past.changes)
    assert (then[last], now) == ((2,), {})


def test_a_summary_that_was_edited_since_is_not_named(agent):
    memory = agent.open()
    add(memory, 20)
    compact(memory, CompactReason.MANUAL)
    memory.edit_summary(Tier.RECENT, "One. Two. Three.", memory.tiers.state.recent.text)
    memory.note_sources(1, Tier.RECENT, ((2,),))
    assert not memory.tiers.state.recent.cited
