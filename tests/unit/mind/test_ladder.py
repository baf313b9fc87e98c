"""When the ladder is climbed: marks, switches, savings, and never twice for nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from keepsake.errors import CompactionError
from keepsake.memory.types import CompactReason
from tests.unit.mind.lives import (
    WIDE,
    Life,
    covered,
    fill,
    live,
    talk,
)

COUNT, HIGH, SLEEP = CompactReason.COUNT, CompactReason.HIGH, CompactReason.SLEEP
EMERGENCY = CompactReason.EMERGENCY


@pytest.fixture
def life(tmp_path):
    return Life(tmp_path / "Mira", WIDE)


@pytest.mark.parametrize(
    ("share", "asleep", "reason"),
    [(0.5, False, None), (0.72, False, None), (0.72, True, SLEEP), (0.86, True, HIGH)],
)
def test_the_strongest_trigger_that_holds(life, memory, share, asleep, reason):
    fill(memory, share)
    life.asleep = asleep
    assert memory.next_turn() is reason
    for each in (HIGH, SLEEP):
        life.config = replace(life.config, **{each.value: 9.0})
        assert memory.next_turn() is (SLEEP if reason and each is HIGH else None)
    life.config = replace(life.config, immediate_window=1, recent_window=1)
    assert memory.next_turn() is COUNT
    life.config = replace(life.config, recent_window=10_000)
    assert memory.next_turn() is None


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
