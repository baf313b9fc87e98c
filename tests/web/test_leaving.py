"""A browser that goes before its answer has come is no fault of anybody."""

from __future__ import annotations

import warnings

import pytest
from twisted.internet.error import ConnectionDone
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web.server import Request
from twisted.web.test.requesthelper import DummyChannel

with warnings.catch_warnings():  # Evennia's proxy is built on what Twisted will drop one day
    warnings.simplefilter("ignore", DeprecationWarning)
    from twisted.web.proxy import ProxyClient, ReverseProxyResource

    from game.web.leaving import Client, ClientFactory, let_browsers_leave

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\n"


def asked() -> Request:
    request = Request(DummyChannel(), False)
    request.gotLength(0)
    request.notifyFinish().addErrback(lambda _: None)
    return request


def on_the_way(request: Request, kind: type[ProxyClient]) -> tuple[ProxyClient, StringTransport]:
    client, server = kind(b"GET", b"/agents/", b"HTTP/1.1", {}, b"", request), StringTransport()
    client.makeConnection(server)
    client.dataReceived(ANSWER + b"ab")
    return client, server


def test_what_twisted_makes_of_it():
    """Else nothing of this would be needed."""
    request = asked()
    client, _ = on_the_way(request, ProxyClient)
    request.connectionLost(Failure(ConnectionDone()))
    with pytest.raises(RuntimeError, match="connection was lost"):
        client.dataReceived(b"cd")


@pytest.mark.parametrize("more", [b"c", b"cd"])
def test_the_server_is_let_go(more):
    request = asked()
    client, server = on_the_way(request, Client)
    request.connectionLost(Failure(ConnectionDone()))
    client.dataReceived(more)
    assert server.disconnecting
    client.connectionLost(Failure(ConnectionDone()))


def test_whoever_stays_gets_the_whole_answer():
    request = asked()
    channel = request.channel
    client, server = on_the_way(request, Client)
    client.dataReceived(b"cd")
    assert channel.transport.written.getvalue().endswith(b"abcd")
    assert request.finished
    assert server.disconnecting


def test_a_server_that_is_not_there_is_told_to_whoever_is():
    stays, goes = asked(), asked()
    channel = stays.channel
    goes.connectionLost(Failure(ConnectionDone()))
    for request in (stays, goes):
        factory = ClientFactory(b"GET", b"/", b"HTTP/1.1", {}, b"", request)
        factory.clientConnectionFailed(None, None)
    assert b"501" in channel.transport.written.getvalue()


def test_a_proxy_makes_these():
    class Proxy(ReverseProxyResource):
        pass

    let_browsers_leave(Proxy)
    factory = Proxy.proxyClientFactoryClass(b"GET", b"/", b"HTTP/1.1", {}, b"", asked())
    assert isinstance(factory.buildProtocol(None), Client)
