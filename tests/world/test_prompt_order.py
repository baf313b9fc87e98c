"""Order, partner and addressee of prompts agree with the archive."""

from __future__ import annotations

from tests.world.prompt_checks import TalkInAnyOrder


class TestAnyOrder(TalkInAnyOrder):
    def test_prompts_of_random_talks_agree_with_the_archive(self):
        found = [*self.turns(40)]
        differing = [problem for each in found for problem in each.differs]
        assert not differing, "\n".join(differing)
