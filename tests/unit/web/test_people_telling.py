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


def test_a_word_that_was_said_again_tells_before_one_that_was_said_once():
    weights = Weights(["The goat eats.", "My goat is ill.", "An ostentatious, effervescent hat."])
    assert weights.telling("goat") > weights.telling("effervescent, ostentatious")
    assert weights.telling("ostentatious, effervescent") > weights.telling("effervescent")
    assert weights.telling("goat", {"goat"}) == weights.telling("Where is the goat?") == (0, 0)


def test_words_that_say_nothing_in_another_language_tell_nothing():
    weights = Weights(["Dat heb ik niet gezien, en jij ook niet.", "The goat eats.", "My goat."])
    assert weights.of("heb ik niet") == 0 < weights.of("goat")


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


def test_what_is_said_again_and_again_is_not_taken_up():
    chatter = ["The mist lies thick on the salt pans."] * 40
    weights = Weights([*chatter, "I keep a goat.", "My goat is ill.", "Edwin mends nets."])
    assert weights.telling("The mist lies thick on the salt pans.")[0] == 0
    assert weights.telling("Edwin mends nets.") > weights.telling(chatter[0])
    assert weights.telling("goat")[0] > 0


def test_of_a_person_tells_most_what_is_said_of_nobody_else(tmp_path):
    village = Village(tmp_path, "Mira")
    for speaker in ("Bob", "Ida", "Tom", "Bram"):
        village.said(speaker, "Good night, sleep well under the stars.", to=["Mira"])
    village.said("Bob", "Maud builds clocks.", to=["Mira"])
    village.said("Mira", "Clocks, and Maud? What do they say?", to=["Bob"])
    segments = Texts().of(village.folder / "Mira")
    weights = weights_in(segments, "bob", ["Bob"])
    assert weights.telling("Maud builds clocks.") > weights.telling("Sleep well under the stars.")
    assert weights.telling("Maud") == weights_in(segments).telling("Maud")
    assert weights.telling("Stars") < weights_in(segments).telling("Stars")
