"""Who knows a fact, in a sentence."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keepsake.tracing.facts import Way
from keepsake.tracing.standing import Hold
from keepsake.web.fact_shapes import FactView, StrandView, TellingView
from keepsake.web.pasts.sentence import sentence
from keepsake.web.pasts.who_shapes import KnowingView

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


def strand(*, judged, written):
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
        perhaps=False,
        judged=judged,
        written=written,
    )


def told(*, judged, written, chosen=False):
    fact = FactView(
        words="deaf on one side",
        memory=None,
        suggested=(),
        complete=True,
        tellings=(TOLD,),
        knowers=(),
        outsiders=(),
        noted=(),
        echoes=(),
        strands=(strand(judged=judged, written=written),),
    )
    return sentence(fact, AGENTS, (MIRA,), (), chosen=chosen)


def test_what_was_found_by_its_meaning_is_only_probable():
    assert told(judged=True, written=False) == (
        "Probably 1 of 2 agents has heard of “deaf on one side”."
    )


@pytest.mark.parametrize(
    ("judged", "written", "chosen"),
    [(True, True, False), (False, True, False), (True, False, True)],
)
def test_what_has_the_words_as_typed_or_was_chosen_is_sure(judged, written, chosen):
    sure = told(judged=judged, written=written, chosen=chosen)
    assert sure == "1 of 2 agents has heard of “deaf on one side”."
