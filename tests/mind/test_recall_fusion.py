"""The pure parts: scores that are put together, and how finding is measured."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.fusion import Candidates, Weights, rank, standard
from keepsake.recall.measure import Answered, scores
from keepsake.recall.query import read

NOW = datetime(2026, 5, 14, tzinfo=UTC)
PLAIN = Weights(speaker=0, named=0, asking=0, full=0, answer=0, recent=0, nearby=0)


def documents(*texts: str, apart: timedelta = timedelta(days=1)) -> dict[str, Document]:
    return {
        f"memory:{n}": Document(
            f"memory:{n}", DocumentKind.MEMORY, text, NOW - 9 * apart + n * apart, n, n
        )
        for n, text in enumerate(texts, 1)
    }


def order(found: Candidates, text: str = "cup bell", weights: Weights = PLAIN) -> list[str]:
    hits = rank(read(text, [], NOW), found, NOW, limit=9, weights=weights)
    return [hit.document.key for hit in hits]


def test_z_scores_have_mean_nought_and_keep_the_order():
    found = standard([3.0, 1.0, 1.0])
    assert sum(found) == pytest.approx(0.0)
    assert found[0] > found[1] == found[2]


@pytest.mark.parametrize("given", [[], [2.0], [2.0, 2.0]])
def test_z_scores_that_do_not_differ_are_nought(given):
    assert standard(given) == [0.0] * len(given)


def test_what_meaning_did_not_find_counts_as_the_least_it_found():
    found = Candidates(documents("A", "B", "C"), None, {"memory:1": 0.9, "memory:2": 0.1})
    scores = {
        h.document.first: h.score
        for h in rank(read("x", [], NOW), found, NOW, limit=9, weights=PLAIN)
    }
    assert scores[1] > scores[2] == scores[3]


def test_a_text_with_all_words_beats_one_that_repeats_a_single_one():
    held = documents("The cup and the bell.", "Cup.", "Soup.")
    found = Candidates(held, {"memory:1": 4.0, "memory:2": 2.0}, {})
    assert order(found)[0] == "memory:1"


def test_one_of_many_words_counts_little_beside_a_clear_meaning():
    held = documents("Blue it was, with a chip.", "We walked to the harbour.", "Soup.", "Bread.")
    asked = "What did the vessel at the harbour counter of her mother look like?"
    found = Candidates(
        held,
        {"memory:2": 3.0},
        {"memory:1": 0.8, "memory:2": 0.1, "memory:3": 0.1, "memory:4": 0.1},
    )
    assert order(found, asked)[0] == "memory:1"
    assert order(found, "the harbour walked")[0] == "memory:2"


def test_a_line_that_asks_gives_to_the_line_after_it():
    held = documents("Whose is the cup?", "Hers.", "No.", apart=timedelta(minutes=1))
    found = Candidates(held, {"memory:1": 3.0}, {})
    plain = rank(read("cup", [], NOW), found, NOW, limit=9, weights=PLAIN)
    given = rank(read("cup", [], NOW), found, NOW, limit=9)
    assert [h.score for h in plain if h.document.first == 2] == [0.0]
    assert [h.document.first for h in given][:2] == [1, 2]


def test_lines_near_one_with_the_meaning_gain_less_the_further_off_they_are():
    held = documents(*"ABCDEFG", apart=timedelta(minutes=1))
    found = Candidates(held, None, {key: 0.9 if key == "memory:1" else 0.1 for key in held})
    near = replace(PLAIN, nearby=0.3)
    assert order(found, weights=near)[:4] == [f"memory:{n}" for n in range(1, 5)]
    scores = [hit.score for hit in rank(read("x", [], NOW), found, NOW, limit=9, weights=near)]
    assert scores[3] > scores[4] == pytest.approx(scores[6])


def test_another_day_is_not_near():
    held = documents(*"ABC", apart=timedelta(days=1))
    found = Candidates(held, None, {"memory:1": 0.9, "memory:2": 0.1, "memory:3": 0.1})
    hits = rank(read("x", [], NOW), found, NOW, limit=9, weights=replace(PLAIN, nearby=0.3))
    assert hits[1].score == hits[2].score


def test_who_asks_when_gets_lines_that_tell_a_time_unless_it_is_a_scene():
    held = documents("I sold the boat to Joss.", "I sold the boat last spring.")
    found = Candidates(held, None, dict.fromkeys(held, 0.5))
    when = replace(PLAIN, when=1.0, recent_scene=0)

    def first(text: str, scene: bool = False) -> int:
        hits = rank(read(text, [], NOW), found, NOW, limit=1, scene=scene, weights=when)
        return hits[0].document.first

    assert first("When did Tom sell his boat?") == 2
    assert first("Who has the boat?") == 1
    assert first("When did Tom sell his boat?", scene=True) == 1


def test_without_anything_found_by_either_there_is_an_order_still():
    held = documents("One.", "Two.")
    assert set(order(Candidates(held, None, {}))) == set(held)
    assert order(Candidates({}, None, None)) == []


def test_recall_and_reciprocal_rank():
    answered = Answered("fact", ["x", "y"], [*"abc", "x", *"defgh", "y"])
    assert answered.recall(5) == 0.5
    assert answered.recall(10) == 1.0
    assert answered.reciprocal_rank() == 0.25
    assert Answered("fact", ["z"], ["a"]).reciprocal_rank() == 0.0


def test_scores_come_by_kind_and_for_all():
    found = scores([Answered("fact", ["a"], ["a"]), Answered("date", ["a"], ["b"])])
    assert [(s.kind, s.questions, s.recall[10], s.mrr) for s in found] == [
        ("date", 1, 0.0, 0.0),
        ("fact", 1, 1.0, 1.0),
        ("all", 2, 0.5, 0.5),
    ]
    assert scores([]) == []


def test_own_words_weigh_less_than_those_of_others():
    held = documents(
        "say The cup and the bell are mine.",
        "The cup and the bell are mine.",
    )
    own = {key: each._replace(speaker="Mira") for key, each in held.items() if key[-1] == "1"}
    found = Candidates(held | own, dict.fromkeys(held, 4.0), {})
    hits = rank(read("cup bell", [], NOW), found, NOW, limit=9, weights=PLAIN, agent="Mira")
    scores = {hit.document.key: hit.score for hit in hits}
    assert scores["memory:1"] < scores["memory:2"]
