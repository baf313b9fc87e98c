"""Where a fact went: who told it to whom, who knows it now, and which compaction dropped it."""

from __future__ import annotations

import pytest

from keepsake.errors import KeepsakeError
from keepsake.happening import ME, Deed, Manner, Result
from keepsake.tracing.bases import Link
from keepsake.tracing.facts import Way
from keepsake.tracing.following import follow_sentence
from keepsake.tracing.kept import Kept
from keepsake.tracing.standing import Standing
from keepsake.tracing.wording import Wording
from tests.unit.made_archives import Village, standings

SISTER = "My sister Liesbet drowned three winters ago."


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, "Mira", "Oswin", "Bram", "Joss")


def test_a_fact_is_followed_from_a_player_through_talk_and_whispers(village):
    told = village.said("Anneke", SISTER, "Oswin", to=["Mira"])
    village.said(
        "Mira", "Her sister drowned.", to=["Bram"], manner=Manner.WHISPER, rests_on=(told["Mira"],)
    )
    village.said("Bram", "A sister of hers is drowned, Joss.", to=["Joss"])
    village.said("Joss", "Fine weather.", "Oswin")
    fact = village.follow("drowned sister")
    first, second, third = fact.tellings
    assert (first.speaker, first.agent, first.private) == ("Anneke", "", False)
    assert {each.agent: each.way for each in first.hearings} == {
        "Mira": Way.TOLD,
        "Oswin": Way.OVERHEARD,
    }
    assert (second.agent, second.private, second.link) == ("Mira", True, Link.RESTS_ON)
    assert second.rests_on == told["Mira"]
    assert {each.agent: each.way for each in second.hearings} == {
        "Mira": Way.SAID,
        "Bram": Way.WHISPERED,
    }
    assert (third.agent, third.link) == ("Bram", Link.WINDOW)
    paths = {each.agent: [step.agent for step in each.path] for each in fact.knowers}
    assert paths == {
        "Mira": ["Mira"],
        "Oswin": ["Oswin"],
        "Bram": ["Mira", "Mira", "Bram"],
        "Joss": ["Mira", "Mira", "Bram", "Bram", "Joss"],
    }


def test_a_compaction_keeps_a_fact_or_drops_it(village):
    village.said("Anneke", SISTER, to=["Mira", "Oswin"])
    village.compact("Mira", "Anneke's sister Liesbet has drowned.")
    village.compact("Oswin", "Anneke came by.")
    fact = village.follow("Liesbet")
    assert standings(fact) == {
        "Mira": [Standing.WINDOW, Standing.RECENT],
        "Oswin": [Standing.WINDOW, Standing.LOST],
    }
    assert {each.agent: each.spells[-1].compaction for each in fact.knowers} == {
        "Mira": 1,
        "Oswin": 2,
    }


def test_who_knows_a_word_knows_the_sentence_that_it_heard_word_for_word_and_not_another(village):
    village.said("Anneke", "The cider pays for his letters.", to=["Mira"])
    village.said("Bram", "Leave me a drop of cider.", to=["Oswin"])
    village.compact("Mira", "Anneke spoke of cider.")
    village.compact("Oswin", "Bram said: Leave me a drop of cider.")
    found = {each.agent: (each.heard, each.spells[-1]) for each in village.follow("cider").knowers}
    assert found["Mira"][0] == "The cider pays for his letters."
    assert (found["Mira"][1].standing, found["Mira"][1].kept) == (Standing.RECENT, Kept.SHORTER)
    assert found["Oswin"][0] == "Leave me a drop of cider."
    assert (found["Oswin"][1].standing, found["Oswin"][1].kept) == (Standing.RECENT, Kept.VERBATIM)


def test_an_act_that_rests_on_a_fact_without_saying_it_is_what_somebody_did_of_it(village):
    told = village.said("Anneke", SISTER, to=["Mira"])
    rest = (told["Mira"],)
    act = village.remember("Mira", Deed(actor=ME, verb="give", objects=("a cup",)), rests_on=rest)
    (mira,) = village.follow("Liesbet").knowers
    assert mira.acts == (act,)
    assert mira.memories == (told["Mira"],)


def test_what_an_agent_says_of_itself_begins_a_path_and_a_search_of_its_memory_does_not(village):
    village.remember("Oswin", Result(verb="recall", shown="The bell is at sea."))
    village.said("Bram", "The bell is in the well.", "Joss")
    fact = village.follow("bell")
    assert [each.agent for each in fact.knowers] == ["Bram", "Joss"]
    assert [each.agent for each in fact.tellings] == ["Bram"]


def test_a_happening_is_followed_in_any_words(village):
    village.said("Anneke", SISTER, to=["Mira"])
    happening = f"h{village.now:%H%M}"
    fact = village.follow("elephant", happening)
    assert [each.happening for each in fact.tellings] == [happening]
    assert [each.agent for each in fact.knowers] == ["Mira"]


def test_the_words_of_a_memory_that_others_share_come_first_and_the_rarest_of_them(village):
    village.said("Anneke", SISTER, to=["Mira"])
    village.said("Bram", "My sister keeps bees.", "Joss")
    village.said("Bram", "My sister drowned a bee.", "Joss")
    (memory,) = village.archives["Mira"].read(1, 1)
    found = follow_sentence(village.read(), "Mira", memory).words
    assert found[:2] == (("drowned", 1), ("sister", 2))
    assert {count for _, count in found[2:]} == {0}


@pytest.mark.parametrize(
    ("typed", "text", "said"),
    [
        ("drowned", "They are drowning.", True),
        ("bell | drowned sister", "The sister drowned.", True),
        ("bell | drowned sister", "The sister came.", False),
        ("ring", "a string", False),
        ("grey", "a great green bird", False),
        ("hives", "There is one hive.", True),
        ("hat", "I hate the bargain.", False),
        ("hat", "Two hats hang there.", True),
        ("really", "That is all real.", False),
        ("Müller", "die MÜLLERIN", True),
        ("時計", "古い時計です", True),
    ],
)
def test_words_are_found_by_their_beginnings(typed, text, said):
    assert Wording.of(typed).is_said_in(text) is said
    if said:
        lines = f"Nobody.\n{text}\nNobody.".casefold()
        assert [*Wording.of(typed).lines_in(lines)] == [1]


def test_a_fact_without_words_is_refused():
    with pytest.raises(KeepsakeError, match="Give letters or digits"):
        Wording.of(" | ?")


def test_what_is_quoted_is_what_the_agent_still_has(village):
    village.said("Tom", "The plum cordial is sour.", to=("Mira",), manner=Manner.WHISPER)
    village.said("Tom", "Plum cordial at eight.", "Mira")
    village.compact("Mira", "Tom talked of the weather.")
    village.said("Ann", "I poured plum cordial for all.", "Mira")
    (mira,) = village.follow("plum cordial").knowers
    assert [each.has for each in mira.spells] == [
        "The plum cordial is sour.",
        "",
        "I poured plum cordial for all.",
    ]
    village.said("Ann", "Who wants plum cordial?", "Mira")
    village.compact("Mira", "Ann poured plum cordial.")
    village.said("Ann", "The plum cordial is gone.", "Mira")
    village.compact("Mira", "Ann had plum cordial, and it is gone.")
    (mira,) = village.follow("plum cordial").knowers
    assert [each.has for each in mira.spells][2:] == [
        "I poured plum cordial for all.",
        "Ann poured plum cordial.",
        "The plum cordial is gone.",
        "Ann had plum cordial, and it is gone.",
    ]


def test_the_window_moves_on_and_so_does_the_quotation(village):
    for each in ("A lantern at sea.", "The lantern was low.", "No lantern is there."):
        village.said("Tom", each, "Mira")
    village.compact("Mira", "A lantern was at sea.", last=2)
    (mira,) = village.follow("lantern").knowers
    assert [each.has for each in mira.spells] == ["A lantern at sea.", "No lantern is there."]
    assert {each.standing for each in mira.spells} == {Standing.WINDOW}


LANTERN = "It was a lantern in a small boat, held low by somebody who fears the harbour watch."


def test_a_summary_that_says_what_no_memory_of_its_agent_does_is_no_knower_but_knows_too_much(
    village,
):
    said = village.said("Tom", LANTERN, "Mira", to=("Wren",))
    village.said("Tom", "Good evening.", "Bram")
    village.compact("Bram", "Oswin thinks that a lantern was in a small boat, held low.")
    followed = village.follow_memory("Mira", said["Mira"])
    assert {each.agent for each in followed.knowers} == {"Mira"}
    (echo,) = followed.echoes
    assert (echo.agent, echo.standing, echo.compaction) == ("Bram", Standing.RECENT, 1)
    assert "a lantern was in a small boat" in echo.said
    assert [each.agent for each in village.follow("lantern").echoes] == ["Bram"]


def test_words_in_different_sentences_of_a_summary_say_nothing_together(village):
    village.said("Tom", LANTERN, "Mira", to=("Wren",))
    village.said("Tom", "Good evening.", "Bram")
    village.compact("Bram", "The lantern is lit. Two girls were in. The fire is out.")
    assert not village.follow("lantern fire").echoes
    assert [each.agent for each in village.follow("lantern lit").echoes] == ["Bram"]


def test_a_summary_of_what_its_agent_heard_elsewhere_does_not_know_too_much(village):
    said = village.said("Tom", LANTERN, "Mira", to=("Wren",))
    village.said("Ann", "A lantern in a small boat, held low.", "Bram")
    village.compact("Bram", "Oswin thinks that a lantern was in a small boat, held low.")
    assert not village.follow_memory("Mira", said["Mira"]).echoes
    assert not village.follow("lantern").echoes


def test_a_summary_that_names_its_memories_tells_them_in_other_words(village):
    village.said("Tom", LANTERN, "Mira", to=("Wren",))
    heard = village.said("Ann", "There was a light on the water.", "Bram")
    village.compact("Bram", "Ann saw a lantern at sea.", sources=((heard["Bram"],),))
    (echo,) = village.follow("lantern").echoes
    assert (echo.agent, echo.memories) == ("Bram", (heard["Bram"],))
    village.compact("Bram", "Ann saw a lantern at sea.")
    (echo,) = village.follow("lantern").echoes
    assert not echo.memories, "its writer did not say"


BRANDY = "The second barrel isn't pickle. It's brandy, eighteen bottles, under herring."


def test_who_told_it_on_in_other_words_has_not_lost_it(village):
    quiet = {"to": ["Joss"], "manner": Manner.WHISPER}
    told = village.said("Bob", BRANDY, **quiet)
    village.said("Joss", "Fine weather.", to=["Bob"], rests_on=(told["Joss"],))
    village.compact("Joss", "Bob whispered with me.")
    lost = village.follow("brandy").knowers[0].spells[-1]
    assert (lost.standing, lost.kept) == (Standing.LOST, Kept.WHISPERED)
    again = village.said(
        "Joss",
        "Eighteen, under a herring blanket, in the second.",
        to=["Bob"],
        manner=Manner.WHISPER,
        rests_on=(told["Joss"],),
    )
    (joss,) = village.follow("brandy").knowers
    now = joss.spells[-1]
    assert (now.standing, now.kept, now.memory) == (Standing.WINDOW, Kept.SHORTER, again["Joss"])
    assert now.has == "Eighteen, under a herring blanket, in the second."
    assert joss.memories == (told["Joss"],), "the others do not have the word"


def test_a_summary_of_before_may_tell_what_is_said_again(village):
    village.said("Bram", "My oldest hive hums half a tone under the rest.", "Mira")
    village.compact("Mira", "Bram's oldest hive hums half a tone under the rest.")
    said = "They keep one, all winter, low; the oldest hive half a tone below."
    again = village.said("Bram", said, "Mira")
    other = village.said("Bram", "The hive is wet.", "Mira")
    village.compact_on("Mira", "Bram spoke of the winter.")
    for memory, standing in ((again, Standing.LONGTERM), (other, Standing.LOST)):
        fact = village.follow_memory("Mira", memory["Mira"])
        assert standings(fact)["Mira"][-1] is standing


def test_a_telling_says_to_whom_it_was_said(village):
    village.said("Anneke", SISTER, "Oswin", to=["Mira"])
    village.said("Mira", "Liesbet, then.", to=["Anneke"], manner=Manner.WHISPER)
    village.said("Bram", "Liesbet is her name.", "Joss")
    told = village.follow("Liesbet").tellings
    assert [each.to for each in told] == [("Mira",), ("Anneke",), ()]


def test_what_a_search_brought_back_is_in_the_window(village):
    told = village.said("Anneke", SISTER, to=["Mira", "Oswin"])
    village.compact("Mira", "Anneke came by.")
    village.compact("Oswin", "Anneke came by.")
    for name, rests_on in (("Mira", (told["Mira"],)), ("Oswin", ())):
        search = Deed(actor=ME, verb="recall", objects=("Liesbet",))
        act = village.remember(name, search)
        shown = "You recall: My sister Liesbet drowned." if rests_on else "You recall nothing."
        brought = Result(verb="recall", act=act, shown=shown)
        village.remember(name, brought, rests_on=(*rests_on, act))
    fact = village.follow("Liesbet")
    now = {each.agent: each.spells[-1] for each in fact.knowers}
    assert (now["Mira"].standing, now["Oswin"].standing) == (Standing.WINDOW, Standing.LOST)
    assert now["Mira"].has == "You recall: My sister Liesbet drowned."
    fact = village.follow_memory("Mira", told["Mira"])
    now = {each.agent: each.spells[-1].standing for each in fact.knowers}
    assert now == {"Mira": Standing.WINDOW, "Oswin": Standing.LOST}


def test_what_was_told_is_quoted_and_not_who_asked_for_it(village):
    village.said("Anneke", SISTER, to=["Mira"])
    village.said("Bram", "What of Liesbet?", to=["Mira"])
    village.said("Mira", "Liesbet drowned.", to=["Bram"])
    (mira,) = (each for each in village.follow("Liesbet").knowers if each.agent == "Mira")
    assert (mira.spells[-1].has, mira.spells[-1].memory) == (SISTER, 1)
    village.compact("Mira", "Anneke had a sister, Liesbet.")
    (mira,) = (each for each in village.follow("Liesbet").knowers if each.agent == "Mira")
    assert mira.spells[-1].memory == 0


def test_what_was_whispered_does_not_come_from_a_summary(village):
    village.said("Anneke", SISTER, to=["Mira"], manner=Manner.WHISPER)
    village.said("Bob", "The bell is cracked.", to=["Mira"])
    village.compact("Mira", "Bob spoke of a bell.")
    village.said("Mira", "Liesbet drowned, you said.", to=["Anneke"], manner=Manner.WHISPER)
    village.said("Mira", "Your bell is cracked, Bob.", to=["Bob"])
    _, whispered = village.follow("Liesbet").tellings
    assert whispered.link is Link.EARLIER
    _, said = village.follow("bell").tellings
    assert said.link is Link.SUMMARY


def test_no_summary_is_named_that_does_not_have_the_words(village):
    village.said("Anneke", SISTER, to=["Mira"])
    village.compact("Mira", "Anneke came by, and talked of her family.")
    village.said("Mira", "Liesbet drowned.", to=["Bram"])
    _, told = village.follow("Liesbet").tellings
    assert told.link is Link.EARLIER


def test_words_come_from_what_was_told_last_and_to_the_speaker(village):
    village.said("Anneke", "A song of a girl from Stavoren.", to=["Bram"])
    village.said("Anneke", "The girl from Stavoren, Joss.", to=["Joss"])
    village.said("Joss", "One is the girl from Stavoren, which I don't know yet.", to=["Bram"])
    village.said("Mira", "What of Stavoren?", to=["Bram"])
    village.said("Anneke", "Stavoren is far.", "Bram", to=["Mira"])
    village.said("Bram", "The other is the girl from Stavoren.", to=["Anneke"])
    *_, told = village.follow("Stavoren").tellings
    assert (told.link, told.rests_on) == (Link.WINDOW, 2)
