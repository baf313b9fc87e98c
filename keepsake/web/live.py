"""``/agents-live``: the event log as server-sent events, for staff in their browsers.

A Twisted resource and no Django view: a view would keep one of Django's twenty threads for each
browser that looks. The newest lines of the log are in RAM, so that a browser that was away for a
moment goes on where it was; a stream remembers only how far it has come.

Everything here belongs to the reactor thread, but :meth:`LiveResource.written`.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IPushProducer
from twisted.internet.task import LoopingCall
from twisted.web.http import Request
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET
from zope.interface import implementer

from keepsake.events.log import WrittenEvent
from keepsake.web.access import FORBIDDEN, HEADERS

type Allowed = Callable[[bytes], Deferred[bool]]
"""Whether the account with these cookies may watch; looked up in a thread."""

KEPT = 2_000
"""Lines in RAM: about 2 MB."""
MOST_STREAMS = 50
BEAT_SECONDS = 5.0
"""Between two signs of life to each browser; then it is looked up again whether it may watch."""
RETRY_MILLISECONDS = 2_000
"""After so long a browser that was cut off comes again."""
_MOST_LAST = 500
"""How many earlier events a stream begins with at most."""
_DIGITS = 16
_log = logging.getLogger("keepsake.web")


class LiveResource(Resource):
    """Streams the newest lines of the log to accounts that may watch.

    Args:
        line: The JSON of an event, as browsers are sent it.
        before: The end of the log as it was before this process began.
    """

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(
        self,
        reactor: Any,
        allowed: Allowed,
        line: Callable[[WrittenEvent], bytes] = lambda event: event.line,
        before: Sequence[WrittenEvent] = (),
    ) -> None:
        super().__init__()
        self.reactor, self.allowed, self.line = reactor, allowed, line
        self.streams: list[LiveStream] = []
        self._records: deque[WrittenEvent] = deque(before, maxlen=KEPT)
        self._beats = LoopingCall(self._tell)
        self._beats.clock = reactor

    # -- the log

    def written(self, lines: Sequence[WrittenEvent]) -> None:
        """Take lines of the log, which writes ten times a second; from any thread."""
        self.reactor.callFromThread(self._take, tuple(lines))

    def _take(self, lines: Sequence[WrittenEvent]) -> None:
        if self._records and lines[0].number <= self.last:
            self._records.clear()  # the log was thrown away, and counts from 1 again
        self._records.extend(lines)
        for stream in list(self.streams):
            stream.wake()

    def since(self, number: int) -> tuple[Sequence[WrittenEvent], bool]:
        """What has come after line ``number``, and whether some before it are missing.

        After a number that is not known, as of another log, that is all there is.
        """
        if not self._records or number == self.last:
            return (), False
        first = self._records[0].number
        if number > self.last:
            return tuple(self._records), True
        return tuple(islice(self._records, max(number + 1 - first, 0), None)), number + 1 < first

    @property
    def last(self) -> int:
        """Number of the newest line; 0 if there is none yet."""
        return self._records[-1].number if self._records else 0

    # -- browsers

    def render_GET(self, request: Request) -> int:  # noqa: N802 - Twisted's name
        """Find out who asks, then stream."""
        for name, value in HEADERS.items():
            request.setHeader(name, value)
        request.notifyFinish().addErrback(lambda _: None)  # that somebody goes is no fault
        self.may_watch(request).addCallback(self._answer, request).addErrback(
            lambda failure: _log.error("[Error] A live stream: %r", failure.value)
        )
        return NOT_DONE_YET

    def may_watch(self, request: Request) -> Deferred[bool]:
        """Whether that browser may; if that cannot be looked up, it may not."""

        def unknown(failure: Any) -> bool:
            _log.error("[Error] It is not known who asks for a live stream: %r", failure.value)
            return False

        return self.allowed(request.getHeader(b"cookie") or b"").addErrback(unknown)

    def _answer(self, allowed: bool, request: Request) -> None:
        if gone(request):
            return
        if not allowed:
            _refuse(request, HTTPStatus.FORBIDDEN, FORBIDDEN)
        elif len(self.streams) >= MOST_STREAMS:
            busy = f"{MOST_STREAMS} pages watch already. Close one of them"
            _refuse(request, HTTPStatus.SERVICE_UNAVAILABLE, busy)
        else:
            request.setHeader(b"content-type", b"text/event-stream; charset=utf-8")
            request.setHeader(b"x-accel-buffering", b"no")  # nginx passes each event on at once
            if not self._beats.running:
                self._beats.start(BEAT_SECONDS, now=False)
            LiveStream(self, request)

    def _tell(self) -> None:
        for stream in list(self.streams):
            stream.beat()

    def close(self) -> None:
        """End all streams; their browsers come again by themselves."""
        if self._beats.running:
            self._beats.stop()
        for stream in list(self.streams):
            stream.end()


@implementer(IPushProducer)
class LiveStream:
    """One browser that watches.

    It writes straight to the connection and keeps nothing: while that takes no more, it waits,
    and goes on from where it was.
    """

    def __init__(self, live: LiveResource, request: Request) -> None:
        self._live, self._request, self._paused = live, request, False
        self._agent = _number(request, b"agent")
        after = _number(request, b"after", request.getHeader("last-event-id"))
        self._after = live.last if after is None else after
        live.streams.append(self)
        request.notifyFinish().addBoth(lambda _: self._forget())
        chunks = [b"retry: %d\n\n" % RETRY_MILLISECONDS]
        if after is None:
            most = min(_number(request, b"last") or 0, _MOST_LAST)
            found = [each for each in live.since(live.last - KEPT)[0] if self._takes(each)]
            chunks += [*map(self._event, found[-most:] if most else ()), self._sign()]
        request.write(b"".join(chunks))
        request.registerProducer(self, True)  # only now: it may be told at once to wait
        self.wake()

    def wake(self) -> None:
        """Send what is new, if the connection takes it."""
        if self._paused or self not in self._live.streams:
            return
        found, gap = self._live.since(self._after)
        chunks = [b'event: gap\ndata: {"after":%d}\n\n' % self._after] if gap else []
        chunks += [self._event(each) for each in found if self._takes(each)]
        self._after = found[-1].number if found else self._after
        if chunks:
            self._request.write(b"".join(chunks))

    def beat(self) -> None:
        """Tell the browser that the line lives, and look whether it still may watch."""
        if not self._paused:
            self._request.write(self._sign())
        looked = self._live.may_watch(self._request)
        looked.addCallback(lambda allowed: None if allowed else self.end())

    def end(self) -> None:
        """End it in good order."""
        self._forget()
        if not gone(self._request):
            self._request.unregisterProducer()
            self._request.finish()

    def _forget(self) -> None:
        self._live.streams = [each for each in self._live.streams if each is not self]

    def _takes(self, event: WrittenEvent) -> bool:
        return self._agent in (None, event.agent_id)

    def _event(self, event: WrittenEvent) -> bytes:
        # A JSON line has no line breaks but those that it escapes.
        kind, line = event.kind.encode(), self._live.line(event)
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.number, kind, line)

    def _sign(self) -> bytes:
        # With the newest number: who comes again begins here, though nothing was shown since.
        number = b"id: %d\n" % self._after if self._after else b""
        return b"event: beat\ndata: {}\n" + number + b"\n"

    # -- from the connection

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """The connection takes no more now."""
        self._paused = True

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """It takes more."""
        self._paused = False
        self._live.reactor.callLater(0, self.wake)

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """The browser is gone."""
        self._forget()


def gone(request: Request) -> bool:
    """Whether nothing can be answered any more: the browser went, or has been answered."""
    return bool(request.finished) or request.channel is None


def _refuse(request: Request, status: HTTPStatus, words: str) -> None:
    request.setResponseCode(status)
    request.setHeader(b"content-type", b"application/json")
    request.write(json.dumps({"error": words}).encode())
    request.finish()


def _number(request: Request, name: bytes, given: str | None = None) -> int | None:
    """A number of the query, unless it is ``given``; None for none, or for what is no number."""
    args: dict[bytes, list[bytes]] = request.args or {}
    said = given or args.get(name, [b""])[-1].decode("latin-1")
    return int(said) if said.isascii() and said.isdecimal() and len(said) <= _DIGITS else None
