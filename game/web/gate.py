"""What the Portal, which players reach, lets through to the Server's own resources.

The Portal alone sees who really connects: to the Server everything comes from the Portal.
"""

from __future__ import annotations

import hmac
import ipaddress
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from twisted.internet.interfaces import IPushProducer
from twisted.web.http import HTTPClient, Request
from twisted.web.proxy import ProxyClient, ProxyClientFactory
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET
from zope.interface import implementer

TOKEN_VARIABLE = "KEEPSAKE_METRICS_TOKEN"
SHORTEST_TOKEN = 16
PATIENCE_SECONDS = 45.0
"""A browser that has read nothing for so long is cut off."""
COME_AGAIN = b"retry: 2000\n\n: the world is being reloaded\n\n"
_BY_ANOTHER = ("x-forwarded-for", "x-real-ip", "forwarded", "via", "x-forwarded-host")
"""What a proxy adds. Who really asks cannot be known then: whoever asked it may have lied."""
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


class Door:
    """Who may read the metrics.

    Whoever is on this machine, and connects without a proxy, may, as long as there is no token;
    with a token, whoever shows it, from wherever, and nobody else.

    Args:
        token: The token; empty for none. One shorter than :data:`SHORTEST_TOKEN` opens to nobody.
    """

    def __init__(self, token: str = "") -> None:
        self._token = token.strip().encode()

    @property
    def problem(self) -> str:
        """Why nobody may; empty if somebody may."""
        if self._token and len(self._token) < SHORTEST_TOKEN:
            return (
                f"{TOKEN_VARIABLE} has less than {SHORTEST_TOKEN} characters, so that /metrics is "
                "open to nobody. Make one with `openssl rand -hex 24` and restart"
            )
        return ""

    def opens(self, request: Request) -> bool:
        """Whether whoever sends this may read them."""
        if self._token:
            return not self.problem and hmac.compare_digest(_shown(request), self._token)
        if any(request.requestHeaders.hasHeader(name) for name in _BY_ANOTHER):
            return False
        # By a name of this machine alone: a page elsewhere may have had its own name lead here.
        return _is_loopback(request) and _host(request) in _HERE


def _shown(request: Request) -> bytes:
    scheme, _, token = (request.getHeader(b"authorization") or b"").partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def _host(request: Request) -> str:
    try:
        return urlsplit(f"//{request.getHeader('host') or ''}").hostname or ""
    except ValueError:
        return ""


def _is_loopback(request: Request) -> bool:
    try:
        return ipaddress.ip_address(getattr(request.client, "host", "")).is_loopback
    except ValueError:
        return False


class Guarded(Resource):
    """Lets through to ``inner`` whoever may read the metrics; all others learn nothing.

    Args:
        door: Who may.
        inner: What is behind.
    """

    def __init__(self, door: Door, inner: Resource) -> None:
        super().__init__()
        self.isLeaf = True
        self._door, self._inner = door, inner

    def render(self, request: Request) -> Any:
        """Refuse, or hand on."""
        if not self._door.opens(request):
            return refusal(request, HTTPStatus.FORBIDDEN)
        if request.postpath not in ([], [b""]):
            return refusal(request, HTTPStatus.NOT_FOUND)
        if request.method not in (b"GET", b"HEAD"):
            request.setHeader(b"allow", b"GET, HEAD")
            return refusal(request, HTTPStatus.METHOD_NOT_ALLOWED)
        return self._inner.render(request)


def refusal(request: Request, status: HTTPStatus) -> bytes:
    """An answer with nothing in it."""
    request.setResponseCode(status)
    request.setHeader(b"content-type", b"text/plain; charset=utf-8")
    request.setHeader(b"cache-control", b"no-store")
    return b""


class StreamProxy(Resource):
    """Passes a stream of the Server on to a browser, and ends with whichever ends first.

    Twisted's own proxy goes on reading from the Server when the browser has gone, reads faster
    than the browser does, and tells a browser of a Server that is being reloaded in a way that
    it never comes again.

    Args:
        host: The Server's address.
        port: Its port.
        path: The path there.
        reactor: Twisted's reactor.
    """

    def __init__(self, host: str, port: int, path: bytes, reactor: Any) -> None:
        super().__init__()
        self.isLeaf = True
        self._host, self._port, self._path, self._reactor = host, port, path, reactor

    def render(self, request: Request) -> Any:
        """Ask the Server."""
        if request.method not in (b"GET", b"HEAD"):
            request.setHeader(b"allow", b"GET, HEAD")
            return refusal(request, HTTPStatus.METHOD_NOT_ALLOWED)
        query = request.uri.partition(b"?")[2]
        rest = self._path + b"?" + query if query else self._path
        factory = _Passing(request, rest, self._reactor)
        connector = self._reactor.connectTCP(self._host, self._port, factory)
        request.notifyFinish().addErrback(lambda _: factory.browser_gone(connector))
        return NOT_DONE_YET


class _Passing(ProxyClientFactory):
    """One stream on its way."""

    noisy = False

    def __init__(self, request: Request, rest: bytes, reactor: Any) -> None:
        headers = dict(request.getAllHeaders())
        super().__init__(request.method, rest, request.clientproto, headers, b"", request)
        self._reactor = reactor
        self._client: _Passenger | None = None

    def buildProtocol(self, addr: Any) -> _Passenger:  # noqa: N802 - Twisted's name
        """Make the Server's end."""
        self._client = _Passenger(
            self.command, self.rest, self.version, self.headers, self.data, self.father
        )
        self._client.clock = self._reactor
        return self._client

    def clientConnectionFailed(self, connector: Any, reason: Any) -> None:  # noqa: N802
        """There is no Server now: it is being reloaded."""
        if not self.father._disconnected:
            come_again(self.father)

    def browser_gone(self, connector: Any) -> None:
        """Let the Server go as well."""
        if self._client is not None:
            self._client.browser_gone()
        else:
            connector.disconnect()


@implementer(IPushProducer)
class _Passenger(ProxyClient):
    """The Server's end of a stream."""

    clock: Any = None
    _status = 0
    _impatient: Any = None

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Ask, and read no faster than the browser does."""
        if self.father._disconnected:
            self.browser_gone()
            return
        super().connectionMade()
        self.father.registerProducer(self, True)

    def handleStatus(self, version: bytes, code: bytes, message: bytes) -> None:  # noqa: N802
        """Remember that there was an answer."""
        self._status = int(code)
        super().handleStatus(version, code, message)

    def handleResponseEnd(self) -> None:  # noqa: N802 - Twisted's name
        """The Server has ended it."""
        if self._finished:
            return
        self._finished = True
        self._calm()
        self.father.unregisterProducer()
        if self.father._disconnected:
            pass
        elif self._status:
            self.father.finish()
        else:  # it went while it was being asked
            come_again(self.father)
        self.transport.loseConnection()

    def connectionLost(self, reason: Any = None) -> None:  # noqa: N802 - Twisted's name
        """The connection is gone, whoever ended it."""
        HTTPClient.connectionLost(self, reason)
        self.handleResponseEnd()

    def browser_gone(self) -> None:
        """End the connection to the Server at once."""
        self._finished = True
        self._calm()
        if self.transport is not None:
            self.transport.abortConnection()

    # -- from the browser's connection

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """The browser does not read: neither is the Server read from, for a while."""
        self.transport.pauseProducing()
        if self._impatient is None:
            self._impatient = self.clock.callLater(PATIENCE_SECONDS, self._cut)

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """It reads again."""
        self._calm()
        self.transport.resumeProducing()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """It is gone."""
        self.browser_gone()

    def _cut(self) -> None:
        self._impatient = None
        self.father.transport.abortConnection()
        self.browser_gone()

    def _calm(self) -> None:
        if self._impatient is not None and self._impatient.active():
            self._impatient.cancel()
        self._impatient = None


def come_again(request: Request) -> None:
    """An empty stream, after which a browser asks again; after any error it never would."""
    request.setResponseCode(HTTPStatus.OK)
    request.setHeader(b"content-type", b"text/event-stream; charset=utf-8")
    request.setHeader(b"cache-control", b"no-store")
    request.write(COME_AGAIN)
    request.finish()
