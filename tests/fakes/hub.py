"""A fake Hugging Face hub over HTTP: the requests that fetch one file."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "9217f5db79a29953eb74d5343926648285ec7e67"


class FakeHub:
    """Serves one file of one repository on loopback, in threads, as a context.

    Attributes:
        data: The file's bytes.
        digest: The SHA-256 that the hub reports for the file.
        failing: The HTTP status of every download; 0 to send the file.
        gate: Downloads wait until this event is set. It is set at first.
        ranges: The ``Range`` header of each download request; None without one.
    """

    def __init__(self, repo: str, file: str, data: bytes) -> None:
        self.file = file
        self.data = data
        self.digest = hashlib.sha256(data).hexdigest()
        self.paths = [f"/{repo}/resolve/{revision}/{file}" for revision in ("main", COMMIT)]
        self.failing = 0
        self.gate = threading.Event()
        self.gate.set()
        self.ranges: list[str | None] = []
        self._http = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self})
        )
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> FakeHub:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: FakeHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        hub = self.hub
        asked = self.headers.get("Range")
        if self.path in hub.paths:  # describes the file and redirects to the host of large files
            where = f"{hub.address.replace('127.0.0.1', 'localhost')}/large/{hub.file}"
            headers = {"X-Repo-Commit": COMMIT, "ETag": '"small"', "Location": where}
            headers |= {"X-Linked-Size": str(len(hub.data)), "X-Linked-ETag": f'"{hub.digest}"'}
            self._send(302, **headers)
        elif self.path != f"/large/{hub.file}":
            self._send(404)
        else:
            hub.ranges.append(asked)
            hub.gate.wait(60)
            start = int(asked.removeprefix("bytes=").partition("-")[0]) if asked else 0
            size = len(hub.data)
            headers = {"Content-Range": f"bytes {start}-{size - 1}/{size}"} if asked else {}
            if hub.failing:
                self._send(hub.failing)
            else:
                self._send(206 if asked else 200, hub.data[start:], **headers)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
