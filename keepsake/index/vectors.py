"""Keeps what documents mean: Chroma, a collection an agent.

Searches go to the copy in the agent's own file (:mod:`keepsake.index.state`).

Always through Chroma's server, never its ``PersistentClient``: that one holds the
interpreter's lock for the whole of every ``add``, and the game would stutter.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from keepsake.errors import IndexUnavailable
from keepsake.recall.documents import Document, DocumentKind

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection as ChromaCollection

CALL_SECONDS = 10.0
_LOOPBACK = ("127.0.0.1", "localhost")
_SYNC_THRESHOLD = 40
"""Rows after which Chroma moves a collection's write-ahead log into its graph. Each call scans the
logs of all collections, and Chroma's default lets each grow to 1,000 rows."""
_SYNC: Any = {"sync_threshold": _SYNC_THRESHOLD, "batch_size": _SYNC_THRESHOLD // 2}
_COSINE: Any = {"hnsw": {"space": "cosine", **_SYNC}}
_PAGE = 500
"""Vectors that are read from Chroma at a time."""


class Chroma:
    """The way to one Chroma server; connects when it is first used, from any thread.

    Args:
        address: ``http://host:port``.
        before_drop: Called before a collection is deleted.
    """

    def __init__(self, address: str, before_drop: Callable[[], None] = lambda: None) -> None:
        self.address, self._before_drop = address, before_drop
        self._lock = threading.Lock()
        self._client: ClientAPI | None = None

    def client(self) -> ClientAPI:
        """Chroma's own client; the first call imports it, which takes a second or two.

        Raises:
            IndexUnavailable: The server does not answer.
        """
        with self._lock:
            if self._client is None:
                with named(self.address):
                    self._client = _connect(self.address)
            return self._client

    def check(self) -> str:
        """The server's version.

        Raises:
            IndexUnavailable: It does not answer.
        """
        with named(self.address):
            return f"Chroma {self.client().get_version()}"

    def collections_of(self, owner: Mapping[str, str]) -> list[str]:
        """Names of the collections whose metadata say all that ``owner`` says."""
        with named(self.address):
            return [
                found.name
                for found in self.client().list_collections()
                if owner.items() <= (found.metadata or {}).items()
            ]

    def drop(self, name: str) -> None:
        """Delete a collection; one that is not there does no harm."""
        from chromadb.errors import NotFoundError  # noqa: PLC0415 - see client()

        self._before_drop()
        with named(self.address):
            try:
                self.client().delete_collection(name)
            except NotFoundError:
                return

    def close(self) -> None:
        """Let go of the connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            _close(client)


class CollectionMissing(IndexUnavailable):
    """The collection was deleted; the index must be made anew."""


class ChromaVectors:
    """One collection of a server."""

    def __init__(self, chroma: Chroma, name: str) -> None:
        self.name = name
        self._chroma = chroma
        self._collection: ChromaCollection | None = None

    def create(self, metadata: Mapping[str, str | int]) -> None:
        """Make the collection; ``metadata`` say whose it is and of which model."""
        with named(self._chroma.address):
            self._collection = self._chroma.client().get_or_create_collection(
                self.name,
                configuration=_COSINE,
                metadata=dict(metadata),
                embedding_function=None,
            )

    def count(self) -> int:
        """How many documents it holds.

        Raises:
            CollectionMissing: There is no such collection.
        """
        with named(self._chroma.address):
            return self._there().count()

    def add(self, documents: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        """Add documents with their vectors; one with a known key replaces the old one."""
        if not documents:
            return
        with named(self._chroma.address):
            self._there().upsert(
                ids=[document.key for document in documents],
                embeddings=_rows(vectors),
                metadatas=[metadata(document) for document in documents],
            )

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents; unknown keys do no harm."""
        if not keys:
            return
        with named(self._chroma.address):
            self._there().delete(ids=list(keys))

    def pages(self) -> Iterator[tuple[list[str], Any]]:
        """All keys with their vectors, some hundred at a time.

        Raises:
            CollectionMissing: There is no such collection.
        """
        offset = 0
        while True:
            with named(self._chroma.address):
                got = self._there().get(limit=_PAGE, offset=offset, include=["embeddings"])
            if not got["ids"]:
                return
            yield got["ids"], got["embeddings"]
            offset += len(got["ids"])

    def _there(self) -> ChromaCollection:
        if self._collection is None:
            found = self._chroma.client().get_collection(self.name, embedding_function=None)
            _lower_sync_threshold(found)
            self._collection = found
        return self._collection


def _lower_sync_threshold(collection: ChromaCollection) -> None:
    """Configure a collection that an earlier version made; effective when Chroma next starts."""
    kept: Any = (collection.configuration_json or {}).get("hnsw")
    if not kept or kept.get("sync_threshold") == _SYNC_THRESHOLD:
        return
    changed: Any = {"hnsw": _SYNC}
    with contextlib.suppress(Exception):  # a remote server may refuse; it is only slower then
        collection.modify(configuration=changed)


def metadata(document: Document) -> dict[str, str | int]:
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


@contextmanager
def named(address: str) -> Iterator[None]:
    """What goes wrong with a Chroma server, as errors of ours.

    Raises:
        CollectionMissing: What was asked for is not there.
        IndexUnavailable: The server does not answer, or refuses.
    """
    from chromadb.errors import ChromaError, NotFoundError  # noqa: PLC0415 - takes a second

    try:
        yield
    except NotFoundError as error:
        raise CollectionMissing(
            f"Chroma at {address} has lost a collection ({error})",
            "It is made anew in the background",
        ) from error
    # Its client raises ValueError for a server that does not answer, and what httpx raises.
    except (ChromaError, httpx.HTTPError, ValueError, OSError) as error:
        raise IndexUnavailable(
            f"Chroma at {address} cannot be asked ({str(error)[:200] or type(error).__name__})",
            "Recall goes on with words; see `keepsake doctor` and `keepsake logs vectors`",
        ) from error


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
        # A new object each time: clients write into it.
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
    missing = [name for name in _LOOPBACK if name not in names]
    if missing:
        os.environ["no_proxy"] = ",".join([*names, *missing])


def _close(client: Any) -> None:
    """Close what HttpClient gives; its own ``close`` leaves the connections open."""
    sessions = [_session(client), _session(getattr(client, "_admin_client", None))]
    client.close()
    for session in sessions:
        if session is not None:
            session.close()


def _session(client: Any) -> httpx.Client | None:
    """What it sends its requests with; None should a later version keep that elsewhere."""
    found = getattr(getattr(client, "_server", None), "_session", None)
    return found if isinstance(found, httpx.Client) else None


def _rows(vectors: Sequence[Sequence[float]]) -> Any:
    """As Chroma wants them: single precision, which its type hints have no word for."""
    return list(np.asarray(vectors, dtype=np.float32))
