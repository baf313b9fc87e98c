"""The network below every model client: one deadline, one cancellation and one size a call.

httpx limits each read, not a whole answer, so a server that sends a byte now and then could hold a
call for ever. Here each call has a :class:`CallLimits`, and every read of its connection observes
them, also while the server sends nothing, and also in the headers and in the body of an error. A
call that ends early closes its connection, and both llama.cpp and Ollama then stop generating.

Example::

    with limited(CallLimits(until=time.monotonic() + 60, is_cancelled=lambda: gone)):
        client.get("/v1/models")
"""

from __future__ import annotations

import functools
import math
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import httpcore
import httpx

from keepsake.errors import AnswerBrokenOff, BadAnswer, CallCancelled

CHECK_SECONDS = 0.2
"""Seconds between two checks whether a silent call was cancelled: soon for a person, and five
wake-ups a second cost nothing."""
MOST_BYTES = 64 * 1024 * 1024
"""The default cap of a body. The largest that is asked for is a batch of embeddings: 128 texts of
4,096 numbers are 12 MB of JSON."""
MOST_ERROR_BYTES = 64 * 1024
"""The cap of the body of an error, of which a message quotes 200 characters."""
ERROR_SECONDS = 2.0
"""Seconds that the body of an error may take after its headers: the status says enough."""
CONNECTIONS = 64
"""The most connections to one server, which is the highest ``in_flight``."""
KEEP_SECONDS = 5.0
"""Seconds that an unused connection is kept, as in httpx: servers close them soon after."""


@dataclass(slots=True)
class CallLimits:
    """The limits of one call of a model server."""

    until: float = math.inf  # the deadline of the whole answer, in monotonic seconds
    most_bytes: int = MOST_BYTES  # of the answer's body
    is_cancelled: Callable[[], bool] | None = None  # whether the caller no longer needs the answer

    def check_cancelled(self) -> None:
        """Raise CallCancelled if the caller no longer needs the answer."""
        if self.is_cancelled is not None and self.is_cancelled():
            raise CallCancelled("The caller cancelled the call", "Nothing is wrong")

    def seconds_left(self) -> float:
        """Return the seconds until the deadline.

        Raises:
            CallCancelled: The caller no longer needs the answer.
            httpcore.ReadTimeout: The deadline is over. httpx turns it into its own error.
        """
        self.check_cancelled()
        left = self.until - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("the answer came too slowly")
        return left


_current: ContextVar[CallLimits] = ContextVar("call_limits")
# A context variable and not an argument, because Ollama's client stands between.


@contextmanager
def limited(limits: CallLimits) -> Iterator[CallLimits]:
    """Put all requests of this thread under these limits, and under those already in effect."""
    outer = _current.get(None)
    if outer is not None:
        limits = replace(
            limits,
            until=min(limits.until, outer.until),
            is_cancelled=limits.is_cancelled or outer.is_cancelled,
        )
    token = _current.set(limits)
    try:
        yield limits
    finally:
        _current.reset(token)


def within(seconds: float) -> CallLimits:
    """Return the limits of a call that may take this many seconds from now on."""
    return CallLimits(until=time.monotonic() + seconds)


def wait_for(event: threading.Event, seconds: float) -> bool:
    """Wait for an event, until the current call's deadline at most; return whether it is set.

    Raises:
        CallCancelled: The current call was cancelled meanwhile.
    """
    limits = _current.get(None) or CallLimits()
    until = min(time.monotonic() + seconds, limits.until)
    while (left := until - time.monotonic()) > 0:
        limits.check_cancelled()
        if event.wait(min(left, CHECK_SECONDS)):
            return True
    return event.is_set()


def pause(seconds: float) -> None:
    """Sleep, until the current call's deadline at most; raise CallCancelled if it is cancelled."""
    wait_for(threading.Event(), seconds)


# -- reads


class WatchedStream(httpcore.NetworkStream):
    """A connection whose reads end with the current call's deadline or cancellation."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read once, in short waits; ``timeout`` counts only outside of a limited call."""
        limits = _current.get(None)
        if limits is None:
            return self._stream.read(max_bytes, timeout)
        while True:
            wait = min(limits.seconds_left(), CHECK_SECONDS)
            try:
                return self._stream.read(max_bytes, wait)
            except httpcore.ReadTimeout:
                continue  # the next check says whether the call goes on

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send a buffer; blocks until the deadline at most if the server does not read."""
        self._stream.write(buffer, _shorter(timeout))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Return the same connection, encrypted."""
        stream = self._stream.start_tls(ssl_context, server_hostname, _shorter(timeout))
        return WatchedStream(stream)

    def get_extra_info(self, info: str) -> Any:
        """Return what the connection knows about itself."""
        return self._stream.get_extra_info(info)


class WatchedBackend(httpcore.SyncBackend):
    """Opens connections whose reads are watched."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect, until the current call's deadline at most."""
        seconds = _shorter(timeout)
        stream = super().connect_tcp(host, port, seconds, local_address, socket_options)
        return WatchedStream(stream)


def _shorter(timeout: float | None) -> float | None:
    """Return a timeout that ends with the current call at the latest."""
    limits = _current.get(None)
    if limits is None or limits.until == math.inf:
        return timeout
    left = limits.seconds_left()
    return left if timeout is None else min(timeout, left)


# -- bodies


class CappedBody(httpx.SyncByteStream):
    """The body of an answer, up to the current call's cap.

    Args:
        body: The body as it arrives.
        server: The server's name, for the error.
    """

    def __init__(self, body: httpx.SyncByteStream, server: str) -> None:
        self._body = body
        self._server = server

    def __iter__(self) -> Iterator[bytes]:
        most = (_current.get(None) or CallLimits()).most_bytes
        count = 0
        for piece in self._body:
            count += len(piece)
            if count > most:
                what = f"{self._server} sent more than {most:,} bytes in one answer"
                raise AnswerBrokenOff(what, "Ask again, or use another model; see the server's log")
            yield piece

    def close(self) -> None:
        """Close the body, and its connection if a part of it was not read."""
        self._body.close()


class ErrorBody(httpx.SyncByteStream):
    """The beginning of the body of an error: what arrives soon, and not too much of it."""

    def __init__(self, body: httpx.SyncByteStream) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        left = MOST_ERROR_BYTES
        limits = within(ERROR_SECONDS)
        pieces = iter(self._body)
        while left:
            try:
                with limited(limits):
                    piece = next(pieces, b"")[:left]
            except httpx.TransportError:  # the status is enough
                return
            if not piece:
                return
            yield piece
            left -= len(piece)

    def close(self) -> None:
        """Close the body, and its connection if a part of it was not read."""
        self._body.close()


class ModelTransport(httpx.HTTPTransport):
    """The connections to one model server, under the limits of each call.

    Compressed answers are not asked for and not read: a megabyte can become a gigabyte, and text
    from a model server is small.

    Args:
        server: The server's name, for errors.
    """

    def __init__(self, server: str) -> None:
        super().__init__(verify=tls(), trust_env=False)
        self._server = server
        # httpx has no argument for the network backend, so its pool is replaced by one with ours.
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls(),
            max_connections=CONNECTIONS,
            max_keepalive_connections=CONNECTIONS,
            keepalive_expiry=KEEP_SECONDS,
            network_backend=WatchedBackend(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return the response, whose body is capped.

        Raises:
            BadAnswer: The answer is compressed, so its size is not known before it is read.
        """
        request.headers["Accept-Encoding"] = "identity"
        response = super().handle_request(request)
        body = response.stream
        if not isinstance(body, httpx.SyncByteStream):
            raise TypeError(f"the transport returned {type(body).__name__}")
        if response.status_code >= 400:
            capped: httpx.SyncByteStream = ErrorBody(body)
            response.headers.pop("Content-Encoding", None)  # quoted as it came
        else:
            capped = CappedBody(body, self._server)
            encoding = response.headers.get("Content-Encoding", "identity")
            if encoding.lower() not in ("", "identity"):
                response.close()
                what = f"{self._server} sent an answer compressed as {encoding}"
                raise BadAnswer(what, "Switch compression off in the server or the proxy before it")
        response.stream = capped
        return response


@functools.cache
def tls() -> ssl.SSLContext:
    """Shared by all clients, because reading the certificates is most of a client's set-up time."""
    return httpx.create_ssl_context(trust_env=False)
