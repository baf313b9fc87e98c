"""The vectors: one collection per agent, in a Chroma server that is used over its HTTP API.

Chroma's own client takes two seconds to import and adds a millisecond to each query, and its
``PersistentClient`` holds the GIL during every ``add``. httpx takes half a millisecond more than
urllib3. Chroma's ``where`` scans the metadata of all rows (60 ms for 10,000 rows; a query without
it takes 3 ms), so a query returns the nearest documents of all kinds.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import sqlite3
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import batched
from struct import pack
from typing import Any
from urllib.parse import urlsplit

from urllib3 import connection_from_url
from urllib3.exceptions import HTTPError, ReadTimeoutError

from keepsake.errors import IndexUnavailable
from keepsake.paths import Places, read_or_create
from keepsake.recall.documents import Document, DocumentKind, passage_key
from keepsake.recall.stores import Made, VectorsSilent, VectorsUnusable

CALL_SECONDS = 10.0
"""Seconds after which a request to Chroma is given up."""
_CONNECTIONS = 32
"""The most connections that are kept: searches of several agents run side by side."""
_COLLECTIONS = "/tenants/default_tenant/databases/default_database/collections"
_HNSW = {
    "space": "cosine",
    "ef_search": 300,
    "ef_construction": 200,
    "max_neighbors": 32,
    "sync_threshold": 40,
    "batch_size": 20,
}
"""Each query scans the rows that are not in the graph yet: up to 1,000 by Chroma's defaults.
With 16 neighbours rows are added faster, but some of 300 very similar lines are never found."""
_HEADERS = {"Content-Type": "application/json"}
_WHOLE = 100_000_000
"""The factor that makes whole numbers of the fields of a vector, with eight digits."""
_MOST_ROWS = 256
"""The most rows of one request: a book has many passages, and Chroma refuses too many at once."""
_BUSY = (429, 502, 503, 504)
"""Statuses of a server that cannot answer now; what is stored may be sound."""
_FULL = (f"(code: {sqlite3.SQLITE_FULL})", os.strerror(errno.ENOSPC))
"""What the text of a refusal has if the disk is full: the code of Chroma's own database, or the
system's words. What is stored is sound then."""


class Chroma:
    """A client of one Chroma server, safe in any thread.

    Args:
        address: ``http://host:port``.
        places: Folders of this copy of the game. A server may hold collections of other copies,
            and copies on other machines may have the same home path. The home's secret tells
            them apart.
        dropping: Called before collections are deleted.
    """

    def __init__(
        self, address: str, places: Places, dropping: Callable[[], None] = lambda: None
    ) -> None:
        self.address = address
        self._dropping = dropping
        self._places = places
        self._path = urlsplit(address).path
        self._http = connection_from_url(
            address, maxsize=_CONNECTIONS, timeout=CALL_SECONDS, retries=False
        )

    def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request to the server's API and return the answer.

        Raises:
            VectorsUnusable: The server refuses.
            VectorsSilent: The server does not answer the request that it took.
            IndexUnavailable: The server does not answer now.
        """
        try:
            got = self._http.urlopen(
                method,
                f"{self._path}/api/v2{path}",
                body=None if body is None else json.dumps(body),
                headers=_HEADERS,
            )
            if 200 <= got.status < 300:
                return json.loads(got.data)
            kind: type[IndexUnavailable] = VectorsUnusable
            text = f"{got.status}: {got.data[:200].decode(errors='replace')}"
            if got.status in _BUSY or any(each in text for each in _FULL):
                kind = IndexUnavailable
        except (HTTPError, ValueError) as error:  # ValueError: the answer is not JSON
            kind = VectorsSilent if isinstance(error, ReadTimeoutError) else IndexUnavailable
            text = str(error)
        cure = "Recall uses words alone; see `keepsake doctor` and vectors.log"
        how = "refused a request" if kind is VectorsUnusable else "does not answer"
        raise kind(f"Chroma at {self.address} {how} ({text})", cure)

    def check(self) -> str:
        """Return the server's version.

        Raises:
            IndexUnavailable: The server does not answer.
        """
        return f"Chroma {self.request('GET', '/version')}"

    @cached_property
    def _home(self) -> str:
        secret = read_or_create(self._places.secret_key, nbytes=48)
        return hashlib.sha256(os.fsencode(self._places.home) + secret.encode()).hexdigest()[:16]

    def create(self, agent: str, model: str, former: str = "") -> AgentVectors:
        """Create an empty collection for an agent; delete its others and the ``former`` one.

        Raises:
            VectorsUnusable: The server's store is broken.
            IndexUnavailable: The server does not answer.
        """
        owner = {"home": self._home, "agent": agent}
        for found in self.request("GET", _COLLECTIONS):
            if found["name"] == former or owner.items() <= (found["metadata"] or {}).items():
                self._dropping()
                self.request("DELETE", f"{_COLLECTIONS}/{found['name']}")
        wanted = {
            "name": f"agent-{uuid.uuid4().hex}",
            "metadata": owner | {"model": model},
            "configuration": {"hnsw": _HNSW},
        }
        return AgentVectors(self, self.request("POST", _COLLECTIONS, wanted))

    def open(self, name: str) -> AgentVectors:
        """Open a collection of this copy of the game.

        Raises:
            VectorsUnusable: There is none of that name, or it belongs to another copy.
            IndexUnavailable: The server does not answer.
        """
        found = self.request("GET", f"{_COLLECTIONS}/{name or 'none'}")
        if (found["metadata"] or {}).get("home") != self._home:
            raise VectorsUnusable(f"{name} belongs to another copy of the game", "It is rebuilt")
        return AgentVectors(self, found)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


class AgentVectors:
    """The vectors of one agent. Any thread may search; methods raise as in :class:`Chroma`."""

    def __init__(self, chroma: Chroma, collection: Mapping[str, Any]) -> None:
        self._chroma = chroma
        self.name = str(collection["name"])
        self._path = f"{_COLLECTIONS}/{collection['id']}"
        self.model = str((collection["metadata"] or {}).get("model", ""))

    def count(self) -> int:
        """Return the number of vectors."""
        return int(self._chroma.request("GET", f"{self._path}/count"))

    def query(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Return keys and cosine similarities of the nearest passages, best first."""
        # A cosine does not depend on the length, and integers are faster to write and parse.
        whole = [int(each * _WHOLE) for each in vector]
        asked = {"query_embeddings": [whole], "n_results": limit, "include": ["distances"]}
        got = self._chroma.request("POST", f"{self._path}/query", asked)
        found = zip(got["ids"][0], got["distances"][0], strict=True)
        return [(key, 1.0 - far) for key, far in found]

    def add(self, made: Made) -> None:
        """Add documents, each with the vectors of its passages; they replace vectors of that key.

        Passages of a former text that had more of them stay, until they are removed.
        """
        rows = [
            (passage_key(document.key, number), vector, document)
            for document, vectors in made
            for number, vector in enumerate(vectors)
        ]
        for batch in batched(rows, _MOST_ROWS):
            packed = [pack(f"<{len(vector)}f", *vector) for _, vector, _ in batch]
            body = {
                "ids": [key for key, _, _ in batch],
                "embeddings": [base64.b64encode(row).decode() for row in packed],
                "metadatas": [_metadata(document) for _, _, document in batch],
            }
            self._chroma.request("POST", f"{self._path}/upsert", body)

    def remove(self, keys: Collection[str]) -> None:
        """Delete vectors by the keys of their passages; unknown keys do no harm."""
        self._chroma.request("POST", f"{self._path}/delete", {"ids": list(keys)})


def _metadata(document: Document) -> dict[str, str | int]:
    """Return the metadata that Chroma stores with a vector."""
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
