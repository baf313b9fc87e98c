"""Writes GGUF files that hold metadata and no weights."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any


def gguf_bytes(metadata: Mapping[str, Any]) -> bytes:
    """A file of version 3 with these keys: texts, whole numbers, flags, and lists of them."""
    keys = b"".join(_text(key) + _typed(value) for key, value in metadata.items())
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(metadata)) + keys


def _typed(value: Any) -> bytes:
    kind, data = _value(value)
    return struct.pack("<I", kind) + data


def _value(value: Any) -> tuple[int, bytes]:
    if isinstance(value, str):
        return 8, _text(value)
    if isinstance(value, bool):
        return 7, struct.pack("<?", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    parts = [_value(each) for each in value]
    return 9, struct.pack("<IQ", parts[0][0], len(parts)) + b"".join(data for _, data in parts)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data
