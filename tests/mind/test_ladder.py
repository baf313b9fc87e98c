"""When the ladder is climbed: marks, switches, savings, and never twice for nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest

from keepsake.compaction.config import CompactionConfig
from keepsake.compaction.ladder import Triggers
from keepsake.compaction.planning import least_saving
from keepsake.errors import CompactionError
from keepsake.memory import CompactReason, Load, Outcome
from tests.mind.lives import WIDE, Life, covered, fill, live, talk

COUNT, HIGH, SLEEP = CompactReason.COUNT, CompactReason.HIGH, CompactReason.SLEEP
EMERGENCY = CompactReason.EMERGENCY


@pytest.fixture
def life(tmp_path):
    return Life(tmp_path / "Mira", WIDE)


@pytest.mark.parametrize(
    ("share", "asleep", "reason"),
    [(0.5, False, None), (0.72, False, None), (0.72, True, SLEEP), (0.86, True, HIGH)],
)
def test_the_strongest_trigger_that_holds_and_is_on(life, memory, share, asleep, reason):
    fill(memory, share)
    life.asleep = asleep
    assert memory.next_turn() is reason
    for each in (HIGH, SLEEP):
        life.config = replace(life.config, **{f"on_{each.value}": False})
        assert memory.next_turn() is (SLEEP if reason and each is HIGH else None)
    life.config = replace(life.config, immediate_window=1, recent_window=1)
    assert memory.next_turn() is COUNT
    life.config = replace(life.config, on_count=False)
    assert memory.next_turn() is None


def test_the_emergency_mark_has_its_switch(life, memory):
    life.config = replace(WIDE, on_high=False)
    fill(memory, 0.93)
    assert memory.before_thought() is None
    fill(memory, 0.96)
    assert memory.before_thought() is EMERGENCY
    life.config = replace(WIDE, on_emergency=False)
    assert memory.before_thought() is None


def test_what_has_to_be_saved():
    config = CompactionConfig(context_tokens=4096, reserve_tokens=96, min_saving_tokens=300)
    assert least_saving(config, HIGH, 5000) == 300
    assert least_saving(replace(config, min_saving_tokens=0), HIGH, 9) == 1, "never for nothing"
    # From 0.85 to 0.60 of 4,000 tokens is 1,000: three tenths of what leaves.
    assert least_saving(config, COUNT, 100) == 30
    assert least_saving(config, COUNT, 5000) == 300, "never more than is said"


LEFT = Load(400, 100, 450, 1000)


@pytest.mark.parametrize(
    ("reason", "left", "now", "blocked"),
    [
        (HIGH, LEFT, LEFT, True),
        (HIGH, replace(LEFT, window=200), LEFT, False),
        (COUNT, LEFT, LEFT, False),  # the count goes by no mark
        (HIGH, LEFT, replace(LEFT, overhead=900), True),  # not to be saved
        (HIGH, LEFT, replace(LEFT, window=750), False),
        (HIGH, LEFT, replace(LEFT, overhead=100), False),
        (HIGH, LEFT, replace(LEFT, budget=900), False),
    ],
)
def test_after_one_in_vain_only_something_new_to_save_brings_another(reason, left, now, blocked):
    outside = SimpleNamespace(config=CompactionConfig)
    parts = SimpleNamespace(tiers=None, outside=outside)
    triggers = Triggers(parts, SimpleNamespace(load=lambda: now))
    assert not triggers.blocked()
    triggers.compacted(reason, left)
    assert triggers.blocked() == blocked
    triggers.forget()
    assert not triggers.blocked()


# -- the same in a memory


def test_the_high_mark_starts_one_that_ends_under_the_low_mark(life, memory):
    fill(memory, 0.85)
    assert memory.next_turn() is HIGH
    result = memory.compact(HIGH)
    assert memory.load().share <= WIDE.low
    assert result.tokens_before > result.tokens_after > 0
    assert memory.load().share > 0.4, "down to the low mark, and no further"
    life.asleep = True
    fill(memory, 0.72)
    assert memory.next_turn() is SLEEP, "an agent that sleeps compacts earlier"
    memory.compact(SLEEP)
    assert memory.load().share <= WIDE.low
    assert memory.next_turn() is None
    assert covered(memory.context()) == list(range(1, memory.status().total + 1))


def test_an_emergency_is_seen_before_a_thought_and_logged_as_one(life, memory):
    fill(memory, 0.96)
    assert memory.before_thought() is EMERGENCY
    memory.compact(EMERGENCY)
    assert memory.before_thought() is None
    assert memory.load().share <= WIDE.low
    assert any("Emergency" in line for line in life.log)


def test_what_the_prompt_has_beside_memories_counts(memory):
    fill(memory, 0.5)
    assert memory.next_turn() is None
    memory.weigh(400)
    assert memory.load().overhead == 400
    assert memory.next_turn() is HIGH


def test_nothing_is_done_for_a_saving_that_is_too_small(life, memory):
    life.config = replace(WIDE, min_saving_tokens=900)
    fill(memory, 0.9)
    assert memory.next_turn() is None
    assert memory.before_thought() is None
    fill(memory, 1.01)
    assert memory.before_thought() is EMERGENCY, "a prompt over its budget cannot be sent"


def test_a_load_that_walks_around_the_mark_compacts_seldom(life, memory):
    """The hysteresis: up and down around the high mark, 200 memories long."""
    made = []
    for step in range(200):
        memory.weigh(0 if step % 2 else 120)
        talk(memory, 1)
        if reason := memory.next_turn():
            result = memory.compact(reason)
            made.append((step, result.tokens_before - result.tokens_after))
    # A line costs 21 of the 250 between both marks; the wobble of 120 takes half of that.
    assert 200 * 21 / 250 / 3 < len(made) <= 200 * 21 / 130 + 1
    assert all(saved >= WIDE.min_saving_tokens for _, saved in made)
    gaps = [b - a for (a, _), (b, _) in pairwise(made)]
    assert min(gaps) >= 5


def test_a_load_that_cannot_get_down_does_not_thrash(life, memory):
    """The overhead alone is over the high mark: each compaction is in vain."""
    memory.weigh(880)
    made = 0
    for _ in range(200):
        live(memory, 1)
        if reason := memory.next_turn():
            memory.compact(reason)
            made += 1
    assert 0 < made <= 2 + 200 * 5 / WIDE.min_saving_tokens


def test_one_in_vain_is_the_end_until_there_is_something_to_save(life, memory):
    life.config = replace(WIDE, min_saving_tokens=10)
    memory.weigh(900)
    made = []
    for _ in range(3):
        talk(memory, 2)
        if reason := memory.next_turn():
            made.append(memory.compact(reason).outcome)
    quiet = memory.status().total
    for _ in range(20):
        assert memory.next_turn() is None
    assert memory.status().total == quiet


def test_an_emergency_that_finds_nothing_left_says_what_is_too_large(life, memory):
    memory.weigh(1200)
    live(memory, 1)
    assert memory.before_thought() is EMERGENCY
    memory.compact(EMERGENCY)  # what little there is
    assert memory.before_thought() is EMERGENCY
    with pytest.raises(CompactionError, match="beside memories alone cost 1200") as found:
        memory.compact(EMERGENCY)
    assert "context_tokens" in found.value.cure
    assert memory.status().failures == 0, "no model has failed"


def test_a_prompt_that_never_fits_does_not_call_the_model_at_every_thought(life, memory):
    memory.weigh(1200)
    refused = 0
    for _ in range(60):
        talk(memory, 1, 5)
        assert memory.before_thought() is EMERGENCY
        try:
            memory.compact(EMERGENCY)
        except CompactionError as error:
            refused += 1
            assert "nothing is left to compact" in error.what  # noqa: PT017 - some are made
    made = memory.status().compactions
    assert made + refused == 60
    assert made <= 2 + 60 * 6 / WIDE.min_saving_tokens + 2
    assert life.summarizer.calls <= 4 * made
    assert covered(memory.context()) == list(range(1, 61))


def test_the_agent_may_be_forbidden_to_ask(life, memory):
    life.config = replace(WIDE, on_agent=False)
    live(memory, 9)
    with pytest.raises(CompactionError, match="may not ask"):
        memory.compact(CompactReason.AGENT)
    life.config = WIDE
    assert memory.compact(CompactReason.AGENT).outcome is Outcome.NOTHING


def test_what_was_asked_for_goes_down_to_the_low_mark(memory):
    fill(memory, 0.75)
    assert memory.next_turn() is None
    result = memory.compact(CompactReason.MANUAL)
    assert memory.load().share <= WIDE.low
    assert result.covered is not None


def test_a_full_window_leaves_the_immediate_one_unless_that_is_over_the_high_mark(life, memory):
    life.config = replace(WIDE, immediate_window=10, recent_window=10)
    talk(memory, 21)
    assert memory.next_turn() is COUNT
    memory.compact(COUNT)
    assert len(memory.context().window) == 10
    memory.weigh(700)
    talk(memory, 10)
    memory.compact(COUNT)
    assert 5 <= len(memory.context().window) < 10


def test_by_count_it_does_not_nibble_while_nearly_all_is_going_on(tmp_path):
    life = Life(tmp_path / "Mira", CompactionConfig(immediate_window=5, recent_window=5))
    memory = life.open()
    memory.append("Ada comes in.")
    memory.append('Ada says to you, "Where does my brother Edwin mend nets?"', source="Ada")
    left = []
    for number in range(3, 60):
        memory.append(f"The baker puts {number} loaves on the sill.")
        if reason := memory.next_turn():
            left.append(memory.compact(reason).covered)
    assert left[0] is not None
    assert left[0][0] == 1
    assert all(last - first + 1 >= 3 for first, last in left), left
    memory.close()
