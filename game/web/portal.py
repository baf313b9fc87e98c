"""What the Portal passes on of the Server's answers, and who it says that asks.

Twisted's proxy takes a browser that goes for an error of its own, and believes what a client says
of its address.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from twisted.web.http import Request
from twisted.web.proxy import ProxyClient, ProxyClientFactory

PROXIES = ("127.0.0.1",)
"""Proxies whose headers are trusted: a web server on this machine; as Evennia's UPSTREAM_IPS."""
_FOR, _PROTO = b"x-forwarded-for", b"x-forwarded-proto"
AWAY = "The world is not running, or is just being reloaded. Try again in a moment"
_BODILESS = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_DATA = b"/agents/api"
"""How addresses begin whose answers are read by programs."""


class DisconnectingClient(ProxyClient):
    """Asks the Server for one answer, until the browser goes."""

    transport: Any  # Twisted's types know what every connection can, and not what TCP's can
    _begun = False

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """The Server is there; it is let go as soon as the browser has gone."""
        self.father.notifyFinish().addErrback(lambda _: self.transport.loseConnection())
        super().connectionMade()

    def handleEndHeaders(self) -> None:  # noqa: N802 - Twisted's name
        """The Server has said what it answers."""
        self._begun = True

    def handleResponseEnd(self) -> None:  # noqa: N802 - Twisted's name
        """Finish the answer, unless nobody waits for it, or it has broken off."""
        if gone(self.father):
            self.transport.loseConnection()
            return
        if not self._begun:  # the Server went before it had said anything
            self._finished = True
            return away(self.father, self.rest)
        whole = not self.length or self.command == b"HEAD" or self.father.code in _BODILESS
        if whole or self._finished:
            super().handleResponseEnd()
        else:  # that it is not whole can only be told like this
            self._finished = True
            browser: Any = self.father.transport  # TCP, which alone can be cut
            browser.abortConnection()


class ClientFactory(ProxyClientFactory):
    """Makes one for each request."""

    protocol: Any = DisconnectingClient

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.headers |= forwarded_headers(self.father)
        # The body was read here, whole, whichever way it came in pieces.
        if self.headers.pop(b"transfer-encoding", None) is not None:
            self.headers[b"content-length"] = str(len(self.data)).encode()

    def clientConnectionFailed(self, connector: Any, reason: Any) -> None:  # noqa: N802 - Twisted's
        """The Server is not there: say so to a browser that still is."""
        if not gone(self.father):
            away(self.father, self.rest)


def gone(request: Request) -> bool:
    """Whether nothing can be answered any more: the browser went, or has been answered."""
    return bool(request.finished) or request.channel is None


def away(request: Request, address: bytes) -> None:
    """Answer that there is no Server, for programs as JSON."""
    kind, body = "text/plain; charset=utf-8", AWAY.encode()
    if address.startswith(_DATA):
        kind, body = "application/json", json.dumps({"error": AWAY}).encode()
    request.setResponseCode(HTTPStatus.BAD_GATEWAY)
    headers = {"content-type": kind, "content-length": str(len(body)), "cache-control": "no-store"}
    for name, value in headers.items():
        request.setHeader(name, value)
    request.write(body if request.method != b"HEAD" else b"")
    request.finish()


def forwarded_headers(request: Request) -> dict[bytes, bytes]:
    """Headers for the Server, in place of what the client says of itself."""
    peer = str(getattr(request.client, "host", ""))
    believed = peer in PROXIES  # a proxy on this machine
    encrypted = believed and request.getHeader(_PROTO) == b"https"
    given = request.requestHeaders.getRawHeaders(_FOR, []) if believed else []
    return {
        _FOR: visitor(peer, b",".join(given).decode("latin-1")).encode("latin-1"),
        _PROTO: b"https" if encrypted else b"http",
    }


def visitor(peer: str, forwarded: str) -> str:
    """The address that the last trusted proxy saw: earlier ones may be made up."""
    named = [each.strip() for each in forwarded.split(",")]
    strangers = [each for each in named if each and each not in PROXIES]
    return strangers[-1] if strangers else peer
