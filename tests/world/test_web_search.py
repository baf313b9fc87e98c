"""The API's search: by exact words as the pages show them, and by filters alone."""

from __future__ import annotations

from tests.world.web_world import WebWorld


class TestSearch(WebWorld):
    """Tom asks Mira, and she answers; Tom whispers to her."""

    def setUp(self):
        super().setUp()
        self.ask("Where is the ladle?", "> say On its hook, Tom.")
        self.replies = ["> wait"]
        self.char1.execute_cmd("whisper Mira = I broke the jug.")
        self.pass_time(1.5)

    def found(self, **query):
        """Return the texts of what is found."""
        hits = self.get("/search", by="words", **query)["hits"]
        return [each["memory"]["text"] for each in hits]

    def test_an_act_is_found_by_the_words_in_which_a_page_shows_it(self):
        assert self.found(q="Mira says to Tom hook") == ["say On its hook, Tom."]
        assert self.found(q="says hook", person="mira") == ["say On its hook, Tom."]
        assert self.found(q="Ada says hook") == []

    def test_a_filter_alone_finds_the_newest(self):
        assert self.found(kind="act", limit=1) == ["say On its hook, Tom."]
        (whispered,) = self.found(private=True)
        assert "I broke the jug." in whispered
        newest, *_ = self.found(person="Tom")
        assert newest == whispered

    def test_exact_words_are_in_all_that_is_found(self):
        hits = self.get("/search", by="words", q="hook")["hits"]
        assert [each["has_words"] for each in hits] == [True]

    def test_nothing_asked_for_is_refused_with_the_cure(self):
        for asked in ({}, {"q": "?!"}, {"q": "?!", "kind": "act"}):
            told = self.get("/search", 400, by="words", **asked)
            assert "Give letters or digits" in str(told)
