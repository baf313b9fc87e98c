"""Reads what a GGUF file says of its model: no weights, only the metadata at its beginning."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from game.mind.errors import ModelMissing

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_NUMBERS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_SIZES = {kind: struct.calcsize(form) for kind, form in _NUMBERS.items()}
_LENGTH = struct.Struct("<Q")
_MOST_KEYS = 100_000


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a GGUF file says of its model.

    Attributes:
        name: What it calls itself; may be empty.
        architecture: ``gemma3``, ``qwen2`` …
        chat_template: Jinja; empty for a model without one, as base models are.
        context: Tokens it was trained for; 0 when the file does not say.
        cache_bytes: Memory that one token of context takes, in bytes.
        window: Whether some layers look back a few tokens only (sliding window attention).
    """

    name: str
    architecture: str
    chat_template: str
    context: int
    cache_bytes: int
    window: bool


def read(path: Path) -> ModelInfo:
    """What the file says of its model; blocks for a tenth of a second.

    Raises:
        ModelMissing: There is no such file, it cannot be read, or it is no GGUF file.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found = _metadata(data)
    except OSError as error:
        raise ModelMissing(
            f"The model's file {path} cannot be read ({error.strerror or error})",
            "Correct model_file in llm.md, or fetch one: keepsake model list",
        ) from error
    except (struct.error, ValueError, KeyError, IndexError) as error:
        raise ModelMissing(
            f"{path} is no GGUF file, or it is damaged",
            "Fetch it again with keepsake model get, or correct model_file in llm.md",
        ) from error
    return _info(found)


def _metadata(data: mmap.mmap) -> dict[str, Any]:
    """Every key that is no array, with its value."""
    version, _, keys = struct.unpack_from("<IQQ", data, 4)
    if data[:4] != MAGIC or version not in _VERSIONS or keys > _MOST_KEYS:
        raise ValueError("no GGUF file")
    found: dict[str, Any] = {}
    at = 24
    for _ in range(keys):
        key, at = _string(data, at)
        (kind,) = struct.unpack_from("<I", data, at)
        value, at = _value(data, at + 4, kind)
        if value is not None:
            found[key] = value
    return found


def _value(data: mmap.mmap, at: int, kind: int) -> tuple[Any, int]:
    """The value at a place, None for an array, and where the next one begins."""
    if kind == _STRING:
        return _string(data, at)
    if kind == _ARRAY:
        return None, _after_array(data, at)
    return struct.unpack_from(_NUMBERS[kind], data, at)[0], at + _SIZES[kind]


def _string(data: mmap.mmap, at: int) -> tuple[str, int]:
    (length,) = _LENGTH.unpack_from(data, at)
    end = at + 8 + length
    if end > len(data):
        raise ValueError("it ends in the middle")
    return data[at + 8 : end].decode("utf-8", "replace"), end


def _after_array(data: mmap.mmap, at: int) -> int:
    kind, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if kind != _STRING:
        return at + int(_SIZES[kind] * count)
    unpack = _LENGTH.unpack_from  # a vocabulary has a quarter of a million of them
    for _ in range(count):
        at += 8 + unpack(data, at)[0]
    return at


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
