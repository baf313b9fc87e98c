"""The web proxy when the browser or the Server disconnects before an answer is complete."""

from __future__ import annotations

import json
import warnings

import pytest
from twisted.internet.error import ConnectionDone
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web.server import Request
from twisted.web.test.requesthelper import DummyChannel

with warnings.catch_warnings():  # Evennia's proxy uses a deprecated class of Twisted
    warnings.simplefilter("ignore", DeprecationWarning)
    from game.web.portal import UNAVAILABLE, DisconnectingClient

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\n"


class AbortableConnection(DummyChannel.TCP):
    """A browser's connection that can be aborted, as a real one can."""

    aborted = False

    def abortConnection(self) -> None:  # noqa: N802 - Twisted's name
        self.aborted = True


def new_request() -> Request:
    channel = DummyChannel()
    channel.transport = AbortableConnection()
    request = Request(channel, False)
    request.gotLength(0)
    request.notifyFinish().addErrback(lambda _: None)
    return request


def proxied(address: bytes, data: bytes) -> tuple[Request, bytes]:
    """Return the request and what the browser gets if the Server sends only ``data``."""
    request = new_request()
    channel = request.channel
    client = DisconnectingClient(b"GET", address, b"HTTP/1.1", {}, b"", request)
    client.makeConnection(StringTransport())
    client.dataReceived(data)
    client.connectionLost(Failure(ConnectionDone()))
    return request, channel.transport.written.getvalue()


@pytest.mark.parametrize("data", [b"", ANSWER[:20], ANSWER[:-2]])
def test_a_server_that_disconnects_before_its_answer_gives_502(data):
    request, answer = proxied(b"/agents/api/agents/1/pause", data)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert request.code == 502
    assert b"application/json" in head
    assert json.loads(body) == {"error": UNAVAILABLE}
    assert head.lower().count(b"content-length") == 1
    assert request.finished


@pytest.mark.parametrize("body", [b"", b"abc"])
def test_a_truncated_answer_aborts_the_connection(body):
    request, answer = proxied(b"/agents/api/agents", ANSWER + body)
    assert answer.endswith(body)
    assert not request.finished  # on an open connection the browser would wait for the rest
    assert request.channel.transport.aborted
