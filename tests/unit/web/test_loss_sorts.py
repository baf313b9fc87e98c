"""Of what sort a lost memory is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keepsake.archive.records import Memory
from keepsake.happening import ME, Deed, KnownVerb, Person, Pose, Result, Sight, Speech, What
from keepsake.web.pasts.loss_sorts import LossSort, sort_of

TOM = Person("Tom", "tom")
MIRA = Person("Mira", ME.id)


@pytest.mark.parametrize(
    ("what", "sort"),
    [
        (Speech(speaker=TOM, words="Edwin mends nets."), LossSort.OTHERS),
        (Deed(actor=TOM, verb=KnownVerb.GIVE, objects=("a ring",)), LossSort.OTHERS),
        (Deed(actor=TOM, verb=KnownVerb.GO), LossSort.PASSING),
        (Pose(actor=TOM, gesture="nods"), LossSort.PASSING),
        (Sight(shown="Tom comes in."), LossSort.PASSING),
        (Result(verb=KnownVerb.LOOK), LossSort.PASSING),
        (Result(verb=KnownVerb.PLAN), LossSort.OWN),
        (Result(), LossSort.PASSING),
        (Speech(speaker=ME, words="Good hands."), LossSort.OWN),
    ],
)
def test_what_others_told_or_gave_is_told_from_who_came_and_went(
    what: What, sort: LossSort
) -> None:
    memory = Memory(number=1, time=datetime(2026, 5, 9, tzinfo=UTC), what=what, happening="h1")
    assert sort_of(memory, ()) is sort
    asked = LossSort.ERRANDS if sort is LossSort.OTHERS else sort
    assert sort_of(memory, {"h1"}) is asked
