"""Long texts among lines of talk: neither wins by its length."""

from __future__ import annotations

from datetime import UTC, datetime

from keepsake.recall.documents import Document, DocumentKind, passages_in
from keepsake.recall.query import query_of
from keepsake.recall.ranking.long_texts import need
from keepsake.recall.ranking.rank import rank

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
LINE = "The old mill by the river grinds oats and barley for the whole valley all winter long."
FILLER = " ".join(
    f"Item {n} of the long list is a plain matter of no great weight." for n in range(12)
)


def document(number: int, text: str) -> Document:
    """Return a memory far from the others, so that no memory is a neighbour."""
    return Document(
        f"memory:{number}", DocumentKind.MEMORY, text, NOW, 100 * number, 100 * number, said=text
    )


def order(
    question: str,
    texts: dict[int, str],
    *,
    words: dict[int, float] | None = None,
    meaning: dict[int, dict[int, float]] | None = None,
) -> list[str]:
    """Return the keys of the documents, best first."""
    asked = query_of(question, (), NOW)
    documents = {number: document(number, text) for number, text in texts.items()}
    found = rank(asked, documents, words or {}, meaning or {}, NOW, limit=10)
    return [hit.document.key for hit in found]


def test_the_best_of_many_passages_counts_for_less_than_the_only_one():
    long = f"{FILLER} {LINE} {FILLER}"
    every = dict.fromkeys(range(len(passages_in(document(3, long), ""))), 0.6)
    likes = {1: {0: 0.1}, 2: {0: 0.6}, 3: every, 4: {0: 0.2}}
    texts = {1: LINE, 2: LINE, 3: long, 4: LINE}
    # Equals are listed by number, the later first: without the correction it would be the long one.
    assert order("What grinds oats?", texts, meaning=likes)[0] == "memory:2"


def test_a_long_text_with_much_more_likeness_still_wins():
    long = f"{FILLER} {LINE} {FILLER}"
    texts = dict.fromkeys(range(1, 21), LINE) | {3: long}
    likes = {number: {0: 0.2 + number / 200} for number in texts} | {3: {0: 0.6, 1: 0.9, 2: 0.6}}
    assert order("What grinds oats?", texts, meaning=likes)[0] == "memory:3"


def test_words_that_stand_together_count_more_than_the_same_words_far_apart():
    apart = f"The mill is old. {FILLER} There are oats on the list. {FILLER}"
    near = f"The mill grinds oats. {FILLER} There are apples on the list. {FILLER}"
    likes = {1: {0: 0.3}, 2: {0: 0.3}, 3: {0: 0.1}}
    found = order(
        "Which mill has oats?", {1: near, 2: apart, 3: LINE}, words={1: 4.0, 2: 4.0}, meaning=likes
    )
    assert found.index("memory:1") < found.index("memory:2")


def test_a_question_at_the_end_of_much_else_is_no_mere_question():
    told = ("I have been at the mill since March, as a carter, and my sister cooks there. " * 7)[
        :-1
    ]
    assert need(document(1, f"{told} What do you think?")) < 0.1
    assert need(document(1, "I was at the mill. Where were you?")) == 1.0


def test_a_long_telling_that_ends_with_a_question_comes_before_a_short_question():
    told = "I have been at the mill since March, as a carter, and my sister cooks oats there. " * 5
    texts = {
        1: f"{told}Shall I go on?",
        2: f"{LINE[:-1]}, does it not?",
        3: "Good day, all of you.",
    }
    likes = {1: {0: 0.5}, 2: {0: 0.5}, 3: {0: 0.1}}
    assert order("Who is at the mill?", texts, meaning=likes)[0] == "memory:1"
