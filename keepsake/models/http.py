"""HTTP to model servers: JSON objects, whole or streamed, and named errors without API keys.

The limits of a call are in :mod:`keepsake.models.transport`.
"""

from __future__ import annotations

import json
import logging
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx
from httpx_sse import EventSource, ServerSentEvent

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
from keepsake.logs import Subsystem, get_logger
from keepsake.models.profiles import LLM_PAGE
from keepsake.models.transport import ModelTransport, limited, tls, within

log = get_logger(Subsystem.MODELS)
logging.getLogger("httpx").setLevel(logging.WARNING)  # at INFO it logs every call

CONNECT_SECONDS = 5.0
"""Seconds that a connection may take. A server that is up accepts at once, even if it is busy."""
LONGEST_RETRY_AFTER = 60.0
"""The most seconds of a Retry-After that are observed. Rate limits are counted by the minute, and a
mistaken header must not silence an agent for days."""
DRAIN_SECONDS = 0.2
"""Seconds that the end of a connection's answer may take after ``[DONE]``. It is read so that the
connection can be used again; a server that leaves it open loses only the connection."""
HIDDEN = "[secret]"
_DONE = "[DONE]"
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
    "physical batch size",
    "maximum prompt length",
    "maximum number of tokens",
)
"""Phrases of OpenAI, vLLM, llama.cpp, Ollama, LM Studio, TGI, xAI and Gemini for a prompt, or a
text to embed, that is too long."""


@dataclass(frozen=True, slots=True)
class ServerTexts:
    """The texts about one server that error messages use."""

    name: str  # what the server is, with its address
    cure_absent: str  # what to do when the server does not answer
    cure_missing: str  # what to do when the server does not have the model
    key: str = field(default="", repr=False)  # its API key, which its answers may quote
    where: str = LLM_PAGE  # where a person changes the settings

    def quoted(self, body: str, most: int = 200) -> str:
        """Return the beginning of the server's answer on one line, with the key removed."""
        line = one_line(body)  # cut only after the key is removed: half a key would not match
        line = line.replace(self.key, HIDDEN) if self.key else line
        return line if len(line) <= most else line[:most] + "…"


def redacted(host: str) -> str:
    """Return an address for error messages, without the user name and password in it."""
    login, sign, _ = urlsplit(host).netloc.rpartition("@")
    return host.replace(f"{login}@", f"{HIDDEN}@", 1) if sign else host


def client_settings(seconds: float, server: str) -> dict[str, Any]:
    """Return the settings of an httpx client for a server: limits of each call, and no proxy."""
    return {
        "transport": ModelTransport(server),
        "verify": tls(),  # not used, but httpx would read the certificates for its own transport
        "trust_env": False,  # a proxy from the environment never gets prompts
        "timeout": _timeout(seconds),
    }


def _timeout(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


# -- one server


def base_address(host: str) -> str:
    """Return an address that people write with or without ``/v1`` and ``/`` at its end, without."""
    return host.rstrip("/").removesuffix("/v1")


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
            base_url=base_address(host),
            headers={"Authorization": f"Bearer {texts.key}"} if texts.key else {},
            **client_settings(time_limit, texts.name),
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

        ``seconds``: How long it may take; None for the limit of the model's profile.

        Raises:
            ModelError: There was no answer, or it cannot be used.
        """
        seconds = seconds or self._time_limit
        with named_errors(self.texts, seconds), limited(within(seconds)):
            response = self._http.request(method, path, json=body, timeout=_timeout(seconds))
            if not response.is_success:
                raise error_from_response(response, self.texts)
            return self._object(response.text)

    def stream(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Iterator[dict[str, Any]]:
        """Yield the objects of a streamed answer as they arrive.

        Use it inside :func:`named_errors` and :func:`keepsake.models.transport.limited`. The last
        object is ``{"done": True}``. A server that does not stream sends one object.

        Raises:
            ModelError: The server refused the request, or its answer cannot be used.
        """
        request = self._http.build_request("POST", path, json=body, headers=headers)
        try:
            response = self._http.send(request, stream=True)
        except httpx.RemoteProtocolError:  # llama.cpp closes a kept connection after a stream
            response = self._http.send(request, stream=True)
        with closing(response):
            if not response.is_success:
                response.read()
                raise error_from_response(response, self.texts)
            if "event-stream" not in response.headers.get("Content-Type", ""):
                yield self._object(response.read().decode("utf-8")) | {"done": True}
                return
            source: Any = _EventText(response)  # it has what httpx-sse reads of a response
            events = EventSource(source).iter_sse()
            for event in events:
                for data in _texts_in(event):
                    if data == _DONE:
                        yield {"done": True}
                        # Read to the end, so that the connection is reused.
                        with suppress(httpx.TransportError), limited(within(DRAIN_SECONDS)):
                            for _ in events:
                                pass
                        return
                    found = self._object(data)
                    found = {"error": found} if event.event == "error" else found
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
                f"Check that host in {self.texts.where} is the address of a model server",
            )
        return found


def _texts_in(event: ServerSentEvent) -> list[str]:
    """Return the texts in an event: none if it only keeps the connection open, mostly one.

    Some servers leave out the empty lines between events. Then one event has several texts, one a
    line, while the lines of an event as it should be are one text together.
    """
    lines = [line for line in event.data.split("\n") if line.strip()]
    several = all(line == _DONE or (line[0] == "{" and line[-1] == "}") for line in lines)
    return lines if several else [event.data.strip()]


class _EventText:
    """The text of a response for httpx-sse, with what some servers leave out of it.

    llama.cpp of 2025 sends ``error:`` in place of an event with that name, and some servers close
    the connection without an empty line after the last event.
    """

    def __init__(self, response: httpx.Response) -> None:
        self.headers = response.headers
        self._response = response

    def iter_text(self) -> Iterator[str]:
        """Yield the text as it arrives."""
        for text in self._response.iter_text():
            if text.startswith("error:"):  # sent at once, so it begins a piece
                yield f"event: error\ndata:{text.removeprefix('error:')}"
            else:
                yield text
        yield "\n\n"


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
    except (httpx.TimeoutException, httpcore.TimeoutException) as error:
        raise ModelTimeout(
            f"{server.name} gave no answer within {seconds:g} s",
            f"Raise time_limit in {server.where}, or use a smaller model",
        ) from error
    except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
        what = f"{server.name} closed the connection ({error})"
        raise ModelUnavailable(what, server.cure_absent) from error
    except _UNREADABLE as error:
        what = f"{server.name} sent an unreadable answer ({str(error)[:120]})"
        told = f"Check that host in {server.where} is the address of a model server"
        unread = BadAnswer(what, f"{told}, and see its log")
        unread.said = str(error)
        raise unread from error


def error_from_response(response: httpx.Response, server: ServerTexts) -> ModelError:
    """Return the named error for a failed response; its ``until`` is set from Retry-After."""
    error = error_from_status(response.status_code, response.text, server)
    asked = retry_after(response.headers.get("Retry-After", ""))
    wait = min(asked, LONGEST_RETRY_AFTER)
    if asked > wait:
        what = f"{server.name} asks for a pause of {asked:,.0f} s"
        log.warning(f"{what}; it is asked again in {wait:.0f} s")
    if wait:
        error.until = time.monotonic() + wait
    return error


def retry_after(header: str) -> float:
    """Return the seconds that a Retry-After asks for, as a number or as a date; 0 if neither."""
    with suppress(ValueError, OverflowError):
        if header.isdecimal():
            return float(header)
        if header:
            return max((parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds(), 0.0)
    return 0.0


def error_from_status(status: int, body: str, server: ServerTexts) -> ModelError:
    """Return the named error for a failed status; its ``said`` is the whole body."""
    what = f"HTTP {status}: {server.quoted(body)}"
    said = body.lower()
    error: ModelError
    too_long = status in (400, 422, 500) and any(each in said for each in _TOO_LONG)
    if status == 413 or too_long:
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
        cure = f"Check model, context_tokens and max_tokens in {server.where}"
        error = ModelRejected(f"{server.name} refused the request ({what})", cure)
    error.said = server.quoted(body, most=len(body))
    return error
