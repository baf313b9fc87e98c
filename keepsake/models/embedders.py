"""Embedders, chosen by the section ``embedder`` of ``llm.md``, and a cache of their vectors.

The cache embeds each text once for all agents: a spoken line is a search query of every agent that
hears it, and later a memory of each of them.
"""

from __future__ import annotations

import math
import threading
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import batched
from pathlib import Path

from cachetools import LRUCache

from keepsake.errors import BadAnswer, KeepsakeError, ModelMissing, PromptTooLong
from keepsake.language.languages import ENGLISH, is_english
from keepsake.logs import Subsystem, get_logger
from keepsake.markdown_config import parse
from keepsake.models.http import JsonServer, ServerTexts, redacted
from keepsake.models.local import e5, mpnet
from keepsake.models.local.base import LocalEmbedder
from keepsake.models.local.e5 import E5, E5Embedder
from keepsake.models.local.minilm import MINILM, MiniLMEmbedder
from keepsake.models.local.mpnet import MPNET, MpnetEmbedder
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
from keepsake.ports import (
    PROBE,
    Embedder,
    as_word_embedder,
    is_same_model,
    likens_questions,
)

log = get_logger(Subsystem.EMBEDDING)

_PROVIDERS = (AUTO, EMBEDDED, OLLAMA, OPENAI)
"""Providers of embeddings; ``embedded`` is a model in this process."""
_LOCAL: Mapping[str, Callable[[], LocalEmbedder]] = {
    MINILM: MiniLMEmbedder,
    E5: E5Embedder,
    MPNET: MpnetEmbedder,
}
"""The models of ``embedded``; the first is the default."""
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


def load_embedder(
    path: Path, found: FoundModel = NOTHING_FOUND, language: str = ENGLISH
) -> Embedder:
    """Create the embedder that a file names; does not connect or load anything yet.

    ``auto`` uses a multilingual embedder of Ollama if there is one. Else it is MiniLM for a world
    in English, and multilingual-e5-small for another, if that is installed.

    Args:
        found: The model that was detected on this machine.
        language: The world's, as in Django's ``LANGUAGE_CODE``.

    Raises:
        ConfigError: The file cannot be read, or a value cannot be used.
    """
    own = ModelProfile(EMBEDDER)
    for section in parse(path):
        if section.name.lower() == EMBEDDER:
            own = profile_of(section)
            if own.provider not in _PROVIDERS:
                raise section.refuse("provider", f"{own.provider} has no embedding models")
            known = own.model in _LOCAL or not own.model or _folder(own.model) is not None
            if own.provider == EMBEDDED and not known:
                cure = f"Write {' or '.join(_LOCAL)}, or a folder with a model"
                raise section.refuse("model", f"embedded has no model {own.model!r}", cure)
    if own.provider == AUTO and found.embedder:
        own = replace(own, provider=found.provider, host=found.host, model=found.embedder)
    if own.provider == AUTO:
        fits = e5.is_installed() and not is_english(language)
        return E5Embedder() if fits else MiniLMEmbedder()
    if own.provider != EMBEDDED:
        return ServerEmbedder(own)
    folder = _folder(own.model)
    return MiniLMEmbedder(folder) if folder else _LOCAL[own.model or MINILM]()


def _folder(name: str) -> Path | None:
    """Return the folder that a name is, with ``model.onnx`` and ``tokenizer.json``; else None."""
    folder = Path(name).expanduser()
    return folder if name not in _LOCAL and name and folder.is_dir() else None


def unfit(embedder: Embedder, language: str) -> KeepsakeError | None:
    """Return why an embedder does not know the world's language, with the cure; None if it may."""
    shipped = isinstance(embedder, MiniLMEmbedder) and embedder.shipped
    if is_english(language) or not shipped:
        return None
    what = f"The world's language is {language}, and {MINILM} knows only English"
    return KeepsakeError(f"{what}: recall finds little by meaning", f"{e5.INSTALL}, then reload")


def named_embedder(name: str, threads: int = 1) -> Embedder | None:
    """Create the embedder that a command line names; does not connect or load anything yet.

    Args:
        name: ``embedded``, ``embedded:MODEL``, ``none``, ``ollama:MODEL@HOST``,
            ``openai:MODEL@HOST``, or a folder with ``model.onnx`` and ``tokenizer.json``.
        threads: How many texts MiniLM, or the model in a folder, embeds at once.

    Raises:
        ModelMissing: The name is none of these, or the model is not installed.
    """
    provider, _, rest = name.partition(":")
    model, _, host = rest.partition("@")
    if name == "none":
        return None
    if provider == EMBEDDED and (rest or MINILM) in _LOCAL:
        if rest == E5 and not e5.is_installed():
            raise e5.not_installed()
        if rest == MPNET and not mpnet.is_fetched():
            raise mpnet.not_fetched()
        if rest == MPNET:
            return MpnetEmbedder(threads=threads)
        return E5Embedder() if rest == E5 else MiniLMEmbedder(threads=threads)
    if provider in (OLLAMA, OPENAI) and model and (host or provider == OLLAMA):
        profile = replace(ModelProfile(EMBEDDER), provider=provider, model=model, host=host)
        return ServerEmbedder(profile)
    if folder := _folder(name):
        return MiniLMEmbedder(folder, threads)
    cure = (
        f"Write embedded, embedded:{E5}, embedded:{MPNET}, none, ollama:MODEL@HOST, "
        "openai:MODEL@HOST or a folder with a model"
    )
    raise ModelMissing(f"There is no embedder {name!r}", cure)


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
        self.likens_questions = likens_questions(embedder)
        self._ask = embedder.embed
        self._forget: Callable[[], object] = getattr(embedder, "forget", lambda: None)
        if (words := as_word_embedder(embedder)) is not None:
            self.embed_words = words.embed_words  # not kept: they are many times a text's vector
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

    def forget(self) -> None:
        """Empty the cache, and that of the embedder if it has one."""
        with self._lock:
            self._kept.clear()
        self._forget()

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
