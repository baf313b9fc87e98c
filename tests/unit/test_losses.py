"""What a compaction lost, word by word."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keepsake.archive.records import MemoryKind, Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.events.values import CompactionOutcome
from keepsake.memory.history import PastCompaction
from keepsake.tracing.losses import Kept, losses
from tests.memories import old_memory

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def made(text):
    summary = Summary(Tier.RECENT, 1, 9, text, "a model", NOON)
    return PastCompaction(
        number=1,
        time=NOON,
        reason="manual",
        outcome=CompactionOutcome.FIRST,
        covered=(1, 9),
        kept=0,
        tokens_before=0,
        tokens_after=0,
        seconds=0.0,
        calls=0,
        prompt_tokens=0,
        completion_tokens=0,
        steps=(),
        before=SummaryState(),
        after=SummaryState(None, summary, 9, 1, NOON),
    )


@pytest.mark.parametrize(
    ("line", "kept", "missing"),
    [
        ('Tom says, "My sister Liesbet drowned."', Kept.WHOLE, ()),
        ('Tom says, "My sister Liesbet drowned in 1962."', Kept.PARTLY, ("1962",)),
        ('Tom says, "The goat ate seven hats."', Kept.GONE, ("goat", "ate", "seven", "hats")),
        ('Tom says, "And so it is."', Kept.WHOLE, ()),
    ],
)
def test_a_memory_is_whole_or_partly_there_or_gone(line, kept, missing):
    memory = old_memory(1, NOON, MemoryKind.PERCEPTION, line, source="Tom")
    (loss,) = losses(made("Liesbet, Tom's sister, has drowned."), [memory])
    assert (loss.kept, loss.missing) == (kept, missing)


def test_the_greatest_loss_comes_first():
    lines = ("Liesbet drowned.", "A sister came in red.", "Seven goats ate.")
    memories = [
        old_memory(n, NOON, MemoryKind.PERCEPTION, line) for n, line in enumerate(lines, start=1)
    ]
    found = losses(made("Liesbet, Tom's sister, has drowned."), memories)
    assert [each.memory.number for each in found] == [3, 2, 1]
