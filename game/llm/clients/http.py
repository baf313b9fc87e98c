"""What every client that talks HTTP shares: a real time limit, and errors with names.

httpx limits each read, so a server that drips a byte now and then could hold a
call for ever. :class:`DeadlineTransport` limits the whole answer. Giving up closes
the connection, and llama.cpp and Ollama both stop generating when it closes.
"""

from __future__ import annotations

import functools
import logging
import re
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import httpx

from game.mind.errors import (
    BadAnswer,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)

logging.getLogger("httpx").setLevel(logging.WARNING)  # it would log every call

CONNECT_SECONDS = 5.0
HIDDEN = "[secret]"
_EXCERPT = 200
_LOGIN = re.compile(r"(?<=://)[^\s/@]+@")


@dataclass(frozen=True, slots=True)
class ServerWords:
    """How errors speak of one server.

    Attributes:
        name: What it is, with its address.
        cure_absent: What to do when nobody answers.
        cure_missing: What to do when the model is not there.
        key: What it is sent as a key, which its errors may quote; nothing says it on.
    """

    name: str
    cure_absent: str
    cure_missing: str
    key: str = field(default="", repr=False)

    def quoted(self, body: str) -> str:
        """The beginning of what it said, on one line, without the key."""
        line = " ".join(body.split())
        if self.key:  # before it is cut: half a key would not be known for one
            line = line.replace(self.key, HIDDEN)
        return line if len(line) <= _EXCERPT else line[:_EXCERPT] + "…"


class DeadlineTransport(httpx.BaseTransport):
    """Ends an answer whose body is not complete within the read time limit."""

    def __init__(self) -> None:
        # Only loopback and named hosts: a proxy from the environment never gets prompts.
        self._inner = httpx.HTTPTransport(
            verify=_tls(), limits=httpx.Limits(max_connections=64, max_keepalive_connections=16)
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request; its clock starts now."""
        limit = request.extensions.get("timeout", {}).get("read")
        deadline = time.monotonic() + limit if limit else None
        response = self._inner.handle_request(request)
        if deadline is not None:
            body = cast("httpx.SyncByteStream", response.stream)
            response.stream = _DeadlineStream(body, deadline, request)
        return response

    def close(self) -> None:
        """Close the kept connections."""
        self._inner.close()


class _DeadlineStream(httpx.SyncByteStream):
    def __init__(
        self, inner: httpx.SyncByteStream, deadline: float, request: httpx.Request
    ) -> None:
        self._inner, self._deadline, self._request = inner, deadline, request

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            if time.monotonic() > self._deadline:
                raise httpx.ReadTimeout("the answer dripped too slowly", request=self._request)
            yield chunk

    def close(self) -> None:
        self._inner.close()


@functools.cache
def _tls() -> ssl.SSLContext:
    """Shared, as reading the certificates is most of what building a client costs."""
    return httpx.create_ssl_context(trust_env=False)


def timeout(seconds: float) -> httpx.Timeout:
    """The httpx time limits for a call of ``seconds``."""
    return httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


def from_transport(error: Exception, server: ServerWords, seconds: float) -> ModelError:
    """The named error for what httpx could not do."""
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


def from_status(status: int, body: str, server: ServerWords) -> ModelError:
    """The named error for an HTTP status that is no success."""
    said = server.quoted(body)
    if status == 404 or (status == 400 and "not found" in body):
        return ModelMissing(f"{server.name} has no such model ({said})", server.cure_missing)
    if status in (401, 403):
        return ModelRejected(
            f"{server.name} refused the key (HTTP {status}: {said})",
            "Set KEEPSAKE_OPENAI_API_KEY in the environment of the game",
        )
    if status == 429:
        return ModelFailed(
            f"{server.name} is asked too often (HTTP 429: {said})", "Lower in_flight"
        )
    if status == 503:
        return ModelUnavailable(f"{server.name} is not ready (HTTP 503: {said})", "Wait a little")
    if status >= 500:
        return ModelFailed(f"{server.name} failed (HTTP {status}: {said})", "Look at its log")
    return ModelRejected(
        f"{server.name} refused the request (HTTP {status}: {said})",
        "Check model, context_tokens and max_tokens in llm.md",
    )


class JsonServer:
    """Asks one server for JSON objects. Safe to use from several threads.

    Args:
        host: Base address, with or without ``/v1``.
        words: How errors speak of it; its key is sent along.
        time_limit: Seconds an answer may take.
    """

    def __init__(self, host: str, words: ServerWords, time_limit: float) -> None:
        self._words, self._time_limit = words, time_limit
        self._http = httpx.Client(
            base_url=host.rstrip("/").removesuffix("/v1"),
            headers={"Authorization": f"Bearer {words.key}"} if words.key else {},
            timeout=timeout(time_limit),
            transport=DeadlineTransport(),
            trust_env=False,
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
        limit = seconds or self._time_limit
        try:
            response = self._http.request(method, path, json=body, timeout=timeout(limit))
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            # httpx raises RuntimeError when the client was closed under a call.
            raise from_transport(error, self._words, limit) from error
        return json_object(response, self._words)

    def close(self) -> None:
        """Close the kept connections."""
        self._http.close()


def json_object(response: httpx.Response, server: ServerWords) -> dict[str, Any]:
    """The body as a JSON object.

    Raises:
        ModelError: The status is no success, or the body no such object.
    """
    if not response.is_success:
        raise from_status(response.status_code, response.text, server)
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise BadAnswer(
            f"{server.name} sent no JSON object ({server.quoted(response.text)})",
            "Check that host in llm.md is a model server",
        )
    return body


def shown(host: str) -> str:
    """An address as errors name it: without the user name and the password in it."""
    return _LOGIN.sub(f"{HIDDEN}@", host)
