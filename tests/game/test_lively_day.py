"""A few hours of a lively day with the embedded model; `make bench` lives the whole of it."""

from __future__ import annotations

from keepsake.memory.config import CompactionConfig
from tests.game.lively_day import LivelyDay

TIGHT = CompactionConfig(context_tokens=1536, reserve_tokens=128)
LINES_OFF = 0.01
"""The share by which a prompt may be larger than its lines, counted one by one (`bench tokens`)."""


class TestLivelyDay(LivelyDay):
    def test_the_prompt_keeps_within_its_budget_and_what_was_told_first_is_in_the_last(self):
        day = self.live(150, thought_every=150, config=TIGHT)
        assert day.problems == []
        assert day.compactions >= 3
        assert day.prompts, "the model answered nothing at all"
        assert max(day.prompts) <= TIGHT.budget * (1 + LINES_OFF)
        assert day.lost == [], day.last_prompt
        # It is in no window any more: what keeps it is out of reach of compaction.
        first = self.mind.memory.memory.context().window[0].number
        assert first > 100
