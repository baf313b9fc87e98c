"""Which exchanges an answer in a talk can use."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from keepsake.archive.records import Memory
from keepsake.happening import ME, Manner, Person, Speech
from keepsake.recall.documents import memory_document
from keepsake.recall.query import query_of
from keepsake.recall.ranking.candidates import CandidateList
from keepsake.recall.ranking.exchanges import CONSTANT, LIKELY, WEIGHTS
from keepsake.recall.ranking.judging import usable
from keepsake.recall.ranking.usefulness import Signals
from keepsake.recall.ranking.word_vectors import Compared
from tests.bench.exchanges_bench import EVENINGS, Labelled

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
TOM = Person("Tom", "41-1")
ANN = Person("Ann", "42-1")
GOOD = Signals(above=5.0, share=1.0, heard=True, by_asker=False, new_words=6, terms=3, upper=True)
WEAK = Signals(above=0.0, share=0.0, heard=True, by_asker=False, new_words=4, terms=3, upper=False)


def judged(
    *,
    hours: float,
    alike: float,
    window: float | None = None,
    need: float = 2.0,
    manner: Manner = Manner.SAY,
) -> set[int]:
    """Return which of three lines an answer can use: a question, what others say, its answer.

    Args:
        hours: How long ago they were said.
        alike: How like the words of the question are.
        window: How like those of the lines are that the prompt shows; None if it shows none.
        need: The logit of the probability that the question asks for something told before.
        manner: How the question and its answer were said.
    """
    spoken = (
        Speech(speaker=TOM, words="Where does the goat sleep?", to=(ME,), manner=manner),
        Speech(speaker=ANN, words="Cold today.", to=(Person("Nell", "43-1"),)),
        Speech(speaker=ME, words="Between two herring barrels.", to=(TOM,), manner=manner),
    )
    documents = {
        number: memory_document(Memory(number, NOON + timedelta(seconds=number), what), "Mira")
        for number, what in enumerate(spoken, 1)
    }
    question = query_of("Tell me, where does that goat sleep?", ["Tom"], NOON)
    among = CandidateList(question, documents, {}, "Mira")
    now = NOON + timedelta(hours=hours)
    best = {1: np.array([alike]), 2: np.array([0.1]), 3: np.array([0.1])}
    words = Compared(np.ones(1), best, None if window is None else np.array([window]))
    words.need = need
    return usable(among, {0: GOOD, 1: WEAK, 2: WEAK}, words, now)


def test_an_answer_counts_as_its_question_and_the_talk_of_others_does_not() -> None:
    assert judged(hours=0.5, alike=0.6) == {0, 2}


def test_a_line_whose_words_are_not_like_the_question_is_not_used_on_the_same_evening() -> None:
    assert judged(hours=0.5, alike=0.0) == set()


def test_a_question_about_another_day_keeps_the_limit_that_misses_fewer() -> None:
    assert judged(hours=30.0, alike=0.0) == {0}


def test_what_the_window_says_as_well_need_not_be_recalled() -> None:
    assert judged(hours=0.5, alike=0.4, window=0.1) == {0, 2}
    assert judged(hours=0.5, alike=0.4, window=0.8) == set()


def test_a_line_that_asks_for_nothing_told_before_recalls_less() -> None:
    assert judged(hours=0.5, alike=0.35, window=0.35) == {0, 2}
    assert judged(hours=0.5, alike=0.35, window=0.35, need=-3.0) == set()


def test_a_whisper_is_recalled_sooner_because_no_summary_tells_it() -> None:
    alike = next(n / 100 for n in range(100) if judged(hours=0.5, alike=n / 100))
    whispered = next(
        n / 100
        for n in range(100)
        if judged(hours=0.5, alike=n / 100, manner=Manner.WHISPER) == {0, 2}
    )
    assert whispered < alike


def test_the_weights_are_those_that_the_labelled_searches_give() -> None:
    labelled = Labelled()
    learned = labelled.learn(np.ones(len(labelled.talks), dtype=bool))
    assert learned.round(2).tolist() == pytest.approx([CONSTANT, *WEIGHTS.values()], abs=0.011)


@pytest.mark.parametrize("number", EVENINGS)
def test_an_evening_that_was_left_out_is_shown_mostly_what_is_useful(number: int) -> None:
    labelled = Labelled()
    here = labelled.of_evening(number)
    shown = labelled.shown(labelled.left_out(), LIKELY, here)
    assert shown.useful > 0.6 * shown.number
    assert shown.served > 0.35 * shown.queries
