"""Which memories an answer in a talk can use."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import MemoryKind
from keepsake.happening import Person
from keepsake.lab.memories.plain import LineIndex
from keepsake.ports import FixedClock
from keepsake.recall.documents import memory_document
from keepsake.recall.search import MemorySearch
from keepsake.recall.usefulness import CONSTANT, USEFUL, WEIGHTS, Signals
from keepsake.recall.words import WordIndex
from tests.bench.usefulness_bench import PLAYS, Labelled
from tests.fakes.embedder import BagOfWords
from tests.memories import old_memory

NOON = datetime(2026, 5, 14, 12, 0, tzinfo=UTC)
TOM = Person("Tom", "41-1")
CHATTER = tuple(
    f'Ann says to you, "The {thing} is {how} today."'
    for thing in ("soup", "fire", "road", "dog", "wind", "tide")
    for how in ("good", "cold", "late", "loud")
)
SISTER = 'Tom says to you, "My sister Lotte keeps bees above Tollen."'
ERRAND = 'Tom says to Nell, "Would you go to the quay, look how the tide stands, and tell me?"'
BREAKFAST = 'Tom says to you, "I like cold dumplings with plum jam for breakfast."'


def found(text: str, *lines: str, sparing: bool) -> list[str]:
    """Return which of the lines bear on what Tom says."""
    words = WordIndex()
    embedder = BagOfWords()
    index = LineIndex(embedder, words.add)
    for number, line in enumerate(lines, 1):
        time = NOON + timedelta(minutes=number)
        source = line.split()[0]
        memory = old_memory(number, time, MemoryKind.PERCEPTION, line, source=source, event="talk")
        index.add(memory_document(memory, "Mira"))
    index.flush()
    clock = FixedClock(NOON + timedelta(days=2))
    search = MemorySearch(
        words, index, embedder, names=lambda: ["Tom", "Ann", "Nell"], clock=clock, agent="Mira"
    )
    hits = search.search(text, asker=TOM, limit=20, sparing=sparing)
    assert hits is not None
    return [hit.document.text for hit in hits if hit.bears]


class TestUseful:
    def test_what_somebody_told_is_found_when_they_ask_for_it(self):
        asked = "What do I like for breakfast?"
        best, *others = found(asked, *CHATTER, ERRAND, BREAKFAST, sparing=True)
        assert best == BREAKFAST
        assert not set(CHATTER) & {*others}

    def test_what_tells_nothing_new_is_less_useful(self):
        known = Signals(
            above=4.0, share=0.8, heard=True, by_asker=True, new_words=1, terms=3, upper=True
        )
        assert replace(known, new_words=9).probability() > known.probability()
        assert replace(known, heard=False).probability() < known.probability()

    @given(st.floats(-1e9, 1e9), st.integers(0, 10_000), st.integers(0, 10_000))
    def test_a_probability_is_one_whatever_is_found(self, above, new, terms):
        found = Signals(
            above=above,
            share=1.0,
            heard=True,
            by_asker=True,
            new_words=new,
            terms=terms,
            upper=True,
        )
        assert 0.0 <= found.probability() <= 1.0

    def test_of_few_candidates_the_upper_group_is_shown(self):
        assert found("Where does my sister live?", SISTER, sparing=True) == [SISTER]


@pytest.fixture(scope="module")
def labelled() -> Labelled:
    return Labelled()


class TestLearned:
    def test_the_weights_are_those_that_the_labelled_searches_give(self, labelled):
        learned = labelled.learn(list(dict.fromkeys(labelled.talks)))
        assert [round(float(each), 2) for each in learned] == [CONSTANT, *WEIGHTS.values()]

    def test_of_plays_that_were_left_out_half_of_what_was_shown_has_most_useful_ones(
        self, labelled
    ):
        shown = np.isin(labelled.talks, PLAYS) & (labelled.left_out() >= USEFUL)
        assert labelled.useful[shown].sum() >= 40, "the floor showed 53"
        assert labelled.times[shown].sum() <= 190, "the floor showed 334"
