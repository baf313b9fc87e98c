"""The Portal's HTTP proxy in front of the Server.

Unlike Twisted's proxy, it does not log an error when a browser disconnects, and it does not trust
the address that a client claims.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from django.conf import settings
from twisted.web.http import Request
from twisted.web.proxy import ProxyClient, ProxyClientFactory

from keepsake.proxies import client_of

_FOR = b"x-forwarded-for"
_PROTO = b"x-forwarded-proto"
UNAVAILABLE = "The world is not running, or is being reloaded. Try again in a moment"
_BODILESS = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_DATA = b"/agents/api"
"""The prefix of paths whose answers are read by programs."""


class DisconnectingClient(ProxyClient):
    """Fetches one answer from the Server; stops if the browser disconnects."""

    transport: Any  # Twisted's types lack the methods of a TCP connection
    _begun = False

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Send the request; disconnect from the Server when the browser disconnects."""
        self.father.notifyFinish().addErrback(lambda _: self.transport.loseConnection())
        super().connectionMade()

    def handleEndHeaders(self) -> None:  # noqa: N802 - Twisted's name
        """Note that the Server has begun its answer."""
        self._begun = True

    def handleResponseEnd(self) -> None:  # noqa: N802 - Twisted's name
        """Finish the answer, unless the browser has gone or the answer is incomplete."""
        if is_over(self.father):
            self.transport.loseConnection()
            return
        if not self._begun:  # the Server closed the connection before it answered
            self._finished = True
            return answer_unavailable(self.father, self.rest)
        whole = not self.length or self.command == b"HEAD" or self.father.code in _BODILESS
        if whole or self._finished:
            super().handleResponseEnd()
        else:  # only an aborted connection tells the browser that the answer is incomplete
            self._finished = True
            browser: Any = self.father.transport  # a TCP connection
            browser.abortConnection()


class ClientFactory(ProxyClientFactory):
    """Makes a :class:`DisconnectingClient` for each request."""

    protocol: Any = DisconnectingClient

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.headers |= forwarded_headers(self.father)
        # The whole body has been read here, also if it came in chunks.
        if self.headers.pop(b"transfer-encoding", None) is not None:
            self.headers[b"content-length"] = str(len(self.data)).encode()

    def clientConnectionFailed(self, connector: Any, reason: Any) -> None:  # noqa: N802 - Twisted's
        """Answer that the Server is unavailable, if the browser is still connected."""
        if not is_over(self.father):
            answer_unavailable(self.father, self.rest)


def is_over(request: Request) -> bool:
    """Return whether the request is over: it was answered, or the browser has disconnected."""
    return bool(request.finished) or request.channel is None


def answer_unavailable(request: Request, address: bytes) -> None:
    """Answer that the Server is unavailable; as JSON for programs."""
    kind = "text/plain; charset=utf-8"
    body = UNAVAILABLE.encode()
    if address.startswith(_DATA):
        kind = "application/json"
        body = json.dumps({"error": UNAVAILABLE}).encode()
    request.setResponseCode(HTTPStatus.BAD_GATEWAY)
    headers = {"content-type": kind, "content-length": str(len(body)), "cache-control": "no-store"}
    for name, value in headers.items():
        request.setHeader(name, value)
    request.write(body if request.method != b"HEAD" else b"")
    request.finish()


def forwarded_headers(request: Request) -> dict[bytes, bytes]:
    """Return headers about the client that replace those that the client sent."""
    peer = str(getattr(request.client, "host", ""))
    proxies = settings.UPSTREAM_IPS
    trusted = peer in proxies
    encrypted = trusted and request.getHeader(_PROTO) == b"https"
    given = b",".join(request.requestHeaders.getRawHeaders(_FOR, [])).decode("latin-1")
    return {
        _FOR: client_of(peer, given, proxies).encode("latin-1"),
        _PROTO: b"https" if encrypted else b"http",
    }
