"""Embedders on model servers, over :class:`keepsake.ports.Embedder`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from keepsake.errors import BadAnswer
from keepsake.models.clients.base import Server
from keepsake.models.clients.http import JsonServer, ServerWords, shown
from keepsake.models.clients.ollama import OllamaServer, ollama_host
from keepsake.models.clients.openai import api_key


class ServerEmbedder:
    """Embeds by one path of a model server. Safe to use from several threads.

    Attributes:
        model_name: The model's name, after its provider.
    """

    def __init__(self, name: str, model: str, path: str, http: Server) -> None:
        self.model_name = name
        self._model, self._path, self._http = model, path, http

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of length 1 a text; blocks.

        Raises:
            ModelError: With the cure in its message.
        """
        if not texts:
            return []
        body = {"model": self._model, "input": list(texts)}
        vectors = _vectors(self._http.call("POST", self._path, body))
        sizes = {len(vector) for vector in vectors}
        if len(vectors) != len(texts) or len(sizes) != 1 or 0 in sizes:
            raise BadAnswer(
                f"{self._http.words.name} sent {len(vectors)} vectors for {len(texts)} texts,"
                f" of {sorted(sizes)} numbers",
                "Use a model that is made for embeddings",
            )
        return [_unit(vector) for vector in vectors]

    def close(self) -> None:
        """Close the kept connections."""
        self._http.close()


def ollama_embedder(model: str, host: str = "", *, time_limit: float = 60.0) -> ServerEmbedder:
    """Embeds by Ollama; without a host by that of ``OLLAMA_HOST`` or Ollama's own default."""
    http = OllamaServer(ollama_host(host), model, time_limit)
    return ServerEmbedder(f"ollama:{model}", model, "/api/embed", http)


def openai_embedder(model: str, host: str, *, time_limit: float = 60.0) -> ServerEmbedder:
    """Embeds by ``/v1/embeddings``, with the environment's key."""
    server = ServerWords(
        f"The embedding server at {shown(host)}",
        "Start the server, or correct its host",
        f"Load {model!r} there, or correct the model's name",
        api_key() or "",
    )
    http = JsonServer(host, server, time_limit)
    return ServerEmbedder(f"openai:{model}", model, "/v1/embeddings", http)


def _vectors(body: Mapping[str, Any]) -> list[list[float]]:
    """The vectors, OpenAI's in the order of the texts, which its protocol does not promise."""
    found = body.get("embeddings")
    rows = body.get("data")
    if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
        ordered = sorted(rows, key=lambda row: int(row.get("index", 0)))
        found = [row.get("embedding") for row in ordered]
    return [each for each in found if _is_vector(each)] if isinstance(found, list) else []


def _is_vector(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(each, int | float) for each in found)


def _unit(vector: Sequence[float]) -> list[float]:
    """Of length 1, which some servers leave to whoever asks."""
    length = math.hypot(*vector) or 1.0
    return [number / length for number in vector]
