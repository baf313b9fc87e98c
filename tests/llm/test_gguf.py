"""What a GGUF file says of its model."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from keepsake.errors import ModelMissing
from keepsake.models.embedded import gguf, weights
from keepsake.models.embedded.supervisor import SHIPPED, Embedded
from tests.fakes.gguf_file import gguf_bytes

QWEN = {
    "general.architecture": "qwen2",
    "general.name": "Tiny",
    "qwen2.context_length": 4096,
    "qwen2.block_count": 24,
    "qwen2.embedding_length": 896,
    "qwen2.attention.head_count": 14,
    "qwen2.attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": ["a", "b", "ç"],
    "tokenizer.ggml.token_type": [1, 1, 3],
    "tokenizer.ggml.add_bos_token": False,
    "tokenizer.chat_template": "{{ messages }}",
}


def test_what_a_file_says(tmp_path: Path):
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf_bytes(QWEN))
    found = gguf.read(path)
    assert (found.name, found.architecture, found.context) == ("Tiny", "qwen2", 4096)
    assert found.chat_template == "{{ messages }}"
    assert found.cache_bytes == 24 * 2 * 64 * 2 * 2  # layers, heads, width, key and value, bytes
    assert not found.window


def test_the_shipped_file_says_what_is_assumed_of_it(embedded: Embedded):
    found = gguf.read(embedded._places.models / weights.NAME)
    assert not found.chat_template
    assert (found.architecture, found.context) == (SHIPPED.architecture, SHIPPED.context)
    assert (found.cache_bytes, found.window) == (SHIPPED.cache_bytes, SHIPPED.window)


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"GGUF",
        b"<html>",
        b"GGML" + gguf_bytes(QWEN)[4:],
        gguf_bytes(QWEN)[:200],
        b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**62),
    ],
)
def test_what_is_no_model_is_told(tmp_path: Path, damaged: bytes):
    path = tmp_path / "tiny.gguf"
    path.write_bytes(damaged)
    with pytest.raises(ModelMissing, match=r"no GGUF file.*keepsake model get"):
        gguf.read(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path):
    with pytest.raises(ModelMissing, match=r"cannot be read \(No such file.*model_file"):
        gguf.read(tmp_path / "tiny.gguf")
    with pytest.raises(ModelMissing, match="cannot be read"):
        gguf.read(tmp_path)
