"""What embeds texts, as the section ``embedder`` of ``llm.md`` says; and what keeps vectors.

What was embedded once is not embedded again, whoever asks: a line that is said is a question of
its hearers, and in the end a memory of each of them.
"""

from __future__ import annotations

import math
import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from keepsake.errors import BadAnswer
from keepsake.markdown_config import between, one_of, parse
from keepsake.models.http import JsonServer, ServerWords, shown
from keepsake.models.ollama import ollama_host, words
from keepsake.models.openai import api_key
from keepsake.models.profiles import (
    AUTO,
    EMBEDDED,
    EMBEDDER,
    OLLAMA,
    OPENAI,
    STOPGAP,
    FoundModel,
    host_of,
    require_server,
)
from keepsake.ports import Embedder

MOST_KEPT = 32_768
"""A hundred for each of three hundred agents who talk: 57 MB at 384 numbers each."""
WHOLE_BATCH = 32
"""A request for this many makes an index anew: its texts are asked for once, and would push out
what is asked for again and again."""


@dataclass(frozen=True, slots=True)
class EmbedderProfile:
    """Which model embeds texts."""

    # ``embedded``: MiniLM, here; ``auto``: Ollama's, if it has one for many languages
    provider: str = one_of(EMBEDDED, (AUTO, EMBEDDED, OLLAMA, OPENAI))
    host: str = ""  # base address of the server; empty for the provider's own default
    model: str = ""  # the model's name there; ``embedded`` has its own
    # seconds that one batch may take
    time_limit: float = between(60.0, low=0.1, high=3600.0)


def load_embedder(path: Path, found: FoundModel = STOPGAP) -> EmbedderProfile:
    """Read the section ``embedder``; what it does not name keeps its default.

    ``found``: What was found on this machine, for ``provider: auto``.

    Raises:
        ConfigError: The file cannot be read, or a value cannot be used.
    """
    settings = fields(EmbedderProfile)
    for section in parse(path):
        if section.name.lower() != EMBEDDER:
            continue
        own = section.only(each.name for each in settings)
        plain = {each.name: own.value(each) for each in settings if each.name != "host"}
        profile = EmbedderProfile(host=host_of(own), **plain)
        require_server(section, profile.provider, profile.model, profile.host)
        if profile.provider == AUTO:
            if not found.embedder:
                return replace(profile, provider=EMBEDDED)
            return replace(profile, provider=found.provider, host=found.host, model=found.embedder)
        return profile
    return EmbedderProfile()


def embedder(profile: EmbedderProfile) -> Embedder:
    """What the profile names; connects to nothing and loads nothing yet."""
    if profile.provider != EMBEDDED:
        return ServerEmbedder(profile)
    # Here, as a process that does not embed need not load what it runs on.
    from keepsake.models.minilm import MiniLMEmbedder  # noqa: PLC0415

    return MiniLMEmbedder()


class ServerEmbedder:
    """Embeds by ``/v1/embeddings``, which Ollama has as well. Safe to use from several threads."""

    def __init__(self, profile: EmbedderProfile) -> None:
        self.model_name, self._model = f"{profile.provider}:{profile.model}", profile.model
        host = profile.host
        if profile.provider == OLLAMA:
            host = ollama_host(host)
            server = words(host, profile.model)
        else:
            server = ServerWords(
                f"The embedding server at {shown(host)}",
                "Start the server, or correct its host",
                f"Load {profile.model!r} there, or correct the model's name",
                api_key() or "",
            )
        self._http = JsonServer(host, server, profile.time_limit)
        self.close = self._http.close

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of length 1 a text; blocks.

        Raises:
            ModelError: With the cure in its message.
        """
        if not texts:
            return []
        body = {"model": self._model, "input": list(texts)}
        said = self._http.call("POST", "/v1/embeddings", body)
        try:  # its protocol does not promise the order of the texts
            rows = sorted(said["data"], key=lambda row: row.get("index", 0))
            vectors = [[float(number) for number in row["embedding"]] for row in rows]
        except (TypeError, ValueError, KeyError, AttributeError):
            vectors = []
        sizes = {len(vector) for vector in vectors}
        if len(vectors) != len(texts) or len(sizes) != 1 or 0 in sizes:
            raise BadAnswer(
                f"{self._http.words.name} sent {len(vectors)} vectors for {len(texts)} texts,"
                f" of {sorted(sizes)} numbers",
                "Use a model that is made for embeddings",
            )
        # Of length 1, which some servers leave to whoever asks.
        lengths = [math.hypot(*vector) or 1.0 for vector in vectors]
        pairs = zip(vectors, lengths, strict=True)
        return [[number / length for number in vector] for vector, length in pairs]


# -- vectors that are kept


class CachedEmbedder:
    """An embedder that keeps the vectors it gave last, in single precision. Safe in any thread."""

    def __init__(self, embedder: Embedder, most: int = MOST_KEPT) -> None:
        self._embedder, self._most = embedder, most
        self.close = embedder.close
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, array[float]] = OrderedDict()

    @property
    def model_name(self) -> str:
        """The name of the model."""
        return self._embedder.model_name

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector a text; blocks.

        Raises:
            ModelError: As the embedder does; the next one to ask tries again.
        """
        if len(texts) >= WHOLE_BATCH:
            return list(self._embedder.embed(texts))
        with self._lock:  # who hears the same line meanwhile finds its vector kept
            new = [text for text in dict.fromkeys(texts) if text not in self._kept]
            vectors = self._embedder.embed(new) if new else ()
            self._kept |= {t: array("f", each) for t, each in zip(new, vectors, strict=True)}
            found: list[Sequence[float]] = [self._kept[text] for text in texts]
            for text in texts:
                self._kept.move_to_end(text)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found
