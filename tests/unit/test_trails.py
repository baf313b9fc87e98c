"""A sentence is followed by its happening and by what rests on it, not by its words."""

from __future__ import annotations

import pytest

from keepsake.happening import Manner
from keepsake.tracing.bases import Link
from keepsake.tracing.kept import Kept
from keepsake.tracing.standing import Standing
from tests.unit.made_archives import Village, ways

SMALL_TALK = (
    "The tide is late today.",
    "Barley is dear this year.",
    "Nobody mends that rope.",
    "There is soup at noon.",
)


@pytest.fixture
def village(tmp_path):
    """Agents who have spoken of other things before."""
    made = Village(tmp_path, "Mira", "Oswin", "Bram", "Joss")
    for line in SMALL_TALK * 3:
        made.said("Tom", line, "Mira", "Oswin", "Bram", "Joss")
    return made


def texts(fact):
    return [each.text for each in fact.tellings]


PARAPHRASED = {
    "German": (
        "Meine Schwester Liesbet ist vor drei Wintern ertrunken.",
        "Die See hat Liesbet geholt.",
        "Geholt hat sie die See, heißt es.",
    ),
    "English": (
        "The bell of Saint Odo lies in the mud beneath our jetty.",
        "You could dig for Odo, and hear him ring.",
        "They want to dig, and hear a ring.",
    ),
    "Japanese": (
        "桟橋の下に古い鐘がある。",
        "古い鐘を掘り出すそうだ。",
        "何かを掘り出すらしい。",
    ),
}


@pytest.mark.parametrize("language", PARAPHRASED)
def test_what_rests_on_a_sentence_is_told_on_though_no_two_words_are_the_same(village, language):
    said, passed, again = PARAPHRASED[language]
    heard = village.said("Anneke", said, to=["Mira"])
    told = village.said("Mira", passed, to=["Bram"], rests_on=(heard["Mira"],))
    village.said("Bram", again, to=["Joss"], rests_on=(told["Bram"],))
    for name, number in (*heard.items(), *told.items()):
        fact = village.follow_memory(name, number)
        assert texts(fact) == [said, passed, again]
        assert ways(fact) == {
            "Mira": ["Mira"],
            "Bram": ["Mira", "Mira", "Bram"],
            "Joss": ["Mira", "Mira", "Bram", "Bram", "Joss"],
        }
        assert {each.link for each in fact.tellings[1:]} == {Link.RESTS_ON}


def test_the_same_words_of_somebody_who_never_heard_it_are_another_saying(village):
    heard = village.said("Anneke", "A tern that is lost will follow any ship at all.", to=["Mira"])
    village.said("Bram", "Gulls, and one late tern that would follow any ship.", to=["Joss"])
    fact = village.follow_memory("Mira", heard["Mira"])
    assert ways(fact) == {"Mira": ["Mira"]}


def test_what_stood_in_the_prompt_is_told_on_if_the_words_are_rare_enough(village):
    heard = village.said("Anneke", "My aunt keeps seven geese in the attic.", to=["Mira"])
    other = village.said("Anneke", "How is the soup?", to=["Mira"])
    rests_on = (other["Mira"],)
    village.said("Mira", "Seven geese, and in the attic!", to=["Bram"], rests_on=rests_on)
    village.said("Mira", "I had an aunt.", to=["Joss"], rests_on=rests_on)
    fact = village.follow_memory("Mira", heard["Mira"])
    assert texts(fact)[1:] == ["Seven geese, and in the attic!"]
    assert [each.link for each in fact.tellings] == [None, Link.WINDOW]
    assert ways(fact).keys() == {"Mira", "Bram"}


def test_a_number_in_words_is_found_where_it_is_in_digits(village):
    heard = village.said("Anneke", "I owe 17 coppers to Hilda.", to=["Mira"])
    other = village.said("Anneke", "How is the soup?", to=["Mira"])
    rests_on = (other["Mira"],)
    village.said("Mira", "Seventeen, to Hilda.", to=["Bram"], rests_on=rests_on)
    fact = village.follow_memory("Mira", heard["Mira"])
    assert ways(fact).keys() == {"Mira", "Bram"}


def test_an_answer_rests_on_its_question_and_does_not_pass_it_on(village):
    heard = village.said("Anneke", "My aunt keeps seven geese in the attic.", to=["Mira"])
    village.said("Mira", "Is your aunt well?", "Joss", to=["Anneke"], rests_on=(heard["Mira"],))
    fact = village.follow_memory("Mira", heard["Mira"])
    assert ways(fact).keys() == {"Mira"}
    assert len(fact.knowers[0].acts) == 1


def test_who_reports_on_an_errand_does_not_pass_the_errand_on(village):
    line = (
        "Walk up to Ruan in the lamp room and ask what he saw at sea today; carry his answer to "
        "Oswin in the garden, and tell me what Oswin thinks."
    )
    heard = village.said("Anneke", line, to=["Mira"])
    rests_on = (heard["Mira"],)
    village.said("Mira", "Anneke asks what you saw at sea.", to=["Bram"], rests_on=rests_on)
    report = "Ruan saw a collier and a lantern, and Oswin thinks of smugglers in small boats."
    village.said("Mira", report, "Joss", to=["Anneke"], rests_on=rests_on)
    fact = village.follow_memory("Mira", heard["Mira"])
    assert ways(fact).keys() == {"Mira", "Bram"}


def test_a_player_who_was_told_it_passes_it_on(village):
    heard = village.said("Tom", "The first boat goes at four minutes past six.", to=["Bram"])
    told = village.said(
        "Bram", "The boat goes at four minutes past.", to=["Anneke"], rests_on=(heard["Bram"],)
    )
    village.said("Anneke", "The first boat goes at four minutes past six!", to=["Joss"])
    for name, number in (*heard.items(), *told.items()):
        fact = village.follow_memory(name, number)
        assert ways(fact) == {"Bram": ["Bram"], "Joss": ["Bram", "Bram", "Joss"]}
        first, second, third = fact.tellings
        assert (second.came_from, third.came_from) == (first.happening, second.happening)


def test_a_whisper_is_in_the_archive_of_who_heard_it_and_in_no_summary(village):
    heard = village.said(
        "Anneke",
        "My brother Edwin forged it.",
        to=["Mira"],
        manner=Manner.WHISPER,
        seen_by=["Joss"],
    )
    village.compact("Mira", "Anneke spoke of Edwin, her brother, who forged it.")
    fact = village.follow_memory("Mira", heard["Mira"])
    (mira,) = fact.knowers
    assert [(each.standing, each.kept) for each in mira.spells] == [
        (Standing.WINDOW, Kept.VERBATIM),
        (Standing.LOST, Kept.WHISPERED),
    ]


def test_a_summary_has_a_sentence_word_for_word_or_told_shorter_or_not_at_all(village):
    line = "My aunt keeps seven geese in the attic."
    heard = village.said("Anneke", line, to=["Mira", "Oswin", "Bram"])
    village.compact("Mira", f"Anneke said: {line}")
    village.compact("Oswin", "Anneke has an aunt with geese in an attic.")
    village.compact("Bram", "Anneke spoke of her aunt. Geese are loud.")
    fact = village.follow_memory("Mira", heard["Mira"])
    found = {each.agent: (each.spells[-1].standing, each.spells[-1].kept) for each in fact.knowers}
    assert found == {
        "Mira": (Standing.RECENT, Kept.VERBATIM),
        "Oswin": (Standing.RECENT, Kept.LIKELY),
        "Bram": (Standing.LOST, Kept.GONE),
    }


def test_an_agent_that_says_it_again_has_it_from_where_it_had_it_first(village):
    heard = village.said("Anneke", "My aunt keeps seven geese in the attic.", to=["Mira"])
    rests_on = (heard["Mira"],)
    told = village.said("Mira", "Seven geese in an attic!", to=["Bram"], rests_on=rests_on)
    village.said("Mira", "An attic with geese.", to=["Joss"], rests_on=(told["Mira"],))
    fact = village.follow_memory("Joss", village.archives["Joss"].last_number)
    assert ways(fact)["Joss"] == ["Mira", "Mira", "Joss"]
    assert len(fact.tellings) == 3
