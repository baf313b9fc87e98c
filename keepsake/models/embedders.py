"""What embeds texts, as the section ``embedder`` of ``llm.md`` says; and what keeps vectors.

What was embedded once is not embedded again, whoever asks: a line that is said is a question of
its hearers, and in the end a memory of each of them.
"""

from __future__ import annotations

import math
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from keepsake.errors import BadAnswer
from keepsake.markdown_config import ConfigSection, between, one_of, parse
from keepsake.models.http import JsonServer, ServerWords, named_errors, shown
from keepsake.models.ollama import connected, ollama_host, words
from keepsake.models.openai import api_key
from keepsake.models.profiles import EMBEDDED, EMBEDDER, OLLAMA, OPENAI, host_of, require_server
from keepsake.ports import Embedder

MOST_KEPT = 32_768
"""A hundred for each of three hundred agents who talk: 57 MB at 384 numbers each."""
WHOLE_BATCH = 32
"""A request for this many makes an index anew: its texts are asked for once, and would push out
what is asked for again and again."""


@dataclass(frozen=True, slots=True)
class EmbedderProfile:
    """Which model embeds texts."""

    provider: str = one_of(EMBEDDED, (EMBEDDED, OLLAMA, OPENAI))  # ``embedded``: MiniLM, here
    host: str = ""  # base address of the server; empty for the provider's own default
    model: str = ""  # the model's name there; ``embedded`` has its own
    # seconds that one batch may take
    time_limit: float = between(60.0, low=0.1, high=3600.0)


def load_embedder(path: Path) -> EmbedderProfile:
    """Read the section ``embedder``; what it does not name keeps its default.

    Raises:
        ConfigError: The file cannot be read, or a value cannot be used.
    """
    for section in parse(path):
        if section.name.lower() == EMBEDDER:
            return _profile(section)
    return EmbedderProfile()


def embedder(profile: EmbedderProfile) -> Embedder:
    """What the profile names; connects to nothing and loads nothing yet."""
    if profile.provider == OLLAMA:
        return ollama_embedder(profile.model, profile.host, time_limit=profile.time_limit)
    if profile.provider == OPENAI:
        return openai_embedder(profile.model, profile.host, time_limit=profile.time_limit)
    # Here, as a process that does not embed need not load what it runs on.
    from keepsake.models.minilm import MiniLMEmbedder  # noqa: PLC0415

    return MiniLMEmbedder()


def _profile(section: ConfigSection) -> EmbedderProfile:
    settings = fields(EmbedderProfile)
    section = section.only(each.name for each in settings)
    plain = {each.name: section.value(each) for each in settings if each.name != "host"}
    profile = EmbedderProfile(host=host_of(section), **plain)
    require_server(section, profile.provider, profile.model, profile.host)
    return profile


# -- on model servers


class ServerEmbedder:
    """Embeds by a model server. Safe to use from several threads.

    Args:
        model_name: The model's name, after its provider.
        server: How errors speak of it.
        ask: Gives the vectors of texts, as the server sent them; raises ModelError.
        close: Closes the kept connections.
    """

    def __init__(
        self,
        model_name: str,
        server: ServerWords,
        ask: Callable[[Sequence[str]], Any],
        close: Callable[[], None],
    ) -> None:
        self.model_name, self.close = model_name, close
        self._server, self._ask = server, ask

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of length 1 a text; blocks.

        Raises:
            ModelError: With the cure in its message.
        """
        if not texts:
            return []
        try:
            vectors = [[float(number) for number in each] for each in self._ask(texts)]
        except (TypeError, ValueError, KeyError, AttributeError):
            vectors = []
        sizes = {len(vector) for vector in vectors}
        if len(vectors) != len(texts) or len(sizes) != 1 or 0 in sizes:
            raise BadAnswer(
                f"{self._server.name} sent {len(vectors)} vectors for {len(texts)} texts,"
                f" of {sorted(sizes)} numbers",
                "Use a model that is made for embeddings",
            )
        return [_unit(vector) for vector in vectors]


def ollama_embedder(model: str, host: str = "", *, time_limit: float = 60.0) -> ServerEmbedder:
    """Embeds by Ollama; an empty ``host`` is that of ``OLLAMA_HOST`` or Ollama's own default."""
    address = ollama_host(host)
    server = words(address, model)
    client = connected(address, server)

    def ask(texts: Sequence[str]) -> Any:
        with named_errors(server, time_limit):
            return client.embed(model, list(texts)).embeddings

    return ServerEmbedder(f"ollama:{model}", server, ask, client.close)


def openai_embedder(model: str, host: str, *, time_limit: float = 60.0) -> ServerEmbedder:
    """Embeds by ``/v1/embeddings``, with the environment's key."""
    server = ServerWords(
        f"The embedding server at {shown(host)}",
        "Start the server, or correct its host",
        f"Load {model!r} there, or correct the model's name",
        api_key() or "",
    )
    http = JsonServer(host, server, time_limit)

    def ask(texts: Sequence[str]) -> Any:
        rows = http.call("POST", "/v1/embeddings", {"model": model, "input": list(texts)})["data"]
        # Its protocol does not promise the order of the texts.
        return [row["embedding"] for row in sorted(rows, key=lambda row: row.get("index", 0))]

    return ServerEmbedder(f"openai:{model}", server, ask, http.close)


def _unit(vector: Sequence[float]) -> list[float]:
    """Of length 1, which some servers leave to whoever asks."""
    length = math.hypot(*vector) or 1.0
    return [number / length for number in vector]


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
