"""What an agent had reason to think of when it acted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keepsake.agent.plans.past_plans import PastPlan
from keepsake.agent.why.why import Why
from keepsake.books.plan import PlanState
from keepsake.happening import ME, Deed, KnownVerb, Manner, Person
from keepsake.tracing.texts import Texts
from keepsake.web.questions.motive import Motive, MotiveKind, motive_of
from tests.unit.made_archives import Village

SECRET = (
    "Thursday is Anneke's birthday, and a concertina lies hidden in the hay. Not a word to her."
)
ASKED = "Bob hums and looks at the hay. Is he planning something for Thursday?"
PUT_OFF = "A man who hums is best asked himself."
CHATTER = ("Good evening.", "The rain stops.", "Who keeps the bees?", "Somebody sweeps the square.")


@pytest.fixture
def village(tmp_path: Path) -> Village:
    made = Village(tmp_path, "Oswin")
    for words in CHATTER * 5:
        made.said("Bram", words, to=["Oswin"])
    made.said("Bob", "Thank you, and good night.", to=["Oswin"], manner=Manner.WHISPER)
    made.said("Bob", SECRET, to=["Oswin"], manner=Manner.WHISPER)
    return made


def motive(
    village: Any, asked: str = ASKED, said: str = PUT_OFF, prompt: str = "", **facts: Any
) -> Motive | None:
    """Return what Oswin had reason to think of when he answered Anneke."""
    archive = village.archives["Oswin"]
    grounded = facts.pop("grounded", False)
    heard = village.said("Anneke", asked, to=["Oswin"])["Oswin"]
    number = village.said("Oswin", said, to=["Anneke"], rests_on=(heard,))["Oswin"]
    cause, act = archive.read(heard, number)
    known = Why(
        agent="Oswin", nth=1, time=act.time, command=act.text, reason="", act=act, cause=cause
    )
    texts = Texts().of(village.folder / "Oswin")
    return motive_of(archive, replace(known, **facts), prompt, texts, grounded=grounded)


def test_what_was_told_in_private_of_what_is_asked_is_the_motive(village: Village) -> None:
    found = motive(village)
    assert found is not None
    assert (found.kind, found.text, found.teller) == (MotiveKind.TOLD, SECRET, "Bob")
    assert found.private
    assert not found.masked
    assert found.line == f"Bob: “{found.part}”"
    assert "Thursday" in found.part
    assert "hay" in found.part


def test_words_of_which_the_prompt_had_none_are_marked(village: Village) -> None:
    number = village.archives["Oswin"].last_number
    found = motive(village, masked=(number,))
    assert found is not None
    assert found.masked
    assert found.note


def test_common_words_and_names_are_no_motive(village: Village) -> None:
    assert motive(village, "Good evening, Oswin. Is Bob here?", "Good evening. He is.") is None
    assert motive(village, "Has somebody seen Bob?", "Bob, you mean? Not tonight.") is None


def test_what_is_told_later_and_what_is_answered_itself_are_no_motive(village: Village) -> None:
    asked: Any = village
    whispered = asked.said("Ida", ASKED, to=["Oswin"], manner=Manner.WHISPER)["Oswin"]
    number = asked.said("Oswin", PUT_OFF, to=["Ida"], rests_on=(whispered,))["Oswin"]
    asked.said("Bob", f"{SECRET} Do you hear?", to=["Oswin"], manner=Manner.WHISPER)
    archive = asked.archives["Oswin"]
    cause, act = archive.read(whispered, number)
    why = Why(agent="Oswin", nth=1, time=act.time, command="", reason="", act=act, cause=cause)
    found = motive_of(archive, why, "", Texts().of(asked.folder / "Oswin"), grounded=False)
    assert found is not None
    assert found.text == SECRET


def test_what_was_only_asked_in_private_is_no_motive(village: Any) -> None:
    asked = "Would you bring a russet apple to my counter in daylight?"
    village.said("Nell", f"The rain stops. {asked}", to=["Oswin"], manner=Manner.WHISPER)
    said = "A russet apple for your counter, in daylight."
    assert motive(village, "Will you bring it?", said) is None


def test_a_promise_and_a_plan_are_motives(village: Any) -> None:
    what = "mend the brass wheel of the tower before noon"
    deed = Deed(
        actor=ME,
        verb=KnownVerb.PROMISE,
        objects=(what,),
        to=(Person("Ida", "ida"),),
        shown=f"promise Ida: {what}",
    )
    village.remember("Oswin", deed)
    found = motive(village, "Is the brass wheel for the tower?", "It is, before noon.")
    assert found is not None
    assert (found.kind, found.line) == (MotiveKind.PROMISED, what)
    plan = PastPlan(3, "at noon: x", PlanState.OPEN, private=True, what="wind up the green parrot")
    asked = "Will the green parrot sing again?"
    found = motive(village, asked, "When it is wound up.", plans=(plan,))
    assert found is not None
    assert (found.kind, found.memory) == (MotiveKind.PLANNED, None)
    assert motive(village, asked, "When it is wound up.", plans=(plan,), plan=plan) is None


def test_a_secret_of_who_it_is_is_a_motive_and_what_everybody_may_know_is_none(
    village: Village,
) -> None:
    prompt = (
        "You are Oswin, who mends every clock of the village. (secret) You stopped the tower "
        "clock by a halfpenny on the pendulum. You like tea.\nNow answer."
    )
    found = motive(village, "Why does the tower clock limp?", "A halfpenny would do it.", prompt)
    assert found is not None
    assert found.kind is MotiveKind.SECRET
    assert found.text == "You stopped the tower clock by a halfpenny on the pendulum."
    tea = motive(village, "Every clock of the village likes tea?", "Tea, yes.", prompt)
    assert tea is None


def test_own_earlier_words_explain_those_that_no_line_of_the_prompt_does(village: Any) -> None:
    asked = village.said("Anneke", "Who starts off at the word herring?", to=["Oswin"])["Oswin"]
    for words in ("Somebody small and wet!", "He is a seal pup."):
        village.said("Oswin", words, to=["Anneke"], rests_on=(asked,))
    wish = "For that small wet somebody to be let stay."
    found = motive(village, "What do you want most?", wish)
    assert found is not None
    assert found.kind is MotiveKind.SAID
    assert found.text == "Somebody small and wet! He is a seal pup."
    assert motive(village, "What do you want most?", wish, grounded=True) is None


def test_what_a_rule_does_has_no_motive(village: Village) -> None:
    assert motive(village, by_rule=True) is None
