"""Recall by hand: how what it finds is named, and what becomes of a search that nobody awaits."""

from __future__ import annotations

import re
from concurrent.futures import Future
from unittest.mock import patch

from game.web.api import recalling
from tests.game.test_recall_world import CHATTER, FACTS, RecallWorld
from tests.game.web_world import WebWorld


class _Busy:
    """Threads that never come to what they are given."""

    def __init__(self):
        self.given: list[Future] = []

    def submit(self, *_work):
        self.given.append(Future())
        return self.given[-1]

    def shutdown(self, **_how):
        """There is nothing to end."""


class TestRecallByHand(WebWorld, RecallWorld):
    """A world in which something is found."""

    def test_a_summary_is_named_by_its_compaction_and_its_memories(self):
        self.says(*FACTS, *CHATTER)
        hits = self.get(self.of_mira("/recall"), q="What did Tom say about his brother?", limit=50)
        titles = [hit["title"] for hit in hits["hits"] if hit["kind"] == "summary"]
        assert titles
        for title in titles:
            found = re.fullmatch(r"short-term summary (\d+) \(memories (\d+)-(\d+)\)", title)
            assert found, title
            compaction, first, last = map(int, found.groups())
            made = self.get(self.of_mira("/compactions"))["compactions"]
            after = next(each["after"] for each in made if each["number"] == compaction)
            assert (first, last) in [(each["first"], each["last"]) for each in after]

    def test_a_search_that_comes_too_late_is_not_made_any_more(self):
        self.says(*FACTS)
        busy = _Busy()
        with patch.object(recalling, "PATIENCE", 0.01):
            ready, self.services.searchers = self.services.searchers, busy
            try:
                told = self.get(self.of_mira("/recall"), 503, q="a brass key")
            finally:
                self.services.searchers = ready
        assert "Try again" in told["error"]
        (search,) = busy.given
        assert search.cancelled()
