"""A hub over the wire: what huggingface_hub asks of one to fetch a file."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "9217f5db79a29953eb74d5343926648285ec7e67"


class FakeHub:
    """Serves one file of one repository on loopback, in threads, until :meth:`close`.

    Attributes:
        data: The file's bytes.
        commit: The newest revision.
        digest: What it says of the file's SHA-256.
        failing: The status of every download, 0 for the file itself.
        gate: Nothing of a download is sent before it is set; None for none.
        ranges: The ``Range`` of each download that came in, None without one.
    """

    def __init__(self, repo: str, file: str, data: bytes) -> None:
        self.repo, self.file, self.data = repo, file, data
        self.commit = COMMIT
        self.digest = hashlib.sha256(data).hexdigest()
        self.failing = 0
        self.gate: threading.Event | None = None
        self.ranges: list[str | None] = []
        self._http = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self})
        )
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> FakeHub:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def has(self, path: str) -> bool:
        where = {
            f"/{self.repo}/resolve/{revision}/{self.file}" for revision in ("main", self.commit)
        }
        return path in where


class _Handler(BaseHTTPRequestHandler):
    hub: FakeHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._point() if self.hub.has(self.path) else self._nothing(404)

    def do_GET(self) -> None:
        if self.hub.has(self.path):
            self._point()
        elif self.path != f"/large/{self.hub.file}":
            self._nothing(404)
        else:
            self.hub.ranges.append(self.headers.get("Range"))
            self._nothing(self.hub.failing) if self.hub.failing else self._send()

    def _point(self) -> None:
        """Large files lie on another host; the hub says here what they are."""
        hub = self.hub
        self.send_response(302)
        self.send_header("X-Repo-Commit", hub.commit)
        self.send_header("ETag", '"small"')
        self.send_header("X-Linked-Size", str(len(hub.data)))
        self.send_header("X-Linked-ETag", f'"{hub.digest}"')
        elsewhere = hub.address.replace("127.0.0.1", "localhost")
        self.send_header("Location", f"{elsewhere}/large/{hub.file}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _nothing(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self) -> None:
        if self.hub.gate is not None:
            self.hub.gate.wait(60)
        data, asked = self.hub.data, self.headers.get("Range")
        start = int(asked.removeprefix("bytes=").partition("-")[0]) if asked else 0
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(data) - start))
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[start:])
