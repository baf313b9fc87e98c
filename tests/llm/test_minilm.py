"""The embedded embedder, with its real weights."""

from __future__ import annotations

import math
import threading
from array import array
from concurrent.futures import ThreadPoolExecutor

import pytest

from keepsake.errors import ConfigError, ModelFailed, ModelUnavailable
from keepsake.models.clients.minilm import DIMENSION, MiniLMEmbedder
from keepsake.models.embedding import EmbedderProfile, embedder, load_embedder
from keepsake.paths import REPOSITORY

BROTHER = "Tom is looking for his brother"


@pytest.fixture(scope="module")
def minilm():
    made = MiniLMEmbedder()
    yield made
    made.close()


def likeness(left, right):
    return sum(a * b for a, b in zip(left, right, strict=True))


def test_like_meanings_lie_near(minilm):
    tom, where, soup = minilm.embed(
        [BROTHER, "Where has Tom's brother gone?", "The soup is too salty"]
    )
    assert likeness(tom, where) > 0.7
    assert likeness(tom, soup) < 0.3


def test_vectors_are_of_length_one_whatever_the_text(minilm):
    vectors = minilm.embed(["", "x" * 20_000, "naïve ☃ 𝄞", "<eos> [MASK]"])
    assert {len(vector) for vector in vectors} == {DIMENSION}
    assert all(math.isclose(likeness(v, v), 1.0, abs_tol=1e-5) for v in vectors)
    assert minilm.embed([]) == []


def test_a_batch_gives_what_each_text_gives_alone_and_in_order(minilm):
    texts = [f"Boat {n} " + "brought salt from Ostrey " * (n % 7) for n in range(70)]
    together = minilm.embed(texts)
    for index in (0, 6, 33, 69):
        alone = minilm.embed([texts[index]])[0]
        assert likeness(alone, together[index]) > 0.99


def test_two_threads_at_once(minilm):
    alone = minilm.embed([BROTHER])[0]
    with ThreadPoolExecutor(4) as pool:
        for [vector] in pool.map(lambda _: minilm.embed([BROTHER]), range(8)):
            assert likeness(vector, alone) > 0.999


def test_half_a_character_does_not_stop_it(minilm):
    assert len(minilm.embed(["half \ud83d"])[0]) == 384


def test_a_question_comes_between_the_batches_of_an_index(monkeypatch):
    embedder, run = MiniLMEmbedder(), []
    first, asked = threading.Event(), threading.Event()

    def slow(texts):
        run.append(len(texts))
        first.set()
        assert len(run) > 1 or asked.wait(60)
        return [array("f", [1.0])] * len(texts)

    monkeypatch.setattr(embedder, "_run", slow)
    submit = embedder._runner.submit
    with ThreadPoolExecutor(2) as pool:
        index = pool.submit(embedder.embed, ["a line"] * 24)
        assert first.wait(60)
        monkeypatch.setattr(
            embedder._runner, "submit", lambda *given: (submit(*given), asked.set())[0]
        )
        pool.submit(embedder.embed, ["a question"]).result(60)
        index.result(60)
    embedder.close()
    assert run == [8, 1, 8, 8]


def test_what_breaks_and_what_is_closed_has_a_name(monkeypatch):
    embedder = MiniLMEmbedder()
    monkeypatch.setattr(embedder, "_run", lambda _: 1 / 0)
    with pytest.raises(ModelFailed, match="ZeroDivisionError"):
        embedder.embed(["x"])
    embedder.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        embedder.embed(["x"])


def test_the_shipped_file_names_it():
    profile = load_embedder(REPOSITORY / "vault" / "config" / "llm.md")
    assert profile == EmbedderProfile()
    assert embedder(profile).model_name == "embedded:all-MiniLM-L6-v2-onnx-int8"


def test_other_providers(tmp_path):
    path = tmp_path / "llm.md"
    path.write_text("## embedder\n**provider**: ollama\n**model**: nomic-embed-text\n")
    made = embedder(load_embedder(path))
    assert made.model_name == "ollama:nomic-embed-text"
    made.close()
    path.write_text("## agent\n**provider**: embedded\n")
    assert load_embedder(path) == EmbedderProfile()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("## embedder\n**provider**: openai\n**model**: x\n", 1),
        ("## embedder\n**provider**: ollama\n", 1),
        ("## embedder\n**provider**: magic\n", 2),
        ("## embedder\n\n**modle**: x\n", 3),
    ],
)
def test_a_wrong_section_is_refused_with_its_line(tmp_path, text, line):
    path = tmp_path / "llm.md"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_embedder(path)
    assert refused.value.line == line
