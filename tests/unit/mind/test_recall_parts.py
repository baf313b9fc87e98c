"""How questions are parsed and results ranked, and the index of words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Memory
from keepsake.happening import ME, Person, Pose, Speech
from keepsake.language.perception import sentences
from keepsake.language.tokens import pieces
from keepsake.recall.documents import Document, DocumentKind, memory_document, text_of
from keepsake.recall.index.words import WordIndex
from keepsake.recall.passages import PASSAGE, passages_of
from keepsake.recall.query import query_of
from keepsake.recall.ranking.rank import rank
from keepsake.recall.times import mentions_time
from tests.sentences import table

NOW = datetime(2026, 5, 14, tzinfo=UTC)


def documents(*texts: str) -> dict[int, Document]:
    return {
        n: Document(f"memory:{n}", DocumentKind.MEMORY, text, NOW + timedelta(days=n - 9), n, n)
        for n, text in enumerate(texts, 1)
    }


def test_questions_for_a_time_prefer_lines_that_tell_one_except_in_scenes():
    held = documents("I sold the boat last spring.", "I sold the boat to Joss.")
    found = held, {}, {key: {0: 0.5} for key in held}
    queries = query_of("When did Tom sell his boat?", [], NOW), query_of("Who has it?", [], NOW)
    tries = (queries[0], False), (queries[1], False), (queries[0], True)
    hits = [rank(each, *found, NOW, limit=1, unprompted=scene) for each, scene in tries]
    assert [best.document.first for (best,) in hits] == [1, 2, 2]


def test_the_later_memory_comes_first_even_if_the_clock_was_set_back():
    held = documents("My boat is red.", "My boat is blue.")
    held[2] = held[2]._replace(time=held[1].time - timedelta(hours=1))
    found = held, {}, {key: {0: 0.5} for key in held}
    for scene in (False, True):
        hits = rank(query_of("My boat?", [], NOW), *found, NOW, limit=2, unprompted=scene)
        assert [hit.document.first for hit in hits] == [2, 1]


def test_a_long_memory_is_found_by_its_passage_and_shown_as_that():
    """Each passage counts beside those near it, so that one of many is not best by chance."""
    filler = [
        f"Then we drove on to the next farm, which was the farm number {n}." for n in range(60)
    ]
    told = " ".join(
        [*filler[:30], "There a heron had built its nest on the chimney.", *filler[30:]]
    )
    held = documents("I saw a heron.", told)
    (number,) = (n for n, each in enumerate(passages_of(told)) if "heron" in each)
    likes = {1: {0: 0.2}, 2: {number - 1: 0.3, number: 0.6, number + 1: 0.3}}
    question = query_of("Where had the heron built its nest?", [], NOW)
    best, other = rank(question, held, {2: 3.0, 1: 1.0}, likes, NOW, limit=2)
    assert (best.document.first, best.passage) == (2, passages_of(told)[number])
    assert other.passage == ""


def test_passages_are_sentences_that_overlap_by_one_and_lose_nothing():
    said = [f"In the year {n} the ferry sank, and nobody knew why it had." for n in range(80)]
    cut = passages_of(" ".join(said))
    assert len(cut) > 5
    assert all(pieces(each) <= PASSAGE for each in cut)
    for before, after in pairwise(cut):
        assert sentences(before)[-1] == sentences(after)[0]
    assert [*dict.fromkeys(each for part in cut for each in sentences(part))] == said
    assert passages_of(said[0]) == (said[0],)


@pytest.mark.parametrize("unit", ["word ", "字", "x", "one\n", "🙂 "])
def test_a_text_without_sentences_is_cut_too(unit):
    cut = passages_of(unit * 700)
    assert all(pieces(each) <= PASSAGE for each in cut)
    assert "".join(cut).replace(" ", "").count(unit.strip()) >= 700


THURSDAY = datetime(2026, 5, 14, 18, 30, tzinfo=UTC)
NAMES = ["Tom", "Mira", "The Kettle", "Withy Hythe"]


def dates(text: str) -> list[tuple[str, str]]:
    """Return the first and last day of each time in the text."""
    return [(f"{a:%Y-%m-%d}", f"{b:%Y-%m-%d}") for a, b in query_of(text, (), THURSDAY).times]


@pytest.mark.parametrize(("text", "first", "after"), table("times"))
def test_relative_times_are_read(text, first, after):
    assert dates(f"What did Tom say {text}?") == [(first, after)]


@pytest.mark.parametrize("text", table("texts that tell a time"))
def test_a_text_that_tells_a_time_is_recognised(text):
    assert mentions_time(text)


@pytest.mark.parametrize(("text", "asks"), table("questions for a time"))
def test_a_question_for_a_time_is_recognised(text, asks):
    assert query_of(text, NAMES, THURSDAY).when is asks


BEGIN = datetime(2026, 5, 1, 12, tzinfo=UTC)


def document(number: int, text: str) -> Document:
    time = BEGIN + timedelta(minutes=number)
    return Document(f"memory:{number}", DocumentKind.MEMORY, text, time, number, number, "Tom")


def keys(index: WordIndex, *terms: str) -> list[str]:
    return [f"memory:{number}" for number in index.search(terms, {None: 10})[0]]


@pytest.mark.parametrize(("text", "question"), table("questions in any script"))
def test_words_of_any_script_are_found(text, question):
    index = WordIndex()
    index.add([document(10, "The cup."), document(20, text)])
    assert keys(index, *query_of(question, (), NOW).terms) == ["memory:20"]


def test_lines_of_a_time_are_first_those_of_the_asker():
    index = WordIndex()
    (span,) = query_of("yesterday", (), BEGIN + timedelta(days=1)).times
    index.add([document(10, "A cup.")._replace(speaker="Élodie"), document(20, "A bell.")])
    assert index.of_time(span, 1, None, Person("élodie", "7-1")) == [10]


def said_by(number: int, speaker: Person, words: str) -> Document:
    shown = f'{speaker.name} says to you, "{words}"'
    what = Speech(speaker=speaker, words=words, to=(ME,), shown=shown)
    return memory_document(Memory(number, NOW + timedelta(minutes=number), what), "Mira")


def test_a_question_about_oneself_is_about_that_person_and_not_about_the_name():
    """There are two Toms, and one of them has another name by now."""
    here = Person("Tom", "7-1")
    other = Person("Tom", "8-1")
    renamed = Person("Thomas", "7-1")
    lines = ((1, renamed), (5, other), (9, Person("Tom")))
    held = {n: said_by(n, who, "I am a saddler.") for n, who in lines}
    question = query_of("What is my trade?", ["Tom"], NOW, here)
    hits = rank(question, held, {}, {key: {0: 0.5} for key in held}, NOW, limit=3)
    found = {hit.document.first: [r for r in hit.reasons if "said by" in r] for hit in hits}
    assert found == {1: ["said by Thomas"], 5: [], 9: ["said by Tom"]}
    index = WordIndex()
    (span,) = query_of("today", (), NOW + timedelta(hours=1)).times
    index.add(held.values())
    assert index.of_time(span, 2, None, here) == [9, 1]


def test_a_gesture_has_one_text_as_own_act_as_perception_and_as_query():
    own = Pose(actor=ME, gesture="nods to Tom.", shown="emote nods to Tom.")
    mira = Pose(actor=Person("Mira"), gesture="nods to Tom.", shown="Mira nods to Tom.")
    held = [memory_document(Memory(1, NOW, what), "Tom") for what in (own, mira)]
    texts = {text_of(each, "Tom") for each in held}
    assert texts == {"Tom nods to Tom.", "Mira nods to Tom."}
    assert query_of("Mira nods to Tom.", NAMES, NOW, unprompted=True).meaning == (
        "Mira nods to Tom.",
    )


@pytest.mark.parametrize("term", ['"', "a OR b", "col:x", "(", "*", "^", "NEAR", "it's", "", "\0"])
def test_no_term_is_parsed_as_query_syntax(term):
    index = WordIndex()
    index.add([document(1, "The cup.")])
    assert keys(index, term) == []
    assert keys(index, term, "cup") == ["memory:1"]


@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(1, 8), st.sampled_from(["cup", "bell", "net"])),
        max_size=25,
    )
)
def test_the_word_index_matches_its_documents(steps):
    index = WordIndex()
    held = {}
    for adds, number, word in steps:
        if adds:
            index.add([document(number, word)])
            held[number] = word
        else:
            index.remove([f"memory:{number}"])
            held.pop(number, None)
    for word in ("cup", "bell", "net"):
        near = {n for n in held if any(held.get(m) == word for m in (n - 1, n, n + 1))}
        assert set(keys(index, word)) == {f"memory:{n}" for n in near}
