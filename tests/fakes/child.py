"""A child process that a supervisor looks after: answers on its path, and does nothing else."""

from __future__ import annotations

import logging
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from keepsake import child
from keepsake.child import LOOPBACK, CannotServe, Supervisor
from keepsake.errors import ModelUnavailable


class IdleChild(Supervisor):
    """Looks after such a process; ``words`` are the rest of its command line."""

    stem, name, tag = "model", "idle child", "Idle"
    logger = logging.getLogger("keepsake.idle")
    module, health, off_cure = "tests.fakes.child", "/", "Start it"
    unavailable = ModelUnavailable

    words: tuple[str, ...] = ("--serves", "this")

    def _arguments(self) -> tuple[str, ...]:
        return self.words


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def main() -> int:
    parser = child.parser("tests.fakes.child")
    parser.add_argument("--serves", default="this")
    given = parser.parse_args()

    def start() -> str:
        if given.serves == "nothing":
            raise CannotServe("it cannot serve nothing")
        http = ThreadingHTTPServer((LOOPBACK, given.port), _Handler)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        return f"serves {given.serves}"

    return child.serve(given, start)


if __name__ == "__main__":
    sys.exit(main())
