"""Vectors that are kept: what is embedded once is not embedded again."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from keepsake.errors import ModelUnavailable
from keepsake.models.clients.cached import WHOLE_BATCH, CachedEmbedder
from tests.llm.conftest import until

CUP = "Who has seen the cup?"


class Gated:
    """Embeds when it may, and counts; a vector holds the text's length, as often as it likes."""

    model_name = "gated"

    def __init__(self, dimension: int = 1) -> None:
        self.calls: list[list[str]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.fails = False
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls.append(list(texts))
        assert self.gate.wait(60)
        if self.fails:
            raise ModelUnavailable("away")
        return [[float(len(text))] * self.dimension for text in texts]

    def close(self) -> None:
        self.gate.set()


@pytest.fixture
def gated() -> Gated:
    return Gated()


def test_ten_who_hear_one_sentence_have_it_embedded_once(gated: Gated):
    cached = CachedEmbedder(gated)
    gated.gate.clear()
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(cached.embed, [CUP, f"{n}"]) for n in range(10)]
        until(lambda: len(gated.calls) == 10)
        gated.gate.set()
        assert {each.result(60)[0][0] for each in asked} == {21.0}
    assert sum(CUP in texts for texts in gated.calls) == 1


def test_what_was_asked_is_a_memory_at_no_cost(gated: Gated):
    cached = CachedEmbedder(gated)
    assert [list(each) for each in cached.embed([CUP, "No.", CUP])] == [[21.0], [3.0], [21.0]]
    assert [list(each) for each in cached.embed(["Nor I.", CUP])] == [[6.0], [21.0]]
    assert gated.calls == [[CUP, "No."], ["Nor I."]]


def test_a_question_does_not_wait_for_an_index_that_is_made_anew(gated: Gated):
    cached = CachedEmbedder(gated)
    gated.gate.clear()
    with ThreadPoolExecutor(2) as pool:
        index = pool.submit(cached.embed, [CUP, *map(str, range(WHOLE_BATCH))])
        until(lambda: len(gated.calls) == 1)
        question = pool.submit(cached.embed, [CUP])
        until(lambda: len(gated.calls) == 2)
        gated.gate.set()
        assert question.result(60) == index.result(60)[:1]


def test_an_index_that_is_made_anew_pushes_nothing_out(gated: Gated):
    cached = CachedEmbedder(gated, most=WHOLE_BATCH)
    cached.embed([CUP])
    for batch in range(3):
        cached.embed([f"{batch} {n}" for n in range(WHOLE_BATCH)])
    cached.embed([CUP])
    assert sum(CUP in texts for texts in gated.calls) == 1


def test_what_was_asked_longest_ago_goes_first(gated: Gated):
    cached = CachedEmbedder(gated, most=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed([text])
    assert gated.calls == [["a"], ["b"], ["c"], ["b"]]


def test_a_question_that_failed_is_asked_again(gated: Gated):
    cached = CachedEmbedder(gated)
    gated.fails = True
    for texts in (["x"], [str(n) for n in range(WHOLE_BATCH)]):
        with pytest.raises(ModelUnavailable):
            cached.embed(texts)
    gated.fails = False
    assert list(cached.embed(["x"])[0]) == [1.0]


def test_another_model_by_the_same_name_is_not_mixed_with_the_one_before():
    gated = Gated()
    cached = CachedEmbedder(gated)
    cached.embed([CUP])
    gated.dimension = 2
    assert [list(vector) for vector in cached.embed([CUP, "x"])] == [[21.0, 21.0], [1.0, 1.0]]
    assert [list(vector) for vector in cached.embed([CUP])] == [[21.0, 21.0]]
