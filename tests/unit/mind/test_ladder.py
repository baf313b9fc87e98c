"""The compaction ladder: its triggers, its rungs, its marks and its hysteresis."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import pairwise

import pytest

from keepsake.archive.summaries import Summary, Tier
from keepsake.events.values import CompactionOutcome, CompactReason
from keepsake.memory import history
from keepsake.memory.integrity import check
from keepsake.memory.masking import STEP
from keepsake.memory.summary_text import Draft, extractive
from keepsake.memory.types import Rung
from tests.unit.mind.fake_agent import (
    WIDE,
    FakeAgent,
    ManualClock,
    add,
    add_look,
    add_talk,
    compact,
    covered,
    due,
    fill,
)

COUNT = CompactReason.COUNT
HIGH = CompactReason.HIGH
SLEEP = CompactReason.SLEEP
EMERGENCY = CompactReason.EMERGENCY


@pytest.fixture
def agent(tmp_path):
    return FakeAgent(tmp_path / "Mira", WIDE)


def fill_and_compact(memory):
    """Fill the prompt and compact; return the result."""
    fill(memory, 0.9)
    return compact(memory, HIGH)


# -- triggers


@pytest.mark.parametrize(
    ("share", "asleep", "reason"),
    [(0.5, False, None), (0.72, False, None), (0.72, True, SLEEP), (0.86, True, HIGH)],
)
def test_the_strongest_trigger_gives_the_reason(agent, memory, share, asleep, reason):
    fill(memory, share)
    assert due(memory, asleep=asleep) is reason
    for each in (HIGH, SLEEP):
        agent.config = replace(agent.config, **{each.value: 9.0})
        assert due(memory, asleep=asleep) is (SLEEP if reason and each is HIGH else None)
    agent.config = replace(agent.config, immediate_window=1, recent_window=1, count_from=0.5)
    assert due(memory) is COUNT
    agent.config = replace(agent.config, recent_window=10_000)
    assert due(memory) is None


def test_compaction_starts_at_the_high_mark_and_ends_below_the_low_mark(agent, memory):
    fill(memory, 0.85)
    assert due(memory) is HIGH
    result = compact(memory, HIGH)
    assert memory.load().share <= WIDE.low
    assert result.tokens_before > result.tokens_after > 0
    assert memory.load().share > 0.4, "down to the low mark, and no further"


def test_an_agent_that_sleeps_compacts_earlier(agent, memory):
    fill(memory, 0.72)
    assert due(memory) is None
    assert due(memory, asleep=True) is SLEEP
    compact(memory, SLEEP)
    assert memory.load().share <= WIDE.low
    assert due(memory) is None
    assert covered(memory.context()) == list(range(1, memory.tiers.last_number + 1))


def test_a_load_that_oscillates_around_the_high_mark_compacts_seldom(agent, memory):
    """The hysteresis: 200 memories long the load goes up and down around the high mark."""
    made = []
    for step in range(200):
        memory.window.overhead = 0 if step % 2 else 120
        add_talk(memory, 1)
        if reason := due(memory):
            result = compact(memory, reason)
            made.append((step, result.tokens_before - result.tokens_after))
    # A line costs 21 of the 250 tokens between the marks. The oscillation takes 120 of them.
    assert 200 * 21 / 250 / 3 < len(made) <= 200 * 21 / 130 + 1
    assert all(saved >= WIDE.min_saving_tokens for _, saved in made)
    assert min(b - a for (a, _), (b, _) in pairwise(made)) >= 5


# -- rungs


def test_a_long_term_summary_over_its_limit_is_summarised_again(agent, memory):
    plain = agent.summarizer

    def wordy(source):
        draft = plain(source)
        if source.tier is Tier.LONGTERM and not source.limit_tokens:
            longer = ". ".join(" ".join(source.lines).split(".")[:9])
            draft = Draft(f"{longer} {draft.text}", "scripted")
        return draft

    agent.config = replace(WIDE, longterm_tokens=30)
    agent.summarizer = wordy
    kept = []
    for _ in range(3):
        result = fill_and_compact(memory)
        agent.clock.advance(60)
        kept.append(memory.context().longterm)
    assert Rung.RESUMMARISE in [step.rung for step in result.steps]
    assert memory.load().summaries <= 30 + 100
    assert plain.threads == {threading.get_ident()}, "simulations have one thread"
    again = [s for s in plain.sources if s.limit_tokens == 30]
    assert again
    assert all(s.tier is Tier.LONGTERM and len(s.lines) == 1 for s in again)
    bodies = [path.read_text() for path in memory.summaries.folder.glob("longterm-[0-9]*.md")]
    for text in (each.text for each in kept if each):
        assert any(text in body for body in bodies), "every version stays in the vault"


def test_truncation_comes_last_and_leaves_a_sentence(agent, memory):
    def wordy(source):
        told = [f"On day {n} the ferry of old Harrow was late." for n in range(12)]
        return extractive(source) if source.limit_tokens else Draft(" ".join(told), "scripted")

    agent.summarizer = wordy
    for _ in range(2):
        fill_and_compact(memory)
    before = memory.context().longterm
    memory.window.overhead = 930
    result = compact(memory, EMERGENCY)
    context = memory.context()
    assert [step.rung for step in result.steps][-1] is Rung.TRUNCATE
    assert check(memory.archive, context, memory.summaries).whole
    past = history.compactions(memory.archive)[-1]
    assert past.before.longterm.text == before.text, "the archive keeps the text"
    assert past.after.longterm == context.longterm
    for summary in context.summaries:
        assert "ferry of old Harrow" in summary.text
        assert summary.text.endswith("."), "a whole sentence"


# -- archives of earlier versions


def test_an_archive_from_before_the_ladder_opens(agent):
    memory = agent.open()
    add(memory, 8)
    recent = Summary(Tier.RECENT, 1, 4, "I met Tom.", "scripted", ManualClock().now()).to_record()
    older = {"type": "compaction", "id": 1, "t": "2026-05-01T12:00:00+00:00", "longterm": None}
    older |= {"recent": recent, "reason": "count", "total": 8, "kept": 4, "seconds": 0.1}
    memory.archive.append(older)
    memory.close()
    memory = agent.open()
    assert covered(memory.context()) == list(range(1, 9))
    (past,) = history.compactions(memory.archive)
    assert (past.outcome, past.covered) == (CompactionOutcome.FIRST, (1, 4))
    assert check(memory.archive, memory.context(), memory.summaries).whole
    assert "memories 1-4 are in the window" in memory.undo().detail
    memory.close()


def test_old_results_are_shortened_only_when_the_prompt_changes_anyway(agent, memory):
    agent.config = replace(WIDE, context_tokens=1500)
    add_look(memory, "The Kettle")
    before = memory.context().shown
    add_talk(memory, 2 * STEP, words=5)
    assert memory.context().shown[: len(before)] == before, "while there is room, nothing moves"
    fill(memory, 0.85)
    add_look(memory, "The Quay", 20)
    add_talk(memory, 6)
    compact(memory, HIGH)
    (quay,) = (each for each in memory.context().shown if "The Quay." in each.text)
    assert "… (memory" in quay.text
    agent.clock.advance(60)
    add_look(memory, "The Loft", 20)
    add_talk(memory, STEP, words=5)
    again = memory.context().shown
    assert any("chair19" in each.text for each in again)
    memory.close()
    reopened = agent.open()
    assert reopened.context().shown == again, "also after a restart"
    reopened.close()


def test_without_room_old_results_are_shortened_before_lines_are_left_out(agent, memory):
    agent.config = replace(WIDE, preserve_memories=4)
    for place in range(STEP):
        add_look(memory, f"Room {place}", 20)
    whole = memory.window.count(*memory.context().window)
    assert whole > agent.config.budget
    shown = memory.context().shown
    assert memory.load().used < whole
    assert any("… (memory" in each.text for each in shown)


def test_a_prompt_that_is_built_while_a_summary_is_written_begins_as_before(agent, memory):
    """It was masked first, so the prompt changed twice."""
    for place in range(3):
        add_look(memory, f"Room {place}", 20)
    fill(memory, 0.9)
    before = memory.context().shown
    seen_meanwhile = []

    def summarizer(source):
        seen_meanwhile.append(memory.context().shown)
        return Draft("I was in three rooms, and thought of them.", "scripted")

    agent.summarizer = summarizer
    compact(memory, HIGH)
    assert seen_meanwhile == [before]
