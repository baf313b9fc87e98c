"""The larger embedder for English, with a tiny model of its form."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from keepsake.errors import ModelMissing
from keepsake.models.embedders import load_embedder, named_embedder
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.models.local.mpnet import FILE, MPNET, MpnetEmbedder
from keepsake.models.local.mpnet_int8 import mpnet_in_int8
from keepsake.ports import as_word_embedder
from tests.fakes.model_server import llm_page
from tests.fakes.mpnet import SIZE, hidden, write_weights

TEXTS = ["The old mill stands by the river.", "Who sold the bread?", "", "naïve ☃", "mill " * 400]
MINILM = MiniLMEmbedder()
type Made = tuple[dict[str, Any], Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The tensors of a tiny model, and the file that the embedder reads."""
    folder = tmp_path_factory.mktemp("mpnet")
    tensors = write_weights(folder / "model.safetensors")
    path = folder / FILE
    path.write_bytes(mpnet_in_int8(folder / "model.safetensors"))
    return tensors, path


def test_a_vector_is_that_of_minilm_and_that_of_mpnet(made: Made) -> None:
    tensors, path = made
    tokenizer, _ = MINILM.loaded()
    for text, vector, small in zip(
        TEXTS, MpnetEmbedder(path).embed(TEXTS), MINILM.embed(TEXTS), strict=True
    ):
        assert math.isclose(math.sumprod(vector, vector), 1.0, abs_tol=1e-5)
        assert math.sumprod(vector[:384], small) == pytest.approx(math.sqrt(0.5), abs=1e-5)
        # Its own vocabulary is MiniLM's after four words; other marks begin and end a text.
        ids = [0, *(each + 4 for each in tokenizer.encode(text).ids[1:-1]), 2]
        mean = hidden(tensors, ids).mean(axis=0)
        own = np.array(vector[384:])
        assert len(own) == SIZE
        assert own @ mean / np.linalg.norm(own) / np.linalg.norm(mean) > 0.99


def test_it_gives_the_words_of_minilm(made: Made) -> None:
    model = MpnetEmbedder(made[1])
    assert as_word_embedder(model) is model
    [found] = model.embed_words(TEXTS[:1])
    [wanted] = MINILM.embed_words(TEXTS[:1])
    assert [word for word, _ in found] == [word for word, _ in wanted]
    assert np.array_equal([each for _, each in found], [each for _, each in wanted])


def test_vectors_of_two_embedders_are_told_apart_by_name(made: Made) -> None:
    assert MpnetEmbedder(made[1]).model_name != MINILM.model_name


def test_missing_or_damaged_weights_are_told_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=f"not been fetched.*keepsake model embedder {MPNET}"):
        MpnetEmbedder(tmp_path / FILE).embed(["Good day."])
    (tmp_path / FILE).write_bytes(b"no model")
    with pytest.raises(ModelMissing, match=r"cannot be loaded.*Delete it"):
        MpnetEmbedder(tmp_path / FILE).embed(["Good day."])


def test_a_setting_and_a_command_line_name_it(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPSAKE_HOME", str(tmp_path))
    page = tmp_path / "llm.md"
    page.write_text(llm_page(embedder=f"provider=embedded model={MPNET}"))
    with pytest.raises(ModelMissing, match="not been fetched"):
        named_embedder(f"embedded:{MPNET}")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / FILE).symlink_to(made[1])
    for embedder in (load_embedder(page), named_embedder(f"embedded:{MPNET}")):
        assert isinstance(embedder, MpnetEmbedder)
        assert len(embedder.embed(["Good day."])[0]) == 384 + SIZE
