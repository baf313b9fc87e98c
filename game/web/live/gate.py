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
from twisted.internet.protocol import Protocol
from twisted.web.client import Agent, HTTPConnectionPool
from twisted.web.http import Request
from twisted.web.http_headers import Headers
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET
from zope.interface import implementer

from game.web.live.metrics_token import CURE, too_short

CONNECT_SECONDS = 5.0
PATIENCE_SECONDS = 45.0
"""A browser that has read nothing for so long is cut off."""
COME_AGAIN = b"retry: 2000\n\n: the world is being reloaded\n\n"
_BY_ANOTHER = ("x-forwarded-for", "x-real-ip", "forwarded", "via", "x-forwarded-host")
"""What a proxy adds. Who really asks cannot be known then: whoever asked it may have lied."""
_ASKED_WITH = (b"cookie", b"last-event-id", b"host")
"""What of a browser's request concerns the Server."""
_ITS_OWN = frozenset({b"connection", b"transfer-encoding", b"content-length", b"date", b"server"})
"""What of an answer concerns only the connection that it came on."""
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


class Door:
    """Who may read the metrics.

    Whoever is on this machine, and connects without a proxy, may, as long as there is no token;
    with a token, whoever shows it, from wherever, and nobody else.

    Args:
        token: The token; empty for none. One shorter than
            :data:`game.web.live.metrics_token.SHORTEST_TOKEN` opens to nobody.
    """

    def __init__(self, token: str = "") -> None:
        self._token = token.strip().encode()
        wrong = too_short(token)
        self.problem = f"{wrong}. {CURE}" if wrong else ""
        """Why nobody may; empty if somebody may."""

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


class GuardedResource(Resource):
    """Lets through to ``inner`` whoever may read the metrics; all others learn nothing."""

    def __init__(self, door: Door, inner: Resource) -> None:
        super().__init__()
        self.isLeaf = True
        self._door, self._inner = door, inner

    def render(self, request: Request) -> Any:
        """Refuse, or hand on."""
        if not self._door.opens(request):
            return refusal(request, HTTPStatus.FORBIDDEN)
        rest: list[bytes] = getattr(request, "postpath", [])  # set by Twisted's Site
        if rest not in ([], [b""]):
            return refusal(request, HTTPStatus.NOT_FOUND)
        if request.method not in (b"GET", b"HEAD"):
            request.setHeader(b"allow", b"GET, HEAD")
            return refusal(request, HTTPStatus.METHOD_NOT_ALLOWED)
        return self._inner.render(request)


def gone(request: Request) -> bool:
    """Whether nothing can be answered any more: the browser went, or has been answered."""
    return bool(request.finished) or request.channel is None


def refusal(request: Request, status: HTTPStatus) -> bytes:
    """An answer with nothing in it."""
    request.setResponseCode(status)
    request.setHeader(b"content-type", b"text/plain; charset=utf-8")
    request.setHeader(b"cache-control", b"no-store")
    return b""


def answer(request: Request, status: HTTPStatus, kind: str, body: bytes) -> None:
    """Send a whole answer of that content type, unless nobody is there to get it."""
    if gone(request):
        return
    request.setResponseCode(status)
    request.setHeader(b"content-type", kind.encode())
    request.setHeader(b"content-length", str(len(body)).encode())
    request.setHeader(b"cache-control", b"no-store")
    request.write(body if request.method != b"HEAD" else b"")
    request.finish()


class StreamProxy(Resource):
    """Passes a stream of the Server on to a browser, and ends with whichever ends first.

    Evennia's own proxy goes on reading from the Server when the browser has gone, reads faster
    than the browser does, and tells a browser of a Server that is being reloaded in a way that
    it never comes again.

    Args:
        host: The Server's address.
        port: Its port.
        path: The path there.
        reactor: Twisted's reactor.
        patience: Seconds until a browser that reads nothing is cut off.
    """

    def __init__(
        self,
        host: str,
        port: int,
        path: bytes,
        reactor: Any,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        super().__init__()
        self.isLeaf = True
        self._url = b"http://%s:%d%s" % (host.encode(), port, path)
        self._reactor, self._patience = reactor, patience
        pool = HTTPConnectionPool(reactor, persistent=False)
        pool._factory.noisy = False  # two lines of the Portal's log for each browser, else
        self._agent = Agent(reactor, connectTimeout=CONNECT_SECONDS, pool=pool)

    def render(self, request: Request) -> Any:
        """Ask the Server."""
        if request.method not in (b"GET", b"HEAD"):
            request.setHeader(b"allow", b"GET, HEAD")
            return refusal(request, HTTPStatus.METHOD_NOT_ALLOWED)
        query = request.uri.partition(b"?")[2]
        url = self._url + b"?" + query if query else self._url
        headers = Headers()
        for name in _ASKED_WITH:
            headers.setRawHeaders(name, request.requestHeaders.getRawHeaders(name, []))
        asked = self._agent.request(request.method, url, headers)
        passing = _Passing(request, self._reactor, self._patience)
        request.notifyFinish().addErrback(lambda _: passing.stop(asked))
        asked.addCallback(passing.begin).addErrback(lambda _: come_again(request))
        return NOT_DONE_YET


@implementer(IPushProducer)
class _Passing(Protocol):
    """One stream on its way: reads from the Server as fast as the browser does."""

    transport: Any  # Twisted's types know what every connection can, and not what TCP's can

    def __init__(self, browser: Request, reactor: Any, patience: float) -> None:
        self._browser, self._reactor, self._patience = browser, reactor, patience
        self._impatient: Any = None

    def begin(self, response: Any) -> None:
        """The Server answers."""
        self._browser.setResponseCode(response.code)
        for name, values in response.headers.getAllRawHeaders():
            if name.lower() not in _ITS_OWN:
                self._browser.responseHeaders.setRawHeaders(name, values)
        response.deliverBody(self)

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """The Server's words begin to come."""
        if not gone(self._browser):
            self._browser.registerProducer(self, True)
        elif self.transport is not None:
            self.transport.loseConnection()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Pass them on at once."""
        if not gone(self._browser):
            self._browser.write(data)

    def connectionLost(self, reason: Any = None) -> None:  # noqa: N802 - Twisted's name
        """The Server has ended it."""
        self._calm()
        if not gone(self._browser):
            self._browser.unregisterProducer()
            self._browser.finish()

    def stop(self, asked: Any) -> None:
        """The browser is gone: let the Server go as well."""
        self._calm()
        asked.cancel()  # if it has not answered yet
        if self.transport is not None:
            self.transport.loseConnection()

    # -- from the browser's connection

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """The browser does not read: neither is the Server read from, for a while."""
        if self.transport is not None:
            self.transport.pauseProducing()
        if self._impatient is None:
            self._impatient = self._reactor.callLater(self._patience, self._cut)

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """It reads again."""
        self._calm()
        if self.transport is not None:
            self.transport.resumeProducing()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """It is gone; :meth:`stop` is told as well."""

    def _cut(self) -> None:
        self._impatient = None
        transport: Any = self._browser.transport  # TCP, which alone can be cut
        transport.abortConnection()

    def _calm(self) -> None:
        if self._impatient is not None and self._impatient.active():
            self._impatient.cancel()
        self._impatient = None


def come_again(request: Request) -> None:
    """An empty stream, after which a browser asks again; after any error it never would."""
    if gone(request):
        return
    request.setResponseCode(HTTPStatus.OK)
    request.setHeader(b"content-type", b"text/event-stream; charset=utf-8")
    request.setHeader(b"cache-control", b"no-store")
    request.write(COME_AGAIN)
    request.finish()
