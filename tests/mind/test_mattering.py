"""What matters stays, in the short-term and in the long-term summary."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from keepsake.memory.strategy import NARRATIVE
from keepsake.memory.summarizer import ExtractiveSummarizer
from keepsake.memory.types import CompactReason
from tests.mind.lives import REPLACE, STRUCTURED, WIDE, Life, fill, talk

COUNT, HIGH, EMERGENCY = CompactReason.COUNT, CompactReason.HIGH, CompactReason.EMERGENCY
MANUAL, AGENT = CompactReason.MANUAL, CompactReason.AGENT
START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
CONFIG = replace(WIDE, longterm_tokens=200)
CUP = 'Tom says to you, "The cup is yours, keep it."'


@pytest.fixture
def scores():
    """What each memory matters, by number; 2 where nothing is said."""
    return {}


@pytest.fixture
def life(tmp_path, scores):
    life = Life(tmp_path / "Mira", CONFIG)
    life.more = {"importance": lambda memory: scores.get(memory.number, 2)}
    return life


def plain_and_weighty(life, memory, scores, strategy, cycles):
    """Plain words that matter among lines that tell more, and so many compactions."""
    life.summarizer = ExtractiveSummarizer()
    life.strategy = strategy
    talk(memory, 4)
    memory.append(CUP, source="Tom")
    cup = memory.status().total
    for _ in range(cycles):
        fill(memory, 0.88)
        assert memory.compact(HIGH).number
    return cup


def told(memory):
    context = memory.context()
    return " ".join(each.text for each in (context.longterm, context.recent) if each)


@pytest.mark.parametrize("strategy", [NARRATIVE, STRUCTURED, REPLACE])
def test_plain_words_that_matter_outlive_many_compactions(life, memory, scores, strategy):
    scores[5] = 8
    cup = plain_and_weighty(life, memory, scores, strategy, 3)
    assert cup == 5
    assert "The cup is yours" in told(memory)
