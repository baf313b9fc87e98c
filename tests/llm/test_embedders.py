from __future__ import annotations

from collections.abc import Iterator

import pytest

from keepsake.errors import BadAnswer, ModelMissing, ModelUnavailable
from keepsake.models.clients.embedders import ServerEmbedder, ollama_embedder, openai_embedder
from tests.fakes.model_server import DIMENSION, FakeModelServer, Reply, vector
from tests.free_ports import free_port

PATHS = ("/api/embed", "/v1/embeddings")
TEXTS = ["the old mill", "a loaf of bread", "the mill is old"]


@pytest.fixture(params=[ollama_embedder, openai_embedder])
def embedder(request: pytest.FixtureRequest, fake: FakeModelServer) -> Iterator[ServerEmbedder]:
    embedder = request.param("fake", fake.address, time_limit=60)
    yield embedder
    embedder.close()


def test_one_vector_a_text_in_order(embedder: ServerEmbedder):
    vectors = embedder.embed(TEXTS)
    assert [len(each) for each in vectors] == [DIMENSION] * 3
    for found, text in zip(vectors, TEXTS, strict=True):
        assert found == pytest.approx(vector(text))


def test_nothing_to_embed_asks_nobody(embedder: ServerEmbedder, fake: FakeModelServer):
    assert embedder.embed([]) == []
    assert fake.calls() == []


def test_its_name_tells_provider_and_model(embedder: ServerEmbedder):
    assert embedder.model_name in ("ollama:fake", "openai:fake")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"embeddings": [[1.0]], "data": [{"index": 0, "embedding": [1.0]}]}',
        b'{"embeddings": [[], [], []], "data": []}',
        b"{}",
        b"nonsense",
    ],
)
def test_a_wrong_number_of_vectors_is_refused(
    embedder: ServerEmbedder, fake: FakeModelServer, raw: bytes
):
    for path in PATHS:
        fake.plan(path, Reply(raw=raw))
    with pytest.raises(BadAnswer):
        embedder.embed(TEXTS)


def test_a_missing_model_and_an_absent_server(fake: FakeModelServer):
    embedder = ollama_embedder("absent", fake.address)
    with pytest.raises(ModelMissing, match="ollama pull absent"):
        embedder.embed(TEXTS)
    embedder.close()
    gone = openai_embedder("fake", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(ModelUnavailable):
        gone.embed(TEXTS)
    gone.close()
