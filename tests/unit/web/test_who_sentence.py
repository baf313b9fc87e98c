"""Who knows a fact, in a sentence."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keepsake.tracing.facts import Way
from keepsake.tracing.standing import Hold
from keepsake.web.fact_shapes import FactView, OutsiderView, StrandView, TellingView
from keepsake.web.pasts.sentence import sentence
from keepsake.web.pasts.who_shapes import FirstTellingView, KnowingView, PersonOfFact

THEN = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
AGENTS = {1: "Mira", 2: "Joss"}
MIRA = KnowingView(
    id=1,
    agent="Mira",
    n=4,
    time=THEN,
    way=Way.TOLD,
    source="Tom",
    heard="She hears nothing on the left.",
    private="",
    happening="a",
    doubtful=False,
    hold=Hold.WINDOW,
    now="has it word for word in its prompts",
)
TOLD = TellingView(
    happening="a",
    time=THEN,
    place="",
    speaker="Tom",
    id=None,
    to=("Mira",),
    manner="say",
    text="She hears nothing on the left.",
    private="",
    hearings=(),
    rests_on=0,
    link=None,
    came_from="",
)


def strand(*, written):
    return StrandView(
        id=1,
        n=4,
        time=THEN,
        speaker="Tom",
        to=("Mira",),
        text="She hears nothing on the left.",
        private="",
        happenings=("a",),
        knowers=(),
        tellings=1,
        likely=True,
        refused=False,
        written=written,
    )


def told(*, written, chosen=False, tellings=(TOLD,)):
    fact = FactView(
        words="deaf on one side",
        memory=None,
        suggested=(),
        complete=True,
        tellings=tellings,
        knowers=(),
        outsiders=(),
        noted=(),
        echoes=(),
        strands=(strand(written=written),),
    )
    return sentence(fact, AGENTS, (MIRA,), (), chosen=chosen)


def test_words_that_stand_in_a_sentence_one_by_one_may_mean_something_else():
    assert told(written=False) == "Mira has heard a sentence with the words “deaf on one side”."


@pytest.mark.parametrize(("written", "chosen"), [(True, False), (False, True)])
def test_what_has_the_words_as_typed_or_was_chosen_is_sure(written, chosen):
    assert told(written=written, chosen=chosen) == "Mira knows of “deaf on one side”."


def test_of_what_nobody_said_no_number_is_told():
    assert told(written=False, tellings=()) == "Nobody said this in these words."


def knower(number, name, **changed):
    return MIRA.model_copy(update={"id": number, "agent": name, **changed})


def player(name, way):
    return OutsiderView(
        key=name,
        name=name,
        way=way,
        source="" if way is Way.SAID else "Tom",
        time=THEN,
        happening="a",
        private="",
    )


def answer(knowing, outsiders=(), sources=(), *, chosen=False, **told):
    fact = FactView(
        words="bell",
        memory=None,
        suggested=(),
        complete=True,
        tellings=(TOLD.model_copy(update=told),),
        knowers=(),
        outsiders=outsiders,
        noted=(),
        echoes=(),
    )
    names = {number: f"Agent {number}" for number in range(1, 8)}
    return sentence(fact, names, knowing, sources, chosen=chosen)


def test_who_told_it_does_not_count_among_those_who_heard_it():
    tom = player("Tom", Way.SAID)
    assert answer((MIRA,), (tom,)) == "Mira knows of “bell”, from Tom."
    bob = player("Bob", Way.OVERHEARD)
    assert answer((MIRA,), (tom, bob)) == "Mira and Bob know of “bell”, from Tom."
    alone = answer((knower(1, "Mira", way=Way.SAID, source=""),))
    assert alone == "Only Mira knows of “bell”."


def test_who_has_it_from_another_has_it_not_from_who_began_it():
    tom = player("Tom", Way.SAID)
    joss = knower(2, "Joss", source="Mira")
    assert answer((MIRA, joss), (tom,)) == "Mira and Joss know of “bell”, first from Tom."


def test_who_began_it_is_one_of_several_where_others_saw_what_somebody_else_did():
    mira = knower(1, "Mira", way=Way.SAID, source="")
    joss = knower(2, "Joss", way=Way.SAW, source="Tom")
    gave = FirstTellingView(
        source="Tom",
        source_id=None,
        to=(PersonOfFact(id=2, key="", name="Joss", way=Way.SAW),),
        way=Way.SAW,
        time=THEN,
        happening="b",
        private="",
        doubtful=False,
        text="Tom gives a bell to Ann.",
        id=2,
        n=5,
    )
    assert answer((mira, joss), (), (gave,)) == "Mira and Joss know of “bell”."


def test_of_chosen_lines_of_several_people_it_is_said_who_was_first():
    tellers = (player("Tom", Way.SAID), player("Ann", Way.SAID))
    steps = [
        FirstTellingView(
            source=each.name,
            source_id=None,
            to=(PersonOfFact(id=1, key="", name="Mira", way=Way.TOLD),),
            way=Way.TOLD,
            time=THEN,
            happening=each.name,
            private="",
            doubtful=False,
            text="The bell lies in the sea.",
            id=1,
            n=4,
        )
        for each in tellers
    ]
    assert answer((MIRA,), tellers, steps, chosen=True) == (
        "Mira, Tom and Ann know of “bell”, first from Tom."
    )
    assert answer((MIRA,), tellers, steps) == "Mira, Tom and Ann know of “bell”."
    assert answer((MIRA,), tellers[:1], steps[:1], chosen=True) == "Mira knows of “bell”, from Tom."


def test_more_than_fit_into_a_line_are_counted():
    agents = [knower(number, f"Agent {number}") for number in range(1, 7)]
    told = answer(agents, (player("Tom", Way.SAID), player("Bob", Way.TOLD)))
    assert told == "6 of 7 agents and 1 player know of “bell”, from Tom."


def test_what_was_only_asked_was_told_to_nobody():
    tom = player("Tom", Way.SAID)
    assert answer((MIRA,), (tom,), asks=True) == (
        "Nobody told “bell” in these words: Tom only asked. Mira heard that."
    )
