"""What somebody said that tells most, whoever it was said to."""

from __future__ import annotations

from keepsake.tracing.texts import Texts
from keepsake.web.people.telling import MOST_HEARD, Weights, heard_from, weights_in
from tests.unit.made_archives import Village


def test_a_word_that_few_lines_have_tells_more_and_a_question_nothing():
    weights = Weights(["good evening", "good evening all", "good soup"])
    assert weights.of("Soup.") > weights.of("Evening.") > weights.of("Good.") >= 0
    assert weights.of("Where is Zierikzee?") == 0
    assert weights.of("Soup. Where is Zierikzee?") == weights.of("Soup.")


def test_what_somebody_says_to_others_is_found_once_and_what_tells_most_comes_first(tmp_path):
    village = Village(tmp_path, "Mira", "Wren")
    village.said("Anneke", "Good evening.", "Mira", to=["Wren"])
    village.said("Anneke", "I marry a man called Joris in May.", "Mira", to=["Wren"])
    village.said("Anneke", "Have you met Hendrik of Middelburg?", "Mira", to=["Wren"])
    village.said("Anneke", "Good evening.", to=["Mira"])
    village.said("Bob", "Anneke keeps a goat.", "Mira", to=["Wren"])
    village.said("Anneke", "I keep a goat.", to=["Mira"])
    segments = Texts().of(village.folder / "Mira")
    found = heard_from(segments, "anneke", {6}, weights_in(segments))
    assert [each.words for each in found] == ["I marry a man called Joris in May.", "Good evening."]


def test_only_so_many_are_shown(tmp_path):
    village = Village(tmp_path, "Mira")
    for n in range(MOST_HEARD + 3):
        village.said("Anneke", f"I counted {n} waves.", "Mira")
    segments = Texts().of(village.folder / "Mira")
    assert len(heard_from(segments, "anneke", (), weights_in(segments))) == MOST_HEARD
