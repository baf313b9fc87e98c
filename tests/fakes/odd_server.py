"""A model server that answers with raw bytes, to imitate servers that misbehave."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

Send = Callable[[bytes], None]
"""Sends bytes as they are; raises OSError when the client or the server has closed."""

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
"""The head of a streamed answer that ends with its connection."""
OPEN = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
"""The head of a streamed answer in chunks, which stays open until its last chunk."""


def chunk(data: bytes) -> bytes:
    """Return a chunk of an answer in chunks."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(text: str, finish: str | None = None) -> bytes:
    """Return an event with a piece of an answer."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


class OddServer:
    """Serves on loopback, in threads, until :meth:`close`.

    Args:
        answer: Answers a POST: it gets a function that sends raw bytes, and an event that is set
            when the server closes. The connection is closed when it returns.
    """

    def __init__(self, answer: Callable[[Send, threading.Event], None]) -> None:
        self.asked = threading.Semaphore(0)
        """Released when a POST has arrived."""
        self.gone = threading.Semaphore(0)
        """Released when the client has closed the connection of a POST."""
        self._answer = answer
        self._closing = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> OddServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closing.set()
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        with line, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                if not (piece := line.recv(4096)):
                    return
                head += piece
            if not head.startswith(b"POST"):
                body = b'{"data": [{"id": "fake"}], "models": [{"model": "fake"}]}'
                length = b"Content-Length: %d\r\n" % len(body)
                line.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + length + b"\r\n" + body)
                return
            self.asked.release()
            threading.Thread(target=self._see_off, args=(line,), daemon=True).start()
            self._answer(line.sendall, self._closing)
            line.shutdown(socket.SHUT_WR)

    def _see_off(self, line: socket.socket) -> None:
        with suppress(OSError):
            while line.recv(4096):
                pass
        self.gone.release()
