"""Browsers that go before their answer has come: a page that is left asks for much in vain.

Twisted's proxy, which passes the Server's answers on in the Portal, takes each of them for an
error of its own, and writes a traceback into the Portal's log.
"""

from __future__ import annotations

from typing import Any

from twisted.web.proxy import ProxyClient, ProxyClientFactory, ReverseProxyResource

from game.web.gate import gone


class Client(ProxyClient):
    """Asks the Server for one answer, and lets it go when the browser has gone."""

    transport: Any  # as in game.web.gate

    def handleResponsePart(self, buffer: bytes) -> None:  # noqa: N802 - Twisted's name
        """Pass it on, as long as somebody is there."""
        if gone(self.father):
            self.transport.loseConnection()
        else:
            super().handleResponsePart(buffer)

    def handleResponseEnd(self) -> None:  # noqa: N802 - Twisted's name
        """Finish the answer, unless nobody waits for it."""
        if gone(self.father):
            self.transport.loseConnection()
        else:
            super().handleResponseEnd()


class ClientFactory(ProxyClientFactory):
    """Makes one for each request."""

    protocol: Any = Client

    def clientConnectionFailed(self, connector: Any, reason: Any) -> None:  # noqa: N802 - Twisted's
        """The Server is not there; tell whoever still is."""
        if not gone(self.father):
            super().clientConnectionFailed(connector, reason)


def let_browsers_leave(proxy: type[ReverseProxyResource]) -> None:
    """Have ``proxy``, and all resources below it, take it calmly when a browser goes."""
    proxy.proxyClientFactoryClass = ClientFactory
