"""HTTP to model servers: one time limit for a whole answer, and errors with names and no keys.

httpx limits each read, so a server that sends a byte now and then could hold a call for ever; here
:func:`within` limits the whole answer, and all attempts at it. Giving up closes the connection, and
llama.cpp and Ollama both stop generating when it closes.
"""

from __future__ import annotations

import functools
import json
import logging
import math
import re
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from keepsake.errors import (
    BadAnswer,
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
    PromptTooLong,
)

logging.getLogger("httpx").setLevel(logging.WARNING)  # it would log every call

CONNECT_SECONDS = 5.0
HIDDEN = "[secret]"
_LIMITS = httpx.Limits(max_connections=64, max_keepalive_connections=64)
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)
_EXCERPT = 200
_TOO_LONG = (
    *("context length", "context_length", "context size", "context window", "context_size"),
    *("maximum model length", "prompt is too long", "max_new_tokens` must be <="),
)
"""What OpenAI, vLLM, llama.cpp, Ollama, LM Studio and TGI say of a prompt that is too long."""
_LIMIT = re.compile(
    r"n_ctx\W{1,4}(\d+)|(?:context|model)[_ ](?:length|size|window)\D{0,24}(\d+)"
    r"|> (\d+) maximum|must be <= (\d+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ServerWords:
    """How errors speak of one server."""

    name: str  # what it is, with its address
    cure_absent: str  # what to do when it does not answer
    cure_missing: str  # what to do when the model is not there
    key: str = field(default="", repr=False)  # what it is sent as a key, which it may quote

    def without_key(self, body: str) -> str:
        """What the server said, on one line, without the key."""
        line = " ".join(body.split())
        return line.replace(self.key, HIDDEN) if self.key else line

    def quoted(self, body: str) -> str:
        """The beginning of that."""
        line = self.without_key(body)  # before it is cut: half a key would not be known for one
        return line if len(line) <= _EXCERPT else line[:_EXCERPT] + "…"


def shown(host: str) -> str:
    """An address as errors name it: without the user name and the password in it."""
    login, sign, _ = urlsplit(host).netloc.rpartition("@")
    return host.replace(f"{login}@", f"{HIDDEN}@", 1) if sign else host


# -- time


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit all calls made inside to this many seconds, or to fewer that were set outside."""
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def in_time[T](pieces: Iterable[T]) -> Iterator[T]:
    """The pieces of an answer, as long as there is time."""
    for piece in pieces:
        if time.monotonic() > _deadline.get():
            raise httpx.ReadTimeout("the answer came too slowly")
        yield piece


def client_settings(server: ServerWords) -> dict[str, Any]:
    """How an httpx client asks a server: in time, by no proxy, refusals raised by name."""

    def limit(request: httpx.Request) -> None:
        left = _deadline.get() - time.monotonic()
        if left <= 0:
            raise httpx.ReadTimeout("the time is over")
        timeout = httpx.Timeout(left, connect=min(left, CONNECT_SECONDS))
        request.extensions["timeout"] = timeout.as_dict()

    def require_success(response: httpx.Response) -> None:
        if not response.is_success:
            response.read()
            wait = retry_after(response.headers.get("Retry-After", ""))
            raise from_status(response.status_code, response.text, server, wait)

    return {
        "verify": _tls(),
        "limits": _LIMITS,
        "trust_env": False,  # a proxy from the environment never gets prompts
        "event_hooks": {"request": [limit], "response": [require_success]},
    }


@functools.cache
def _tls() -> ssl.SSLContext:
    """Shared, as reading the certificates is most of what building a client costs."""
    return httpx.create_ssl_context(trust_env=False)


# -- one server


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
            closing(self._opened(self._http.build_request("POST", path, json=body))) as response,
        ):
            if "event-stream" not in response.headers.get("Content-Type", ""):
                whole = b"".join(in_time(response.iter_bytes()))
                yield self._object(whole.decode("utf-8")) | {"done": True}
                return
            for line in in_time(response.iter_lines()):
                data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
                if data:  # to the end, or the connection would not be kept
                    yield {"done": True} if data == "[DONE]" else self._event(data)

    def close(self) -> None:
        """Close the kept connections."""
        self._http.close()

    def _opened(self, request: httpx.Request) -> httpx.Response:
        try:
            return self._http.send(request, stream=True)
        except httpx.RemoteProtocolError:  # llama.cpp closes a kept connection after a stream
            return self._http.send(request, stream=True)

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


def inner(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object of that name in a body; an empty one where there is none."""
    found = body.get(name)
    return found if isinstance(found, dict) else {}


# -- errors with names


@contextmanager
def named_errors(server: ServerWords, seconds: float) -> Iterator[None]:
    """Limit a call to this many seconds, and give what the HTTP client raises a name.

    Raises:
        ModelError: In place of its errors.
    """
    try:
        with within(seconds):
            yield
    except (httpx.HTTPError, httpx.InvalidURL, ConnectionError, RuntimeError, ValueError) as error:
        # httpx raises RuntimeError when the client was closed under a call.
        raise _from_transport(error, server, seconds) from error


def _from_transport(error: Exception, server: ServerWords, seconds: float) -> ModelError:
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, ConnectionError)):
        return ModelUnavailable(f"{server.name} does not answer", server.cure_absent)
    if isinstance(error, httpx.TimeoutException):
        return ModelTimeout(
            f"{server.name} gave no answer within {seconds:g} s",
            "Raise time_limit in llm.md, or use a smaller model",
        )
    if isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError)):
        return ModelUnavailable(f"{server.name} broke off the call ({error})", server.cure_absent)
    what = f"{server.name} sent what cannot be read ({str(error)[:120]})"
    return BadAnswer(what, "Check that host in llm.md is such a server, and look at its log")


def retry_after(written: str) -> float:
    """Seconds of a header ``Retry-After``, which is a number or a date; 0 if it says nothing."""
    try:
        if not written.strip().lstrip("-").replace(".", "", 1).isdigit():
            until = parsedate_to_datetime(written)
            until = until if until.tzinfo else until.replace(tzinfo=UTC)
            return max((until - datetime.now(UTC)).total_seconds(), 0.0)
        return max(float(written), 0.0)
    except ValueError:
        return 0.0


def from_status(status: int, body: str, server: ServerWords, wait: float = 0.0) -> ModelError:
    """The named error for a status that is no success; ``said`` of it is the whole body.

    ``wait``: Seconds after which the server wants to be asked again; 0 if it does not say.
    """
    error = _from_status(status, body, server, wait)
    error.said = server.without_key(body)
    return error


def _from_status(status: int, body: str, server: ServerWords, wait: float) -> ModelError:
    what, said = f"HTTP {status}: {server.quoted(body)}", body.lower()
    if status in (400, 413, 422, 500) and any(each in said for each in _TOO_LONG):
        limits = [int(each) for found in _LIMIT.findall(body) for each in found if each]
        cure = "Prompts are made shorter; or give the model a larger context"
        told = f"{server.name} found the prompt too long ({what})"
        return PromptTooLong(told, cure, min(limits, default=0))
    if status in (404, 405) or (status == 400 and "not found" in body):
        return ModelMissing(f"{server.name} has no such model ({what})", server.cure_missing)
    if status in (401, 403):
        cure = "Set KEEPSAKE_OPENAI_API_KEY in the environment of the game"
        return ModelRejected(f"{server.name} refused the key ({what})", cure)
    if status == 429:
        return ModelBusy(f"{server.name} is asked too often ({what})", "Lower in_flight", wait)
    if status == 503 or (status >= 500 and "loading model" in said):
        return ModelBusy(f"{server.name} is not ready ({what})", "Wait a little", wait)
    if status >= 500:
        return ModelFailed(f"{server.name} failed ({what})", "Look at its log")
    cure = "Check model, context_tokens and max_tokens in llm.md"
    return ModelRejected(f"{server.name} refused the request ({what})", cure)
