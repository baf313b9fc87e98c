"""Reads what a GGUF file says of its model: no weights, only the metadata at its beginning."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from keepsake.errors import ModelMissing

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_NUMBERS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
"""The kinds of numbers, as the module ``struct`` writes them."""
_MOST_KEYS, _MOST_BYTES = 100_000, 1 << 24


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a GGUF file says of its model."""

    name: str  # what it calls itself; may be empty
    architecture: str  # ``gemma3``, ``qwen2`` …
    chat_template: str  # Jinja; empty for a model without one, as base models are
    context: int  # tokens it was trained for; 0 when the file does not say
    cache_bytes: int  # memory that one token of context takes, in bytes
    window: bool  # whether some layers look back a few tokens only (sliding window attention)


def read(path: Path) -> ModelInfo:
    """What the file says of its model; blocks for a tenth of a second.

    Raises:
        ModelMissing: There is no such file, it cannot be read, or it is no GGUF file.
    """
    try:
        with path.open("rb") as file:
            found = _metadata(file)
    except OSError as error:
        raise ModelMissing(
            f"The model's file {path} cannot be read ({error.strerror or error})",
            "Correct model_file in llm.md, or fetch one: keepsake model list",
        ) from error
    except (struct.error, ValueError, KeyError, OverflowError) as error:
        raise ModelMissing(
            f"{path} is no GGUF file, or it is damaged",
            "Fetch it again with keepsake model get, or correct model_file in llm.md",
        ) from error
    return _info(found)


def _metadata(file: BinaryIO) -> dict[str, Any]:
    """Every key that is no array, with its value."""
    magic, version, _, keys = struct.unpack("<4sIQQ", file.read(24))
    if magic != MAGIC or version not in _VERSIONS or keys > _MOST_KEYS:
        raise ValueError("no GGUF file")
    found = {_string(file): _value(file, _number(file, "I")) for _ in range(keys)}
    return {key: value for key, value in found.items() if value is not None}


def _value(file: BinaryIO, kind: int) -> Any:
    """The value that comes next; None for an array, which is passed over."""
    if kind == _STRING:
        return _string(file)
    if kind != _ARRAY:
        return _number(file, _NUMBERS[kind])
    of, count = _number(file, "I"), _number(file, "Q")
    if of != _STRING:
        file.seek(struct.calcsize(_NUMBERS[of]) * count, 1)
        return None
    for _ in range(count):  # a vocabulary has a quarter of a million of them
        file.seek(_number(file, "Q"), 1)
    return None


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(f"<{form}", file.read(struct.calcsize(form)))[0]


def _string(file: BinaryIO) -> str:
    length = _number(file, "Q")
    found = file.read(length) if length < _MOST_BYTES else b""
    if len(found) < length:
        raise ValueError("it ends in the middle")
    return found.decode("utf-8", "replace")


def _info(found: dict[str, Any]) -> ModelInfo:
    architecture = str(found.get("general.architecture", ""))

    def number(key: str) -> int:
        value = found.get(f"{architecture}.{key}", 0)
        return value if isinstance(value, int) else 0

    heads = number("attention.head_count") or 1
    # A model without grouped heads names none of their own; one that has them by layer
    # names an array, which counts as all of them: too much memory is better than too little.
    shared = number("attention.head_count_kv") or heads
    width = number("embedding_length") // heads
    key, value = number("attention.key_length"), number("attention.value_length")
    return ModelInfo(
        name=str(found.get("general.name", "")),
        architecture=architecture,
        chat_template=str(found.get("tokenizer.chat_template", "")),
        context=number("context_length"),
        cache_bytes=2 * number("block_count") * shared * ((key or width) + (value or width)),
        window=number("attention.sliding_window") > 0,
    )
