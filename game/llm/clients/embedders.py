"""Embedders on model servers, over :class:`game.mind.ports.Embedder`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from game.llm.clients.http import JsonServer, ServerWords, shown
from game.llm.clients.ollama import CLIENT_FAILURES, client, named, ollama_host, words
from game.llm.clients.openai import api_key
from game.mind.errors import BadAnswer


class OllamaEmbedder:
    """Embeds by Ollama's ``/api/embed``. Safe to use from several threads.

    Args:
        model: An embedding model, such as ``nomic-embed-text``.
        host: Base address; empty for ``OLLAMA_HOST`` or Ollama's own default.
        time_limit: Seconds one batch may take.
    """

    def __init__(self, model: str, host: str = "", *, time_limit: float = 60.0) -> None:
        self._model = model
        self._time_limit = time_limit
        address = ollama_host(host, os.environ)
        self._server = words(address, model)
        self._client = client(address, time_limit)

    @property
    def model_name(self) -> str:
        """The model's name, after its provider."""
        return f"ollama:{self._model}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text; blocks.

        Raises:
            ModelError: With the cure in its message.
        """
        if not texts:
            return []
        try:
            answer = self._client.embed(model=self._model, input=list(texts))
        except CLIENT_FAILURES as error:
            raise named(error, self._server, self._time_limit) from error
        return checked([list(vector) for vector in answer.embeddings], len(texts), self._server)

    def close(self) -> None:
        """Close the kept connections."""
        self._client.close()  # type: ignore[no-untyped-call]  # it has no annotations


class OpenAIEmbedder:
    """Embeds by ``/v1/embeddings``. Safe to use from several threads.

    Args:
        model: The model's name there.
        host: Base address, with or without ``/v1``.
        key: API key; None for the environment's.
        time_limit: Seconds one batch may take.
    """

    def __init__(
        self, model: str, host: str, *, key: str | None = None, time_limit: float = 60.0
    ) -> None:
        key = key or api_key()
        self._model = model
        self._server = ServerWords(
            f"The embedding server at {shown(host)}",
            "Start the server, or correct its host",
            f"Load {model!r} there, or correct the model's name",
            key or "",
        )
        self._http = JsonServer(host, self._server, time_limit)

    @property
    def model_name(self) -> str:
        """The model's name, after its provider."""
        return f"openai:{self._model}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text; blocks.

        Raises:
            ModelError: With the cure in its message.
        """
        if not texts:
            return []
        body = {"model": self._model, "input": list(texts)}
        rows = self._http.call("POST", "/v1/embeddings", body).get("data")
        return checked(_vectors(rows), len(texts), self._server)

    def close(self) -> None:
        """Close the kept connections."""
        self._http.close()


def _vectors(rows: Any) -> list[list[float]]:
    """The vectors in the order of the texts, which the protocol does not promise."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return []
    ordered = sorted(rows, key=lambda row: int(row.get("index", 0)))
    return [row.get("embedding") or [] for row in ordered]


def checked(vectors: list[list[float]], wanted: int, server: ServerWords) -> list[list[float]]:
    """The vectors, when there is one a text and all are of one dimension.

    Raises:
        BadAnswer: They are not.
    """
    sizes = {len(vector) for vector in vectors}
    if len(vectors) != wanted or len(sizes) != 1 or 0 in sizes:
        raise BadAnswer(
            f"{server.name} sent {len(vectors)} vectors for {wanted} texts,"
            f" of {sorted(sizes)} numbers",
            "Use a model that is made for embeddings",
        )
    return vectors
