"""all-mpnet-base-v2 beside MiniLM, for English: finds more, and takes eight times as long.

A text has the vectors of both models, one after the other, so that its likeness to another is the
mean of both. Its words have MiniLM's alone. The weights (438 MB) are fetched once and kept in int8
(111 MB). Both models read the same parts of words, so MiniLM's tokenizer does for both.
"""

from __future__ import annotations

import math
from array import array
from pathlib import Path
from typing import Any

from keepsake.errors import ModelMissing
from keepsake.models.local.minilm import MINILM, MiniLMEmbedder, session_of
from keepsake.paths import places

MPNET = "all-mpnet-base-v2"
"""Its name in ``llm.md`` and on command lines."""
FILE = f"{MPNET}-int8.onnx"
"""The file's name in the folder of models."""
FETCH = f"keepsake model embedder {MPNET}"
"""The command that fetches the weights."""
_FIRST = 0
"""Its mark for the beginning of a text, where MiniLM has another."""
_LAST = 2
"""Its mark for the end of a text."""
_SHIFT = 4
"""Its vocabulary is MiniLM's after four words of its own."""


class MpnetEmbedder(MiniLMEmbedder):
    """all-mpnet-base-v2 and MiniLM; a vector has 1,152 numbers and takes about 25 ms a sentence.

    Args:
        path: The file of the weights; the default is in the folder of models.
        threads: How many texts are embedded at once.
    """

    def __init__(self, path: Path | None = None, threads: int = 1) -> None:
        super().__init__(threads=threads)
        self.model_name = f"embedded:{MPNET}-int8+{MINILM}-int8"
        self._path = path or weights_path()
        self._larger: Any = None

    def _run(self, text: str) -> array[float]:
        import numpy as np  # noqa: PLC0415 - slow to import

        with self._loading:
            self._larger = self._larger or _session(self._path)
        small = super()._run(text)
        tokenizer, _ = self.loaded()
        ids = np.array(tokenizer.encode(text).ids, np.int64) + _SHIFT
        ids[0] = _FIRST
        ids[-1] = _LAST
        mean = self._larger.run(None, {"input_ids": ids[None]})[0][0].mean(axis=0, dtype="float32")
        unit = mean / max(math.sqrt(mean @ mean), 1e-12)
        # Each half has the length of half a square, so that the whole has the length 1.
        both = np.concatenate([np.array(small, np.float32), unit]) / np.float32(math.sqrt(2))
        return array("f", both.tobytes())


def weights_path() -> Path:
    """Return where this copy of Keepsake keeps the weights."""
    return places().models / FILE


def is_fetched() -> bool:
    """Return whether this copy of Keepsake has the weights."""
    return weights_path().is_file()


def not_fetched() -> ModelMissing:
    """Return the error for missing weights, with the cure."""
    return ModelMissing(f"The weights of {MPNET} have not been fetched", f"First: {FETCH}")


def _session(path: Path) -> Any:
    """Load the model.

    Raises:
        ModelMissing: The weights are missing or damaged.
    """
    if not path.is_file():
        raise not_fetched()
    try:
        return session_of(str(path))
    except Exception as error:  # onnxruntime's own exceptions have no common base class
        cure = f"Delete it, then: {FETCH}"
        raise ModelMissing(f"{path} cannot be loaded ({error})", cure) from error
