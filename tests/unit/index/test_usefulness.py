"""Which memories an answer in a talk can use."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import MemoryKind
from keepsake.happening import Person
from keepsake.lab.memories.plain import LineIndex
from keepsake.ports import FixedClock
from keepsake.recall.documents import memory_document
from keepsake.recall.index.words import WordIndex
from keepsake.recall.ranking.usefulness import CONSTANT, USEFUL, WEIGHTS, Signals, other_talks
from keepsake.recall.search import MemorySearch
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


def found(
    text: str,
    *lines: str,
    only_usable: bool,
    several_talks: bool = False,
    apart: timedelta = timedelta(minutes=1),
) -> list[str]:
    """Return which of the lines bear on what Tom says.

    ``apart``: The time between two lines.
    """
    words = WordIndex()
    embedder = BagOfWords()
    index = LineIndex(embedder, words.add)
    for number, line in enumerate(lines, 1):
        time = NOON + number * apart
        source = line.split()[0]
        memory = old_memory(number, time, MemoryKind.PERCEPTION, line, source=source, event="talk")
        index.add(memory_document(memory, "Mira"))
    index.flush()
    clock = FixedClock(NOON + timedelta(days=400))
    search = MemorySearch(
        words, index, embedder, names=lambda: ["Tom", "Ann", "Nell"], clock=clock, agent="Mira"
    )
    hits = search.search(
        text, asker=TOM, limit=20, only_usable=only_usable, several_talks=several_talks
    )
    assert hits is not None
    return [hit.document.text for hit in hits if hit.bears]


class TestUseful:
    def test_what_somebody_told_is_found_when_they_ask_for_it(self):
        asked = "What do I like for breakfast?"
        best, *others = found(asked, *CHATTER, ERRAND, BREAKFAST, only_usable=True)
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
        assert found("Where does my sister live?", SISTER, only_usable=True) == [SISTER]


BEES = tuple(
    f'Tom says to you, "My bees of {where} made {much} of honey, {how} than before."'
    for where, much, how in (
        ("Tollen", "six jars", "sweeter"),
        ("the mill", "a barrel", "darker"),
        ("the chapel", "one spoon", "later"),
        ("Ostrey", "nine pots", "thicker"),
        ("the pans", "a cupful", "saltier"),
    )
)
WHERE = "Where did my bees make honey?"


class TestSeveral:
    """A question about several talks is shown what ranks next, too."""

    @staticmethod
    def chatter(text: str, *, several_talks: bool, apart: timedelta) -> set[str]:
        """Return which lines that are not about bees bear."""
        some = found(
            text, *CHATTER, *BEES, only_usable=True, several_talks=several_talks, apart=apart
        )
        assert set(BEES) & {*some}
        return {*some} - set(BEES)

    def test_what_ranks_next_bears_on_a_question_about_talks_of_several_days(self):
        assert self.chatter(WHERE, several_talks=True, apart=timedelta(days=1))

    def test_not_if_the_model_reads_little(self):
        assert not self.chatter(WHERE, several_talks=False, apart=timedelta(days=1))

    def test_not_if_all_was_said_in_one_talk(self):
        assert not self.chatter(WHERE, several_talks=True, apart=timedelta(minutes=1))

    def test_not_if_nothing_is_asked(self):
        told = "My bees make honey."
        assert not self.chatter(told, several_talks=True, apart=timedelta(days=1))

    @pytest.mark.parametrize("mark", ["？", "؟"])
    def test_a_question_has_its_mark_in_any_script(self, mark):
        asked = WHERE.replace("?", mark)
        assert self.chatter(asked, several_talks=True, apart=timedelta(days=1))

    def test_each_talk_but_the_best_counts_with_its_most_probable_memory(self):
        day = timedelta(days=1)
        minute = timedelta(minutes=1)
        one_talk = [(NOON, 0.2), (NOON + minute, 0.3), (NOON + 2 * minute, 0.1)]
        assert other_talks(one_talk) == 0.0
        assert other_talks([*one_talk, (NOON + day, 0.9)]) == pytest.approx(0.3)
        assert other_talks([*one_talk, (NOON + day, 0.2)]) == pytest.approx(0.2)
        assert other_talks([]) == 0.0

    @given(st.lists(st.tuples(st.integers(0, 10**6), st.floats(0, 1)), max_size=23))
    def test_order_does_not_matter_and_no_talk_counts_twice(self, rows):
        some = [(NOON + timedelta(minutes=when), probability) for when, probability in rows]
        number = other_talks(some)
        assert number == pytest.approx(other_talks(some[::-1]))
        best = max((each for _, each in rows), default=0.0)
        assert 0.0 <= number <= sum(each for _, each in rows) - best + 1e-9


@pytest.fixture(scope="module")
def labelled() -> Labelled:
    return Labelled()


class TestLearned:
    def test_the_weights_are_those_that_the_labelled_searches_give(self, labelled):
        learned = labelled.learn(labelled.groups)
        assert [round(float(each), 2) for each in learned] == [CONSTANT, *WEIGHTS.values()]

    def test_of_plays_that_were_left_out_half_of_the_useful_memories_are_shown(self, labelled):
        shown = labelled.shown(labelled.left_out(), USEFUL)
        of_plays = np.isin(labelled.talks, PLAYS)
        assert labelled.useful[shown & of_plays].sum() >= 100, "of 203"
        assert (shown & of_plays).sum() <= 300, "of 4,760"
        assert labelled.lines_served(shown) == (33, 51)

    def test_plays_of_one_script_are_not_predicted_by_each_other(self, labelled):
        alike = ("play 1", "play 2", "play 3", "play 4", "play 5")
        assert alike in labelled.groups
        assert sorted(chain(*labelled.groups)) == sorted({*labelled.talks})
