"""The vectors: one collection an agent, in a Chroma server that is asked over HTTP.

Chroma's ``where`` scans the metadata of all rows (60 ms of 10,000; a query without it takes 3 ms),
so a query brings the nearest documents of all kinds. Never its ``PersistentClient``: that one
holds the interpreter's lock for the whole of every ``add``, and the game would stutter.
"""

from __future__ import annotations

import hashlib
import os
import threading
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from keepsake.errors import IndexUnavailable
from keepsake.paths import Places
from keepsake.recall.documents import Document, DocumentKind

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection as ChromaCollection

CALL_SECONDS = 10.0
_LOOPBACK = ("127.0.0.1", "localhost")
_HNSW: Any = {
    "space": "cosine",
    "ef_search": 200,
    "ef_construction": 200,
    "max_neighbors": 32,
    "sync_threshold": 40,
    "batch_size": 20,
}
"""Rows that are not in the graph yet are scanned by each query: by default up to 1,000 of them."""
_PROBED = 50
"""So many rows are asked for to see whether the graph holds what the database counts."""
_DAMAGE = ("malformed", "not a database")


class CollectionUnusable(IndexUnavailable):
    """A collection is gone, of another dimension, or its graph is broken: it must be made anew."""


class StoreDamaged(IndexUnavailable):
    """The server's database is broken."""


class Chroma:
    """The way to one Chroma server; connects when it is first used, from any thread.

    Args:
        address: ``http://host:port``.
        places: Folders of this copy: a server may hold collections of others too.
        dropping: Called before collections are deleted.
    """

    def __init__(
        self, address: str, places: Places, dropping: Callable[[], None] = lambda: None
    ) -> None:
        self.address, self._dropping = address, dropping
        self._home = hashlib.sha256(os.fsencode(places.home)).hexdigest()[:16]
        self._lock = threading.Lock()
        self._client: ClientAPI | None = None

    def client(self) -> ClientAPI:
        """Chroma's own client; the first call imports it, which takes a second or two.

        Raises:
            IndexUnavailable: The server does not answer.
        """
        with self._lock:
            if self._client is None:
                with self.errors():
                    self._client = _connect(self.address)
            return self._client

    def check(self) -> str:
        """The server's version.

        Raises:
            IndexUnavailable: It does not answer.
        """
        with self.errors():
            return f"Chroma {self.client().get_version()}"

    def create(self, agent: str, model: str) -> str:
        """An empty collection for an agent, whose others are deleted; its name."""
        owner, name = {"home": self._home, "agent": agent}, f"agent-{uuid.uuid4().hex}"
        with self.errors():
            for found in self.client().list_collections():
                if owner.items() <= (found.metadata or {}).items():
                    self._dropping()
                    self.client().delete_collection(found.name)
            self.client().create_collection(
                name,
                configuration={"hnsw": _HNSW},
                metadata=owner | {"model": model},
                embedding_function=None,
            )
        return name

    def open(self, name: str) -> AgentVectors:
        """A collection.

        Raises:
            CollectionUnusable: There is none of that name.
        """
        with self.errors():
            return AgentVectors(
                self, self.client().get_collection(name or "none", embedding_function=None)
            )

    def close(self) -> None:
        """Let go of the connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            _close(client)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """What goes wrong with the server, as errors of ours.

        Raises:
            CollectionUnusable: A collection must be made anew.
            StoreDamaged: The server's database is broken.
            IndexUnavailable: The server does not answer, or refuses.
        """
        from chromadb.errors import ChromaError, NotFoundError  # noqa: PLC0415 - takes a second

        try:
            yield
        # Its client raises ValueError for a server that does not answer, and AttributeError when it
        # was just closed.
        except (ChromaError, httpx.HTTPError, ValueError, OSError, AttributeError) as error:
            text = str(error)[:200] or type(error).__name__
            kind = IndexUnavailable
            if any(each in text for each in _DAMAGE):
                kind = StoreDamaged
            elif isinstance(error, NotFoundError) or "hnsw" in text or "dimension" in text:
                kind = CollectionUnusable
            raise kind(
                f"Chroma at {self.address} cannot be asked ({text})",
                "Recall goes on with words; see `keepsake doctor` and `keepsake logs vectors`",
            ) from error


class AgentVectors:
    """The vectors of one agent. Any thread may search."""

    def __init__(self, chroma: Chroma, collection: ChromaCollection) -> None:
        self._chroma, self._collection = chroma, collection
        self.model = str((collection.metadata or {}).get("model", ""))

    def count(self) -> int:
        """How many there are, once it is sure that the graph holds them.

        Raises:
            CollectionUnusable: It does not.
        """
        with self._chroma.errors():
            one = self._collection.get(limit=1, include=["embeddings"])
            if not one["ids"]:
                return 0
            count = self._collection.count()
            asked = min(count, _PROBED)
            near = self._collection.query(one["embeddings"], n_results=asked, include=[])
        if len(near["ids"][0]) < asked:
            raise CollectionUnusable(f"Chroma has lost the graph of {self._collection.name}")
        return count

    def query(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Keys and cosine similarities of the nearest documents, best first."""
        asked: Any = [np.asarray(vector, dtype=np.float32)]
        with self._chroma.errors():
            got = self._collection.query(asked, n_results=limit, include=["distances"])
        distances = (got["distances"] or [[]])[0]
        return [(key, 1.0 - far) for key, far in zip(got["ids"][0], distances, strict=True)]

    def add(self, documents: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        """Add documents with their vectors; one with a known key replaces the old one."""
        # Single precision, which Chroma's type hints have no word for.
        rows: Any = list(np.asarray(vectors, dtype=np.float32))
        with self._chroma.errors():
            self._collection.upsert(
                ids=[document.key for document in documents],
                embeddings=rows,
                metadatas=[_metadata(document) for document in documents],
            )

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents; unknown keys do no harm."""
        with self._chroma.errors():
            self._collection.delete(ids=list(keys))


def _metadata(document: Document) -> dict[str, str | int]:
    """What Chroma keeps beside a vector."""
    data: dict[str, str | int] = {
        "type": document.kind.value,
        "timestamp": document.time.isoformat(),
    }
    if document.kind is DocumentKind.NOTE:
        return data | {"title": document.title, "place": document.place}
    data |= {"memory_range_start": document.first, "memory_range_end": document.last}
    if document.kind is DocumentKind.SUMMARY:
        data["summary_text"] = document.text
    return data


def _connect(address: str) -> ClientAPI:
    # Imported here as it takes a second or two, which nobody should wait for who needs no Chroma.
    import chromadb  # noqa: PLC0415
    from chromadb.config import Settings  # noqa: PLC0415

    url = urlsplit(address)
    if url.hostname in _LOOPBACK:
        _spare_the_proxy()
    client = chromadb.HttpClient(
        host=url.hostname or "127.0.0.1",
        port=url.port or (443 if url.scheme == "https" else 80),
        ssl=url.scheme == "https",
        settings=Settings(anonymized_telemetry=False),
    )
    # Its own client waits for ever, and has no setting for that.
    if (session := _session(client)) is not None:
        session.timeout = httpx.Timeout(CALL_SECONDS)
    return client


def _spare_the_proxy() -> None:
    """Have nothing for this machine sent through the proxy that the environment names.

    Chroma's client asks while it is made, and has no setting for that.
    """
    spared = os.environ.get("no_proxy") or os.environ.get("NO_PROXY", "")
    names = [name for name in map(str.strip, spared.split(",")) if name]
    os.environ["no_proxy"] = ",".join([*names, *(n for n in _LOOPBACK if n not in names)])


def _close(client: Any) -> None:
    """Close what HttpClient gives; its own ``close`` leaves the connections open."""
    sessions = [_session(client), _session(getattr(client, "_admin_client", None))]
    with suppress(AttributeError):
        client.close()
    for session in filter(None, sessions):
        session.close()


def _session(client: Any) -> httpx.Client | None:
    """What it sends its requests with; None should a later version keep that elsewhere."""
    found = getattr(getattr(client, "_server", None), "_session", None)
    return found if isinstance(found, httpx.Client) else None
