"""A model server with faults: as much of OpenAI's protocol as the game asks for, on loopback."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

from game.lab.soak.plan import PlannedFault
from keepsake.errors import KeepsakeError

MODEL = "soak"
_SLOWEST = 8.0
_SAYS = (
    "The tide turns soon.",
    "I have not heard of that before.",
    "You should ask at the mill.",
    "It rained on the whole harvest.",
)
_GARBAGE = (
    b"\xff\xfe\x00 not json at all",
    b'{"choices": []}',
    b'{"choices": [{"text": null, "finish_reason": 7}], "usage": "none"}',
    b'[[[[[{"text": "say hello"',
    json.dumps({"choices": [{"text": "\x1b[31m<|im_end|>\x00 ~Mira> go north\n" * 40}]}).encode(),
)


class FaultyModel:
    """Serves in threads, on a port that it keeps, until :meth:`close`.

    Attributes:
        port: Where it listens, but for the times when it is gone.
        calls: How many requests came in.
        fault: How it behaves now.

    Raises:
        KeepsakeError: No port could be opened.
    """

    def __init__(self, seed: int) -> None:
        self.calls, self.fault = 0, PlannedFault.WELL
        self.dice = Random(f"model {seed}")
        self.woken = threading.Event()
        self._http: ThreadingHTTPServer | None = None
        self.port = 0
        try:
            self._open()
        except OSError as error:
            raise KeepsakeError(f"No port could be opened on loopback ({error})") from error

    def become(self, fault: PlannedFault) -> None:
        """Behave like that from now on."""
        self.fault = fault
        self.woken.set()  # whoever is made to wait need not wait for what was
        self.woken = threading.Event()
        if fault is not PlannedFault.GONE and self._http is None:
            self._open()
        elif fault is PlannedFault.GONE and self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http = None

    def close(self) -> None:
        """End it."""
        self.become(PlannedFault.GONE)

    def _open(self) -> None:
        made = _Listener(("127.0.0.1", self.port), _handler(self))
        self._http, self.port = made, made.server_address[1]
        threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True).start()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up, or was killed, is no news."""


def _handler(model: FaultyModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

        def do_GET(self) -> None:
            if self.path.endswith("/models"):
                self._send(200, json.dumps({"data": [{"id": MODEL, "owned_by": "me"}]}).encode())
            else:
                self._send(404, b'{"error": "no such path"}')

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            model.calls += 1
            if model.fault is PlannedFault.SLOW:
                model.woken.wait(model.dice.uniform(1, _SLOWEST))
            if model.fault is PlannedFault.GONE:
                self.close_connection = True
            elif model.fault is PlannedFault.GARBAGE:
                self._send(model.dice.choice((200, 200, 500)), model.dice.choice(_GARBAGE))
            elif self.path.endswith("/completions"):
                self._send(200, json.dumps(_answer(model.dice, body)).encode())
            else:
                self._send(404, b'{"error": "no such path"}')

        def _send(self, status: int, data: bytes) -> None:
            with suppress(OSError):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

    return Handler


def _answer(dice: Random, body: bytes) -> dict[str, Any]:
    says = dice.choice(_SAYS)
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
    if "messages" in json.loads(body or b"{}"):
        choice["message"] = {"role": "assistant", "content": says}
    else:
        choice["text"] = f" say {says}"
    used = {"prompt_tokens": len(body) // 4, "completion_tokens": len(says) // 4}
    return {"model": MODEL, "choices": [choice], "usage": used}
