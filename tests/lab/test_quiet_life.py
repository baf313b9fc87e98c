"""Where nobody plays, agents live all the same: an evening of the village, without a model."""

from __future__ import annotations

import pytest

from keepsake.archive.records import HEARSAY, SCENE
from keepsake.events.reader import Filter, last
from keepsake.paths import REPOSITORY, Places, Ports
from tests.empty_tables import lay_tables_for_labs
from tests.lab.quiet_life import SEEN, begin, go_on


@pytest.fixture(scope="module")
def places(tmp_path_factory, tables):
    home = tmp_path_factory.mktemp("home")
    lay_tables_for_labs(tables, home)
    return Places(home, REPOSITORY / "vault", Ports(21000))


@pytest.fixture(scope="module")
def lab(places):
    return begin(places, "quiet", agents=7, start="2026-05-04T16:00")


@pytest.fixture(scope="module")
def life(places, lab):
    return go_on(places, lab, hours=6)


def test_everybody_works_and_meets_and_no_model_is_asked(lab, life):
    assert len(life.memories) == 7
    for lived in life.memories.values():
        assert sum(memory.event == SCENE for memory in lived) >= 4
    assert life.meetings >= 5
    assert not last(lab.places().logs / "events", 1, Filter(kinds={"thought"}))


def test_a_deed_gets_round_with_a_chain_back_to_who_saw_it_and_no_whisper_does(life):
    heard = life.heard(SEEN)
    assert len(heard) >= 2
    assert all(life.leads_back(memory, SEEN) for memory in heard.values())
    assert life.whispered() == 0


def test_nobody_is_told_the_same_twice(life):
    for lived in life.memories.values():
        told = [(memory.to, memory.text) for memory in lived if memory.event == HEARSAY]
        assert len(told) == len(set(told))
