"""A browser, or a Server, that goes before an answer has come is no fault of anybody."""

from __future__ import annotations

import json
import warnings

import pytest
from twisted.internet.error import ConnectionDone
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web.server import Request
from twisted.web.test.requesthelper import DummyChannel

with warnings.catch_warnings():  # Evennia's proxy is built on what Twisted will drop one day
    warnings.simplefilter("ignore", DeprecationWarning)
    from game.web.portal import AWAY, DisconnectingClient

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\n"


class Cuttable(DummyChannel.TCP):
    """A browser's connection, which a real one can have cut."""

    aborted = False

    def abortConnection(self) -> None:  # noqa: N802 - Twisted's name
        self.aborted = True


def asked() -> Request:
    channel = DummyChannel()
    channel.transport = Cuttable()
    request = Request(channel, False)
    request.gotLength(0)
    request.notifyFinish().addErrback(lambda _: None)
    return request


def told(address: bytes, came: bytes) -> tuple[Request, bytes]:
    """What a browser is told when of the Server no more comes than that."""
    request = asked()
    channel = request.channel
    client = DisconnectingClient(b"GET", address, b"HTTP/1.1", {}, b"", request)
    client.makeConnection(StringTransport())
    client.dataReceived(came)
    client.connectionLost(Failure(ConnectionDone()))
    return request, channel.transport.written.getvalue()


@pytest.mark.parametrize("came", [b"", ANSWER[:20], ANSWER[:-2]])
def test_a_server_that_goes_before_it_has_answered_has_not_answered(came):
    request, answer = told(b"/agents/api/agents/1/pause", came)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert request.code == 502
    assert b"application/json" in head
    assert json.loads(body) == {"error": AWAY}
    assert head.lower().count(b"content-length") == 1
    assert request.finished


@pytest.mark.parametrize("body", [b"", b"abc"])
def test_an_answer_that_breaks_off_is_not_taken_for_a_whole_one(body):
    request, answer = told(b"/agents/api/agents", ANSWER + body)
    assert answer.endswith(body)
    assert not request.finished  # a connection that is kept would have the browser wait for ever
    assert request.channel.transport.aborted
