"""Words that nobody said lead to the lines near in meaning; one that is chosen is the fact."""

from __future__ import annotations

from typing import Any

from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.recall.service import IndexService
from keepsake.recall.stores import NONE
from tests.world.web_world import WebWorld


def _key(line: dict[str, Any]) -> str:
    """Return a line as an address names it."""
    return f"{line['id']}-{line['n']}"


class TestNear(WebWorld):
    """Tom has said that he sees a surgeon, among other things; the index of words is real."""

    def start_services(self):
        new = super().start_services()
        new.indexes = IndexService(new.places, NONE, MiniLMEmbedder())
        return new

    def setUp(self):
        super().setUp()
        self.ask("There is a shadow on my lung, so I see a surgeon in Brindle.", "> wait")
        self.ask("Bram the postman has something for you.", "> wait")

    def test_a_line_that_is_chosen_counts_and_its_hearers_know_it(self):
        words = "the doctor looks at his lung"
        fact = self.get("/fact", q=words)
        assert not fact["tellings"]
        assert fact["who"]["answer"] == "Nobody said this in these words."
        near = self.get("/fact/near", q=words)
        assert not any(each["likely"] for each in near)
        (lung,) = [each for each in near if "lung" in each["text"]]
        assert (lung["speaker"], lung["to"]) == ("Tom", ["Mira"])
        assert near[0] == lung
        chosen = self.get("/fact", q=words, also=f"{lung['id']}-{lung['n']}")
        assert [each["text"] for each in chosen["tellings"]] == [lung["text"]]
        assert {each["agent"] for each in chosen["who"]["knowing"]} == {"Mira"}
        assert "knows of “the doctor looks at his lung”" in chosen["who"]["answer"]

    def test_lines_near_to_a_chosen_one_are_those_that_share_its_names(self):
        self.ask("In Brindle they cut me open.", "> wait")
        self.ask("The doctor looks at the sea.", "> wait")
        words = "the doctor looks at his lung"
        near = self.get("/fact/near", q=words)
        (lung,) = [each for each in near if "lung" in each["text"]]
        like = [each["text"] for each in self.get("/fact/near", q=words, also=_key(lung))]
        assert like[0] == "In Brindle they cut me open."
        assert lung["text"] not in like
        (cut,) = [
            each
            for each in self.get("/fact/near", q=words, also=_key(lung))
            if each["text"] == like[0]
        ]
        both = self.get("/fact", q=words, also=f"{_key(cut)},{_key(lung)}")
        assert [each["text"] for each in both["tellings"]] == [lung["text"], cut["text"]]
        chosen = {each["text"]: each["chosen"] for each in both["strands"]}
        assert chosen == {lung["text"]: [_key(lung)], cut["text"]: [_key(cut)]}

    def test_the_short_answer_has_the_near_lines(self):
        lines = self.get("/answer", of="who", about="the doctor looks at his lung")["lines"]
        assert lines[0]["text"] == "Nobody said this in these words."
        assert lines[1]["label"] == "Near in meaning"
        assert "shadow on my lung" in lines[1]["text"]

    def test_what_has_no_word_is_refused(self):
        assert "no word" in self.get("/fact/near", 400, q="?!")["error"]
