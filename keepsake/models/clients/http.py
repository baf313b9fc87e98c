"""What every client that talks HTTP shares: a real time limit, and errors with names.

httpx limits each read, so a server that drips a byte now and then could hold a call for ever;
here :func:`within` limits the whole answer, and all attempts at it. Giving up closes the
connection, and llama.cpp and Ollama both stop generating when it closes.
"""

from __future__ import annotations

import functools
import json
import logging
import math
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

import httpx

from keepsake.errors import (
    BadAnswer,
    ModelError,
    ModelTimeout,
    ModelUnavailable,
)
from keepsake.models.clients.refusals import ServerWords, from_status, retry_after

logging.getLogger("httpx").setLevel(logging.WARNING)  # it would log every call

CONNECT_SECONDS = 5.0
_LIMITS = httpx.Limits(max_connections=64, max_keepalive_connections=64)
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit all that is asked here to so many seconds, or to fewer that were set outside."""
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


class DeadlineTransport(httpx.HTTPTransport):
    """Ends an answer whose body is not complete in the time of :func:`within`; knows no proxy."""

    def __init__(self) -> None:
        super().__init__(verify=_tls(), limits=_LIMITS, trust_env=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request, with what is left of the time."""
        left = _deadline.get() - time.monotonic()
        if left <= 0:
            raise httpx.ReadTimeout("the time is over")
        request.extensions["timeout"] = httpx.Timeout(
            left, connect=min(left, CONNECT_SECONDS)
        ).as_dict()
        response = super().handle_request(request)
        body = cast("httpx.SyncByteStream", response.stream)
        response.stream = _DeadlineStream(body, _deadline.get())
        return response


class _DeadlineStream(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, deadline: float) -> None:
        self._inner, self._deadline = inner, deadline

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            if time.monotonic() > self._deadline:
                raise httpx.ReadTimeout("the answer dripped too slowly")
            yield chunk

    def close(self) -> None:
        self._inner.close()


class JsonServer:
    """Asks one server for JSON objects. Safe to use from several threads.

    Args:
        host: Base address, with or without ``/v1``.
        words: How errors speak of it; its key is sent along.
        time_limit: Seconds an answer may take.
    """

    def __init__(self, host: str, words: ServerWords, time_limit: float) -> None:
        self.words, self._time_limit = words, time_limit
        self._http = httpx.Client(
            base_url=host.rstrip("/").removesuffix("/v1"),
            headers={"Authorization": f"Bearer {words.key}"} if words.key else {},
            **client_settings(words),
        )

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """The answer's body; blocks.

        Raises:
            ModelError: There was no answer, or none that can be used.
        """
        with named_errors(self.words, seconds or self._time_limit):
            return self._object(self._http.request(method, path, json=body).text)

    def stream(self, path: str, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The objects of an answer that is streamed, as they come; blocks.

        The last one is ``{"done": True}``. A server that does not stream sends its whole answer.

        Raises:
            ModelError: There was no answer, none that can be used, or it broke off.
        """
        with (
            named_errors(self.words, self._time_limit),
            self._http.stream("POST", path, json=body) as response,
        ):
            if "event-stream" not in response.headers.get("Content-Type", ""):
                response.read()
                yield self._object(response.text)
                return
            for line in response.iter_lines():
                data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
                if data == "[DONE]":
                    yield {"done": True}
                    return
                if data:
                    yield self._event(data)

    def _event(self, data: str) -> dict[str, Any]:
        found = self._object(data)
        if (error := found.get("error")) is not None:
            code = error.get("code") if isinstance(error, dict) else None
            status = code if isinstance(code, int) and code >= 400 else 500
            raise from_status(status, json.dumps(error), self.words)
        return found

    def _object(self, text: str) -> dict[str, Any]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):  # brackets without end
            found = None
        if not isinstance(found, dict):
            raise BadAnswer(
                f"{self.words.name} sent no JSON object ({self.words.quoted(text)})",
                "Check that host in llm.md is a model server",
            )
        return found

    def close(self) -> None:
        """Close the kept connections."""
        self._http.close()


def client_settings(server: ServerWords) -> dict[str, Any]:
    """How an httpx client asks a server: in its time, by no proxy, refusals raised by name."""

    def require_success(response: httpx.Response) -> None:
        if not response.is_success:
            response.read()
            wait = retry_after(response.headers.get("Retry-After", ""))
            raise from_status(response.status_code, response.text, server, wait)

    return {
        "transport": DeadlineTransport(),
        "trust_env": False,  # a proxy from the environment never gets prompts
        "event_hooks": {"response": [require_success]},
    }


def inner(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object of that name in a body; an empty one where there is none."""
    found = body.get(name)
    return found if isinstance(found, dict) else {}


@functools.cache
def _tls() -> ssl.SSLContext:
    """Shared, as reading the certificates is most of what building a client costs."""
    return httpx.create_ssl_context(trust_env=False)


def from_transport(error: Exception, server: ServerWords, seconds: float) -> ModelError:
    """The named error for a call that had no answer."""
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, ConnectionError)):
        return ModelUnavailable(f"{server.name} does not answer", server.cure_absent)
    if isinstance(error, httpx.TimeoutException):
        return ModelTimeout(
            f"{server.name} gave no answer within {seconds:g} s",
            "Raise time_limit in llm.md, or use a smaller model",
        )
    if isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError)):
        return ModelUnavailable(f"{server.name} broke off the call ({error})", server.cure_absent)
    return BadAnswer(f"{server.name} sent what cannot be read ({error})", "Look at its log")


@contextmanager
def named_errors(server: ServerWords, seconds: float) -> Iterator[None]:
    """Limit a call to so many seconds, and give what the HTTP client raises a name.

    Raises:
        ModelError: In place of its errors.
    """
    try:
        with within(seconds):
            yield
    except (httpx.HTTPError, httpx.InvalidURL, ConnectionError, RuntimeError) as error:
        # httpx raises RuntimeError when the client was closed under a call.
        raise from_transport(error, server, seconds) from error
