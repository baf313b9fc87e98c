"""HTTP to model servers: one time limit for a whole answer, and errors with names and no keys.

httpx limits each read, so a server that sends a byte now and then could hold a call for ever:
whoever reads a stream looks at the time between its pieces. Giving up closes the connection, and
llama.cpp and Ollama both stop generating when it closes.
"""

from __future__ import annotations

import functools
import json
import logging
import ssl
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
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
from keepsake.language.perception import one_line

logging.getLogger("httpx").setLevel(logging.WARNING)  # it would log every call

CONNECT_SECONDS = 5.0
HIDDEN = "[secret]"
_UNREADABLE = (
    *(httpx.HTTPError, httpx.InvalidURL, TypeError, AttributeError, LookupError, ValueError),
    RuntimeError,  # httpx raises it when the client was closed under a call
)
_TOO_LONG = (
    *("context length", "context_length", "context size", "context window", "context_size"),
    *("maximum model length", "prompt is too long", "max_new_tokens` must be <="),
)
"""What OpenAI, vLLM, llama.cpp, Ollama, LM Studio and TGI say of a prompt that is too long."""


@dataclass(frozen=True, slots=True)
class ServerWords:
    """How errors speak of one server."""

    name: str  # what it is, with its address
    cure_absent: str  # what to do when it does not answer
    cure_missing: str  # what to do when the model is not there
    key: str = field(default="", repr=False)  # what it is sent as a key, which it may quote

    def quoted(self, body: str, most: int = 200) -> str:
        """The beginning of what the server said, on one line, without the key."""
        line = one_line(body)  # cut at the end: half a key would not be known for one
        line = line.replace(self.key, HIDDEN) if self.key else line
        return line if len(line) <= most else line[:most] + "…"


def shown(host: str) -> str:
    """An address as errors name it: without the user name and the password in it."""
    login, sign, _ = urlsplit(host).netloc.rpartition("@")
    return host.replace(f"{login}@", f"{HIDDEN}@", 1) if sign else host


def client_settings(seconds: float) -> dict[str, Any]:
    """How an httpx client asks a server: each read in time, and by no proxy."""
    return {
        "verify": _tls(),
        "limits": httpx.Limits(max_connections=64, max_keepalive_connections=64),
        "trust_env": False,  # a proxy from the environment never gets prompts
        "timeout": _timeout(seconds),
    }


def _timeout(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


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
            **client_settings(time_limit),
        )
        # Of a replaced model, once its last call ends.
        weakref.finalize(self, self._http.close).atexit = False

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
        seconds = seconds or self._time_limit
        with named_errors(self.words, seconds):
            response = self._http.request(method, path, json=body, timeout=_timeout(seconds))
            if not response.is_success:
                raise refused(response, self.words)
            return self._object(response.text)

    def stream(
        self, path: str, body: Mapping[str, Any], until: float, headers: Mapping[str, str]
    ) -> Iterator[dict[str, Any]]:
        """The objects of an answer that is streamed, as they come; for within :func:`named_errors`.

        The last one is ``{"done": True}``. A server that does not stream sends its whole answer.
        ``until``: When the answer must have come, in monotonic seconds.

        Raises:
            ModelError: The server refused it, or sent what cannot be used.
        """
        limit = _timeout(max(until - time.monotonic(), 0.01))
        request = self._http.build_request("POST", path, json=body, headers=headers, timeout=limit)
        try:
            response = self._http.send(request, stream=True)
        except httpx.RemoteProtocolError:  # llama.cpp closes a kept connection after a stream
            response = self._http.send(request, stream=True)
        with closing(response):
            if not response.is_success:
                response.read()
                raise refused(response, self.words)
            if "event-stream" not in response.headers.get("Content-Type", ""):
                whole = bytearray()
                for piece in response.iter_bytes():
                    if time.monotonic() > until:
                        raise httpx.ReadTimeout("the answer came too slowly")
                    whole += piece
                yield self._object(whole.decode("utf-8")) | {"done": True}
                return
            for line in response.iter_lines():  # to the end, or the connection would not be kept
                name, _, data = line.partition(":")
                if name not in ("data", "error") or not (data := data.strip()):
                    continue
                if data == "[DONE]":
                    yield {"done": True}
                else:
                    found = self._object(data)
                    found = found if name == "data" else {"error": found}  # llama.cpp of 2025
                    if (error := found.get("error")) is not None:
                        code = error.get("code") if isinstance(error, dict) else None
                        status = code if isinstance(code, int) and code >= 400 else 500
                        raise from_status(status, json.dumps(error), self.words)
                    yield found

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


# -- errors with names


@contextmanager
def named_errors(server: ServerWords, seconds: float) -> Iterator[None]:
    """Give a name to what the HTTP client raises, and to parts of an answer of wrong types.

    Args:
        server: How errors speak of the server.
        seconds: What the call may take.

    Raises:
        ModelError: In place of its errors.
    """
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, ConnectionError) as error:
        raise ModelUnavailable(f"{server.name} does not answer", server.cure_absent) from error
    except httpx.TimeoutException as error:
        raise ModelTimeout(
            f"{server.name} gave no answer within {seconds:g} s",
            "Raise time_limit in llm.md, or use a smaller model",
        ) from error
    except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
        what = f"{server.name} broke off the call ({error})"
        raise ModelUnavailable(what, server.cure_absent) from error
    except _UNREADABLE as error:
        what = f"{server.name} sent what cannot be read ({str(error)[:120]})"
        cure = "Check that host in llm.md is such a server, and look at its log"
        unread = BadAnswer(what, cure)
        unread.said = str(error)
        raise unread from error


def refused(response: httpx.Response, server: ServerWords) -> ModelError:
    """The named error for an answer that is no success, and how long the server is left alone."""
    error = from_status(response.status_code, response.text, server)
    if (wait := response.headers.get("Retry-After", "")).isdecimal():  # in seconds
        error.until = time.monotonic() + int(wait)
    return error


def from_status(status: int, body: str, server: ServerWords) -> ModelError:
    """The named error for a status that is no success; ``said`` of it is the whole body."""
    what, said = f"HTTP {status}: {server.quoted(body)}", body.lower()
    error: ModelError
    if status in (400, 413, 422, 500) and any(each in said for each in _TOO_LONG):
        cure = "Prompts are made shorter; or give the model a larger context"
        error = PromptTooLong(f"{server.name} found the prompt too long ({what})", cure)
    elif status in (404, 405) or (status == 400 and "not found" in body):
        error = ModelMissing(f"{server.name} has no such model ({what})", server.cure_missing)
    elif status in (401, 403):
        cure = "Set KEEPSAKE_OPENAI_API_KEY in the environment of the game"
        error = ModelRejected(f"{server.name} refused the key ({what})", cure)
    elif status == 429:
        error = ModelBusy(f"{server.name} is asked too often ({what})", "Lower in_flight")
    elif status == 503 or (status >= 500 and "loading model" in said):
        error = ModelBusy(f"{server.name} is not ready ({what})", "Wait a little")
    elif status >= 500:
        error = ModelFailed(f"{server.name} failed ({what})", "Look at its log")
    else:
        cure = "Check model, context_tokens and max_tokens in llm.md"
        error = ModelRejected(f"{server.name} refused the request ({what})", cure)
    error.said = server.quoted(body, most=len(body))
    return error
