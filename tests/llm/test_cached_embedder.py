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


class Apart(Gated):
    """One that knows who waits."""

    def __init__(self) -> None:
        super().__init__()
        self.later = Gated()


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
    assert [list(each) for each in cached.later.embed(["Nor I.", CUP])] == [[6.0], [21.0]]
    assert cached.embed(["Nor I."]) == cached.later.embed(["Nor I."])
    assert gated.calls == [[CUP, "No."], ["Nor I."]]


def test_an_index_asks_by_the_way_of_those_who_wait_longest():
    apart = Apart()
    cached = CachedEmbedder(apart)
    apart.later.gate.clear()
    with ThreadPoolExecutor(1) as pool:
        index = pool.submit(cached.later.embed, [CUP])
        until(lambda: bool(apart.later.calls))
        assert cached.embed([CUP]), "a question does not wait for an index"
        apart.later.gate.set()
        index.result(60)
    assert (apart.calls, apart.later.calls) == ([[CUP]], [[CUP]])


def test_an_index_that_is_made_anew_pushes_nothing_out(gated: Gated):
    cached = CachedEmbedder(gated, most=WHOLE_BATCH)
    cached.embed([CUP])
    for batch in range(3):
        cached.later.embed([f"{batch} {n}" for n in range(WHOLE_BATCH)])
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
    for embed in (cached.embed, cached.later.embed):
        with pytest.raises(ModelUnavailable):
            embed(["x"])
    gated.fails = False
    assert list(cached.embed(["x"])[0]) == [1.0]


@pytest.mark.parametrize("later", [False, True])
def test_another_model_by_the_same_name_is_not_mixed_with_the_one_before(later: bool):
    gated = Gated()
    cached = CachedEmbedder(gated)
    cached.embed([CUP])
    gated.dimension = 2
    embed = cached.later.embed if later else cached.embed
    assert [list(vector) for vector in embed([CUP, "x"])] == [[21.0, 21.0], [1.0, 1.0]]
    assert [list(vector) for vector in cached.embed([CUP])] == [[21.0, 21.0]]
