"""From which lines of its prompt an act has its words, and which it cannot have from there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from keepsake.agent.why.basis import SummaryBasis
from keepsake.agent.why.why import Why
from keepsake.happening import Manner
from keepsake.tracing.texts import Texts
from keepsake.web.questions.grounded import Grounds
from keepsake.web.questions.grounds import MOST, Ground, elsewhere, grounds_of
from keepsake.web.questions.motive import Motive, MotiveKind
from tests.unit.made_archives import Village

RULES = "Never repeat a line.\nAnswer in one sentence about pianos."
PERSONA = "Your mother's blue cup is gone from its hook."


@pytest.fixture
def village(tmp_path: Path) -> Village:
    made = Village(tmp_path, "Mira", "Bram")
    made.said("Anneke", "I walked eleven kilometres from Zierikzee with my goat.", to=["Mira"])
    made.said("Bram", "The goat eats my apples.", "Mira")
    made.said("Ida", "I tune forty-one pianos.", to=["Bram"])
    made.said("Anneke", "Hello.", to=["Mira"])
    return made


def why(village: Village, words: str, rests_on: tuple[int, ...] = (), **facts: object) -> Why:
    """Return what led to words of Mira's to Anneke, who greeted her."""
    archive = village.archives["Mira"]
    number = village.said("Mira", words, to=["Anneke"], rests_on=rests_on)["Mira"]
    (act,) = archive.read(number, number)
    (cause,) = archive.read(3, 3)
    known = Why(
        agent="Mira", nth=1, time=act.time, command=act.text, reason="", act=act, cause=cause
    )
    return replace(known, window=(1, 3), **facts)


def prompt_of(village: Village, *more: str) -> str:
    """Return a prompt with all that Mira heard."""
    lines = (each.words for each in village.archives["Mira"].read(1, 3))
    return "\n".join((RULES, PERSONA, *lines, *more))


def grounds(village: Village, words: str, prompt: str = "", **facts: object) -> list[object]:
    found, _ = grounds_of(
        village.archives["Mira"], why(village, words, **facts), prompt or prompt_of(village), RULES
    )
    return [each.memory.number if each.memory else each.text for each in found]


def test_the_line_that_has_most_of_an_act_comes_first_and_each_adds_something(village):
    said = "Eleven kilometres from Zierikzee, and my mother's cup gone from the hook."
    assert grounds(village, said) == [1, PERSONA]


def test_a_single_word_is_shared_by_chance_unless_the_act_rests_on_the_line(village):
    assert grounds(village, "Somebody eats well.") == []
    assert grounds(village, "Somebody eats well.", rests_on=(2,)) == [2]


def test_an_act_does_not_rest_on_a_line_for_a_word_that_many_lines_have(village):
    last = village.said("Bram", "Sorry, I'll be back soon.", "Mira")["Mira"]
    more = [f"Sorry, no room {n} is free." for n in range(8)]
    prompt = prompt_of(village, *more, "Sorry, I'll be back soon.")
    words = "It went up safe; I'm sorry I kept the ribbon on."
    act = replace(why(village, words, rests_on=(last,)), window=(1, last))
    assert grounds_of(village.archives["Mira"], act, prompt, RULES)[0] == []


def test_what_the_prompt_did_not_have_is_none_of_its_lines(village):
    assert grounds(village, "Eleven kilometres from Zierikzee.", prompt="Hello.") == []
    assert grounds(village, "Eleven kilometres from Zierikzee.", prompt=" ") == []


def test_what_the_rules_of_a_prompt_say_is_no_ground(village):
    assert grounds(village, "One sentence about pianos.") == []


def test_what_is_answered_is_no_ground_where_the_prompt_asks_for_the_answer(village):
    asked = "Who was Ada, Mira? Nobody finishes the sentence about her."
    number = village.said("Bram", asked, to=["Mira"])["Mira"]
    (cause,) = village.archives["Mira"].read(number, number)
    prompt = prompt_of(village, f"[Bram waits for your answer to: {asked}]")
    act = replace(why(village, "I tell the goat, so the sentence is finished."), cause=cause)
    assert grounds_of(village.archives["Mira"], act, prompt, RULES)[0] == []


def test_a_sentence_of_a_summary_is_a_ground(village):
    told = "Wren rakes salt with her grandmother."
    basis = SummaryBasis("recent", 1, 1, 2, "a model", told, ())
    prompt = prompt_of(village, told)
    found = why(village, "Her grandmother rakes salt.", summaries=(basis,))
    (ground,), _ = grounds_of(village.archives["Mira"], found, prompt)
    assert ground.summary
    assert set(ground.shared) == {"grandmother", "rakes", "salt"}


def test_no_more_lines_are_shown_than_a_screen_has_room_for(village):
    words = [f"copper{n} silver{n}" for n in range(MOST + 2)]
    prompt = prompt_of(village, *(f"The {each} shine." for each in words))
    assert len(grounds(village, " and ".join(words), prompt=prompt)) == MOST


def test_words_that_stand_nowhere_in_the_prompt_are_found_where_they_were_heard_first(village):
    village.said("Bram", "Forty-one pianos!", to=["Ida"])
    act = why(village, "You are the lady with forty-one pianos; how many agree?")
    _, missing = grounds_of(village.archives["Mira"], act, prompt_of(village), RULES)
    assert "pianos" in missing
    texts = {name: Texts().of(village.folder / name) for name in ("Mira", "Bram")}
    found = elsewhere(act, texts, missing)
    assert found is not None
    assert (found.agent, found.memory.words) == ("Bram", "I tune forty-one pianos.")
    assert found.shared == ("forty-one", "pianos")


@pytest.mark.parametrize("words", ["You tune well, lady.", "I bring tulips and herring."])
def test_a_single_word_or_words_that_nobody_heard_are_the_agents_own(village, words):
    act = why(village, words)
    _, missing = grounds_of(village.archives["Mira"], act, prompt_of(village), RULES)
    texts = {name: Texts().of(village.folder / name) for name in ("Mira", "Bram")}
    assert elsewhere(act, texts, missing) is None


def test_what_was_heard_only_later_is_no_source(village):
    act = why(village, "You play the violin in Sluis.")
    village.said("Ida", "I play the violin in Sluis.", to=["Bram"], manner=Manner.WHISPER)
    texts = {"Bram": Texts().of(village.folder / "Bram")}
    assert elsewhere(act, texts, ("play", "violin", "Sluis")) is None


def test_a_single_word_is_found_in_the_one_earlier_line_of_the_agent_that_has_it(village):
    village.said("Mira", "The ribbon stays tied.", to=["Ida"])
    act = why(village, "I am sorry that I kept the ribbon.")
    texts = {name: Texts().of(village.folder / name) for name in ("Bram", "Mira")}
    found = elsewhere(act, texts, ("kept", "ribbon"), "Mira")
    assert found is not None
    assert (found.agent, found.memory.words) == ("Mira", "The ribbon stays tied.")
    assert found.shared == ("ribbon",)
    village.said("Ida", "Another ribbon?", to=["Mira"])
    later = why(village, "I am sorry that I kept the ribbon.")
    texts = {"Mira": Texts().of(village.folder / "Mira")}
    assert elsewhere(later, texts, ("ribbon",), "Mira") is None, "a word that is said often"


def test_a_name_that_nobody_told_an_agent_is_found_where_others_heard_it(village):
    village.said("Ida", "My goat is called Beatrix.", to=["Bram"])
    act = why(village, "Does Beatrix receive visitors?")
    _, missing = grounds_of(village.archives["Mira"], act, prompt_of(village), RULES)
    assert missing[0] == "Beatrix", "names come first"
    texts = {name: Texts().of(village.folder / name) for name in ("Mira", "Bram")}
    found = elsewhere(act, texts, missing, "Mira")
    assert found is not None
    assert (found.agent, found.shared) == ("Bram", ("Beatrix",))


def test_words_that_anybody_says_are_no_ground_though_few_lines_of_the_prompt_have_them(village):
    for _ in range(60):
        village.said("Bram", "Somebody let the door bang.", to=["Mira"])
    texts = Texts().of(village.folder / "Mira")
    prompt = prompt_of(village, "Let somebody in, said the fox.")
    said = why(village, "For somebody small to be let stay.")
    found, _ = grounds_of(village.archives["Mira"], said, prompt, RULES)
    assert [each.text for each in found] == ["Let somebody in, said the fox."]
    assert grounds_of(village.archives["Mira"], said, prompt, RULES, texts)[0] == []
    rare = why(village, "Eleven kilometres from Zierikzee, on foot.")
    found, _ = grounds_of(village.archives["Mira"], rare, prompt, RULES, texts)
    assert [each.memory.number for each in found if each.memory] == [1]


def test_words_that_many_lines_have_are_not_from_one_of_them(village):
    for at in range(40):
        village.said("Ida", f"It makes the house number {at} full.", to=["Bram"])
    village.said("Ida", "A quince weighs as much as a thimble of mercury.", to=["Bram"])
    texts = {name: Texts().of(village.folder / name) for name in ("Mira", "Bram")}
    act = why(village, "That makes five, and your mouth is full.")
    assert elsewhere(act, texts, ["makes", "full"], "Mira") is None
    rare = why(village, "A thimble and a quince.")
    found = elsewhere(rare, texts, ["thimble", "quince"], "Mira")
    assert found is not None
    assert "mercury" in found.memory.words


def test_a_single_word_that_others_said_too_is_an_agents_own(village):
    village.said("Bob", "My wife owns a thimble.", to=["Mira"])
    village.said("Ida", "I sell a thimble.", to=["Bram"])
    texts = {name: Texts().of(village.folder / name) for name in ("Mira", "Bram")}
    assert elsewhere(why(village, "A thimble of soup?"), texts, ["thimble"], "Mira") is None


def test_what_an_agent_keeps_is_no_line_of_its_prompt_besides(village):
    first, second = village.archives["Mira"].read(1, 2)
    lines = [Ground(each.line, each, False, (), known=True) for each in (first, second)]
    kept = Motive(MotiveKind.TOLD, first.words, first)
    assert [each.memory for each in Grounds(lines, motive=kept).shown] == [second]
    assert len(Grounds(lines).shown) == 2
