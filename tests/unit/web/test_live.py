"""The live stream: what browsers are sent, and who gets nothing."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.task import Clock
from twisted.web.test.requesthelper import DummyRequest

from keepsake.events.log import WrittenEvent
from keepsake.web.access import FORBIDDEN
from keepsake.web.live import BEAT_SECONDS, LiveResource

ADA = b"sessionid=ada"


class Reactor(Clock):
    """Turns of the reactor, taken by hand."""

    def callFromThread(self, function: Any, *args: Any) -> None:  # noqa: N802 - Twisted's name
        self.callLater(0, function, *args)


class Browser(DummyRequest):
    """One that reads whatever comes, until it is told to wait."""

    channel = True  # it is there

    def registerProducer(self, producer: Any, streaming: bool) -> None:  # noqa: N802
        self.producer = producer

    def unregisterProducer(self) -> None:  # noqa: N802 - Twisted's name
        pass

    def events(self) -> list[tuple[str, int | None, Any]]:
        """What a browser would dispatch since the last call: kind, number, data; but for beats."""
        told, self.written = b"".join(self.written).decode(), []
        found = []
        for each in told.split("\n\n"):
            lines = dict(re.findall(r"^(\w+): (.*)$", each, re.M))
            if lines.get("event", "beat") != "beat":
                number = int(lines["id"]) if "id" in lines else None
                found.append((lines["event"], number, json.loads(lines["data"])))
        return found

    def numbers(self) -> list[int | None]:
        return [number for _, number, _ in self.events()]


class World:
    """A log that browsers watch."""

    def __init__(self) -> None:
        self.clock, self.number, self.asked = Reactor(), 0, 0
        self.answer: Any = True
        self.live = LiveResource(self.clock, self.check)

    def check(self, cookies: bytes) -> Deferred[bool]:
        self.asked += 1
        if isinstance(self.answer, Exception):
            return fail(self.answer)
        return succeed(self.answer and cookies == ADA)

    def emit(self, count: int) -> None:
        for _ in range(count):
            self.number += 1
            line = json.dumps({"seq": self.number}).encode()
            self.live.written([WrittenEvent(self.number, "error", 7, line)])
        self.clock.pump([0, 0.2, 0, 0])

    def open(self, cookie: bytes = ADA, last_id: int | None = None, **query: Any) -> Browser:
        browser = Browser([b""])
        browser.args = {name.encode(): [str(value).encode()] for name, value in query.items()}
        browser.requestHeaders.setRawHeaders(b"cookie", [cookie])
        if last_id is not None:
            browser.requestHeaders.setRawHeaders(b"last-event-id", [str(last_id)])
        self.live.render(browser)
        self.clock.pump([0, 0, 0])
        return browser


@pytest.fixture
def world() -> World:
    return World()


def test_a_browser_that_comes_again_misses_nothing(world):
    browser = world.open()
    world.emit(2)
    assert browser.numbers() == [1, 2]
    browser.processingFailed(ConnectionError("it goes"))
    assert world.live.streams == []
    world.emit(5)
    for again in (world.open(last_id=2), world.open(after=2)):
        assert again.numbers() == [3, 4, 5, 6, 7]


@pytest.mark.parametrize("query", [{}, {"agent": 7}, {"agent": 999}, {"agent": "x"}])
@pytest.mark.parametrize("cookie", [b"", b"sessionid=tom", b"sessionid=ada; x=\x80\xff"])
def test_a_stranger_learns_nothing(world, query, cookie):
    world.emit(1)
    answer = world.open(cookie, **query)
    assert (answer.responseCode, answer.finished) == (403, 1)
    assert json.loads(b"".join(answer.written)) == {"error": FORBIDDEN}
    assert world.live.streams == []


@pytest.mark.parametrize("answer", [False, RuntimeError("the database is away")])
def test_whoever_may_no_longer_watch_is_shown_no_more(world, answer):
    browser = world.open()
    world.clock.advance(BEAT_SECONDS)
    assert not browser.finished
    world.answer = answer
    world.clock.advance(BEAT_SECONDS)
    assert world.asked == 3
    assert browser.finished
    world.emit(1)
    assert browser.events() == []
    assert world.open().responseCode == 403
