"""Embedders on model servers, over :class:`keepsake.ports.Embedder`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from keepsake.errors import BadAnswer
from keepsake.models.clients.http import JsonServer
from keepsake.models.clients.ollama import asked, connected, ollama_host, words
from keepsake.models.clients.openai import api_key
from keepsake.models.clients.refusals import ServerWords, shown


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
        with asked(server, time_limit):
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
