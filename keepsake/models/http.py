"""HTTP to model servers: one timeout for a whole answer, and named errors without API keys.

httpx limits only each read, so a server that sends a byte now and then could hold a call for ever.
Therefore the reader of a stream checks the time after each piece. A timeout closes the connection,
and both llama.cpp and Ollama then stop generating.
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

logging.getLogger("httpx").setLevel(logging.WARNING)  # at INFO it logs every call

CONNECT_SECONDS = 5.0
HIDDEN = "[secret]"
_UNREADABLE = (
    httpx.HTTPError,
    httpx.InvalidURL,
    TypeError,
    AttributeError,
    LookupError,
    ValueError,
    RuntimeError,  # httpx raises it when the client is closed during a call
)
_TOO_LONG = (
    "context length",
    "context_length",
    "context size",
    "context window",
    "context_size",
    "maximum model length",
    "prompt is too long",
    "max_new_tokens` must be <=",
)
"""Phrases of OpenAI, vLLM, llama.cpp, Ollama, LM Studio and TGI for a prompt that is too long."""


@dataclass(frozen=True, slots=True)
class ServerTexts:
    """The texts about one server that error messages use."""

    name: str  # what the server is, with its address
    cure_absent: str  # what to do when the server does not answer
    cure_missing: str  # what to do when the server does not have the model
    key: str = field(default="", repr=False)  # its API key, which its answers may quote

    def quoted(self, body: str, most: int = 200) -> str:
        """Return the beginning of the server's answer on one line, with the key removed."""
        line = one_line(body)  # cut only after the key is removed: half a key would not match
        line = line.replace(self.key, HIDDEN) if self.key else line
        return line if len(line) <= most else line[:most] + "…"


def redacted(host: str) -> str:
    """Return an address for error messages, without the user name and password in it."""
    login, sign, _ = urlsplit(host).netloc.rpartition("@")
    return host.replace(f"{login}@", f"{HIDDEN}@", 1) if sign else host


def client_settings(seconds: float) -> dict[str, Any]:
    """Return the settings of an httpx client: a timeout for each read, and no proxy."""
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
    """Shared by all clients, because reading the certificates is most of a client's set-up time."""
    return httpx.create_ssl_context(trust_env=False)


# -- one server


class JsonServer:
    """A client that requests JSON objects from one server. Safe to use from several threads.

    Args:
        host: Base address, with or without ``/v1``.
        texts: The texts for error messages, and the key to send.
        time_limit: Seconds that an answer may take.
    """

    def __init__(self, host: str, texts: ServerTexts, time_limit: float) -> None:
        self.texts = texts
        self._time_limit = time_limit
        self._http = httpx.Client(
            base_url=host.rstrip("/").removesuffix("/v1"),
            headers={"Authorization": f"Bearer {texts.key}"} if texts.key else {},
            **client_settings(time_limit),
        )
        # Closes the client of a replaced model after its last call.
        weakref.finalize(self, self._http.close).atexit = False

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """Send one request and return the body of the answer; blocks.

        Raises:
            ModelError: There was no answer, or it cannot be used.
        """
        seconds = seconds or self._time_limit
        with named_errors(self.texts, seconds):
            response = self._http.request(method, path, json=body, timeout=_timeout(seconds))
            if not response.is_success:
                raise error_from_response(response, self.texts)
            return self._object(response.text)

    def stream(
        self, path: str, body: Mapping[str, Any], until: float, headers: Mapping[str, str]
    ) -> Iterator[dict[str, Any]]:
        """Yield the objects of a streamed answer as they arrive; use inside :func:`named_errors`.

        The last object is ``{"done": True}``. A server that does not stream sends one object.
        ``until``: The deadline of the whole answer, in monotonic seconds.

        Raises:
            ModelError: The server refused the request, or its answer cannot be used.
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
                raise error_from_response(response, self.texts)
            if "event-stream" not in response.headers.get("Content-Type", ""):
                whole = bytearray()
                for piece in response.iter_bytes():
                    if time.monotonic() > until:
                        raise httpx.ReadTimeout("the answer came too slowly")
                    whole += piece
                yield self._object(whole.decode("utf-8")) | {"done": True}
                return
            for line in response.iter_lines():  # read to the end, so that the connection is reused
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
                        raise error_from_status(status, json.dumps(error), self.texts)
                    yield found

    def _object(self, text: str) -> dict[str, Any]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):  # RecursionError: very deep nesting
            found = None
        if not isinstance(found, dict):
            raise BadAnswer(
                f"{self.texts.name} sent no JSON object ({self.texts.quoted(text)})",
                "Check that host in llm.md is the address of a model server",
            )
        return found


# -- named errors


@contextmanager
def named_errors(server: ServerTexts, seconds: float) -> Iterator[None]:
    """Replace errors of the HTTP client, and type errors in an answer, by our named errors.

    Args:
        seconds: The time limit that the message of a timeout names.

    Raises:
        ModelError: In place of the original error.
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
        what = f"{server.name} closed the connection ({error})"
        raise ModelUnavailable(what, server.cure_absent) from error
    except _UNREADABLE as error:
        what = f"{server.name} sent an unreadable answer ({str(error)[:120]})"
        cure = "Check that host in llm.md is the address of a model server, and see its log"
        unread = BadAnswer(what, cure)
        unread.said = str(error)
        raise unread from error


def error_from_response(response: httpx.Response, server: ServerTexts) -> ModelError:
    """Return the named error for a failed response; its ``until`` is set from Retry-After."""
    error = error_from_status(response.status_code, response.text, server)
    if (wait := response.headers.get("Retry-After", "")).isdecimal():  # in seconds
        error.until = time.monotonic() + int(wait)
    return error


def error_from_status(status: int, body: str, server: ServerTexts) -> ModelError:
    """Return the named error for a failed status; its ``said`` is the whole body."""
    what = f"HTTP {status}: {server.quoted(body)}"
    said = body.lower()
    error: ModelError
    if status in (400, 413, 422, 500) and any(each in said for each in _TOO_LONG):
        cure = "Prompts are shortened automatically; or give the model a larger context"
        error = PromptTooLong(f"{server.name} refused the prompt as too long ({what})", cure)
    elif status in (404, 405) or (status == 400 and "not found" in body):
        error = ModelMissing(f"{server.name} has no such model ({what})", server.cure_missing)
    elif status in (401, 403):
        cure = "Set KEEPSAKE_OPENAI_API_KEY in the environment of the game"
        error = ModelRejected(f"{server.name} refused the key ({what})", cure)
    elif status == 429:
        error = ModelBusy(f"{server.name} gets too many requests ({what})", "Lower in_flight")
    elif status == 503 or (status >= 500 and "loading model" in said):
        error = ModelBusy(f"{server.name} is not ready ({what})", "Wait a little")
    elif status >= 500:
        error = ModelFailed(f"{server.name} failed ({what})", "See its log")
    else:
        cure = "Check model, context_tokens and max_tokens in llm.md"
        error = ModelRejected(f"{server.name} refused the request ({what})", cure)
    error.said = server.quoted(body, most=len(body))
    return error
