"""Browsers and Servers that go before an answer has come whole, and browsers that do not read.

Twisted's proxy, which passes the Server's answers on in the Portal, takes a browser that goes for
an error of its own, with a traceback in the Portal's log. A Server that goes, as it does at each
reload, it takes for one that has answered: with 200 and nothing, where it had said nothing. And it
reads a stream faster than the browser does.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from twisted.internet.interfaces import IPushProducer
from twisted.web.http import Request
from twisted.web.proxy import ProxyClient, ProxyClientFactory, ReverseProxyResource
from zope.interface import implementer

from keepsake.agent.waiting import Alarm
from keepsake.web.live.door import answer, gone

PROXIES = ("127.0.0.1",)
"""Proxies whose headers are trusted: a web server on this machine; as Evennia's UPSTREAM_IPS."""
_FOR, _PROTO = b"x-forwarded-for", b"x-forwarded-proto"
AWAY = "The world is not running, or is just being reloaded. Try again in a moment"
BROKE_OFF = (
    "The world went away before it had answered, as it does while it is being reloaded. Whether "
    "it did what was asked for is not known. Try again in a moment"
)
_COME_AGAIN = b"retry: 2000\n\n: the world is being reloaded\n\n"
"""An empty stream, after which a browser asks again; after any error it never would."""
_DATA, _STREAM = b"/agents/api", b"/agents-live"
"""How addresses begin whose answers are read by programs, and the one that has no end."""
_KEPT = frozenset({b"server", b"date"})
_BODILESS = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})


@implementer(IPushProducer)
class DisconnectingClient(ProxyClient):
    """Asks the Server for one answer, as fast as the browser reads it, until the browser goes."""

    transport: Any  # Twisted's types know what every connection can, and not what TCP's can
    patience = 45.0
    """Seconds until a browser that reads nothing of a stream is cut off."""
    _begun = False
    """Whether all that comes before the body has come."""

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """The Server is there; it is let go as soon as the browser has gone."""
        from twisted.internet import reactor  # noqa: PLC0415 - not before the game has chosen one

        self._impatient = Alarm(reactor)
        if gone(self.father):
            self.transport.loseConnection()
            return
        self.father.notifyFinish().addErrback(lambda _: self.stopProducing())
        super().connectionMade()

    def handleEndHeaders(self) -> None:  # noqa: N802 - Twisted's name
        """The Server has said what it answers."""
        self._begun = True
        if not gone(self.father):
            self.father.registerProducer(self, True)

    def handleResponsePart(self, buffer: bytes) -> None:  # noqa: N802 - Twisted's name
        """Pass it on, as long as somebody is there."""
        if gone(self.father):
            self.transport.loseConnection()
        else:
            super().handleResponsePart(buffer)

    def handleResponseEnd(self) -> None:  # noqa: N802 - Twisted's name
        """Finish the answer, unless nobody waits for it, or it has broken off."""
        self._impatient.cancel()
        if gone(self.father):
            self.transport.loseConnection()
            return
        if self._begun:
            self.father.unregisterProducer()
        if not self._begun or (self._lacks() and not self.father.startedWriting):
            self._finished = True
            away(self.father, self.rest, BROKE_OFF)
        elif self._lacks():
            # Its beginning has been passed on; that it is not whole can only be told like this.
            self._finished = True
            self._cut()
        else:
            super().handleResponseEnd()

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """The browser does not read: neither is the Server read from, for a while."""
        self.transport.pauseProducing()
        if self.rest.startswith(_STREAM):  # all else has an end, however slow the way is
            self._impatient.set(self.patience, self._cut)

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """It reads again."""
        self._impatient.cancel()
        self.transport.resumeProducing()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """It is gone: let the Server go as well."""
        self._impatient.cancel()
        self.transport.loseConnection()

    def _cut(self) -> None:
        transport: Any = self.father.transport  # TCP, which alone can be cut
        transport.abortConnection()

    def _lacks(self) -> bool:
        """Whether less has come than was announced."""
        if self._finished or self.command == b"HEAD" or self.father.code in _BODILESS:
            return False
        return bool(self.length)  # what is still to come of it; None if that was not announced


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
            away(self.father, self.rest, AWAY)


def away(request: Request, address: bytes, words: str) -> None:
    """Answer that there is no Server: 502, for programs as JSON; a stream is begun again later."""
    for name, _ in list(request.responseHeaders.getAllRawHeaders()):
        if name.lower() not in _KEPT:  # what the Server had begun to say
            request.responseHeaders.removeHeader(name)
    if address.startswith(_STREAM):
        return answer(request, HTTPStatus.OK, "text/event-stream; charset=utf-8", _COME_AGAIN)
    request.setHeader(b"x-content-type-options", b"nosniff")
    request.setHeader(b"retry-after", b"2")
    if address.startswith(_DATA):
        body, kind = json.dumps({"error": words}), "application/json"
    else:
        body, kind = words, "text/plain; charset=utf-8"
    return answer(request, HTTPStatus.BAD_GATEWAY, kind, body.encode())


def let_browsers_leave(proxy: type[ReverseProxyResource]) -> None:
    """Have ``proxy``, and all resources below it, take it calmly when either side goes."""
    proxy.proxyClientFactoryClass = ClientFactory


def forwarded_headers(request: Request) -> dict[bytes, bytes]:
    """Headers for the Server, in place of what the client says of itself."""
    peer = str(getattr(request.client, "host", ""))
    believed = peer in PROXIES  # a proxy on this machine
    encrypted = request.isSecure() or (believed and request.getHeader(_PROTO) == b"https")
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
