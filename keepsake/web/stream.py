"""``/agents-live``: the event log as server-sent events, for staff in their browsers.

A Twisted resource and no Django view: a view would keep one of Django's twenty threads for each
browser that looks. What a stream shows, its query and its limits are told in ``docs/events.md``.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IPushProducer
from twisted.web.http import Request
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET
from zope.interface import implementer

from keepsake.events.log import WrittenEvent
from keepsake.events.types import KINDS
from keepsake.web.access import FORBIDDEN, HEADERS
from keepsake.web.hub import KEPT, Hub

type Allowed = Callable[[bytes], Deferred[bool]]
"""Whether the account with these cookies may watch; looked up in a thread."""

RETRY_MILLISECONDS = 2_000
"""After so long a browser that was cut off comes again."""
_MOST_AT_ONCE = 200
"""Events that are written in one turn of the reactor."""
_MOST_LAST = 500
"""How many earlier events a stream begins with at most."""
_DIGITS = 16
_log = logging.getLogger("keepsake.web")


class StreamQuery(BaseModel):
    """What a stream shows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: Annotated[int, Field(ge=0, le=2**53)] | None = None  # None for all agents and the world
    kinds: frozenset[Literal[tuple(KINDS)]] = frozenset()  # type: ignore[valid-type] # empty: all
    last: Annotated[int, Field(ge=0)] = 0  # how many earlier events it begins with
    after: int | None = None  # the last event that the browser has; None if it has none

    @classmethod
    def of(cls, request: Request) -> StreamQuery:
        """Read the query and the header ``Last-Event-ID``.

        Raises:
            ValidationError: Something in it means nothing.
        """
        args = request.args.items()
        given: dict[str, Any] = {
            k.decode("latin-1"): v[-1].decode("utf-8", "replace") for k, v in args
        }
        given["kinds"] = [each for each in given.get("kinds", "").split(",") if each]
        after = request.getHeader("last-event-id") or given.get("after", "")
        # A browser sends back what it was sent; whatever else is there means nothing.
        given["after"] = int(after) if after.isdecimal() and len(after) <= _DIGITS else None
        return cls.model_validate(given)

    def takes(self, event: WrittenEvent) -> bool:
        """Whether it shows this event."""
        if self.kinds and event.kind not in self.kinds:
            return False
        return self.agent in (None, event.agent_id)


class LiveResource(Resource):
    """Streams the hub's events to accounts that may watch.

    ``missing``: Whether it is certain that no agent has that number.
    """

    def __init__(
        self, hub: Hub, allowed: Allowed, reactor: Any, missing: Callable[[int], bool]
    ) -> None:
        super().__init__()
        self.isLeaf = True
        self._hub, self._allowed, self._reactor, self._missing = hub, allowed, reactor, missing

    def render_GET(self, request: Request) -> int:  # noqa: N802 - Twisted's name
        """Find out who asks, then stream."""
        for name, value in HEADERS.items():
            request.setHeader(name, value)
        request.notifyFinish().addErrback(lambda _: None)  # that somebody goes is no fault
        cookies = request.getHeader(b"cookie") or b""
        checked = self._allowed(cookies)
        checked.addErrback(_not_known)
        checked.addCallback(self._answer, request, cookies)
        checked.addErrback(lambda failure: _log.error("[Error] A live stream: %r", failure.value))
        return NOT_DONE_YET

    def _answer(self, allowed: bool, request: Request, cookies: bytes) -> None:
        if gone(request):
            return
        if not allowed:
            return _refuse(request, HTTPStatus.FORBIDDEN, FORBIDDEN)
        try:
            wanted = StreamQuery.of(request)
        except ValidationError as error:
            wrong = (f"{each['loc'][0]}: {each['msg']}" for each in error.errors())
            return _refuse(request, HTTPStatus.BAD_REQUEST, "; ".join(wrong)[:300])
        if self._is_gone(wanted):
            nobody = f"There is no agent {wanted.agent}. GET /agents/api/agents lists all"
            return _refuse(request, HTTPStatus.NOT_FOUND, nobody)
        if self._hub.full:
            busy = f"{self._hub.streams} pages watch already. Close one of them"
            return _refuse(request, HTTPStatus.SERVICE_UNAVAILABLE, busy)
        request.setHeader(b"content-type", b"text/event-stream; charset=utf-8")
        request.setHeader(b"x-accel-buffering", b"no")  # nginx passes each event on at once
        if request.method == b"HEAD":
            return request.finish()

        def still_allowed() -> Deferred[bool]:
            return succeed(False) if self._is_gone(wanted) else self._allowed(cookies)

        return LiveStream(self._hub, request, wanted, self._reactor).start(still_allowed)

    def _is_gone(self, wanted: StreamQuery) -> bool:
        return wanted.agent is not None and self._missing(wanted.agent)


def gone(request: Request) -> bool:
    """Whether nothing can be answered any more: the browser went, or has been answered."""
    return bool(request.finished) or request.channel is None


def _refuse(request: Request, status: HTTPStatus, words: str) -> None:
    body = json.dumps({"error": words}).encode()
    request.setResponseCode(status)
    request.setHeader(b"content-type", b"application/json")
    request.setHeader(b"content-length", str(len(body)).encode())
    request.write(body if request.method != b"HEAD" else b"")
    request.finish()


def _not_known(failure: Any) -> bool:
    """Who it is could not be found out, so it is nobody."""
    _log.error("[Error] Who asks for a live stream could not be looked up: %r", failure.value)
    return False


@implementer(IPushProducer)
class LiveStream:
    """One browser that watches.

    It writes straight to the connection and keeps nothing: while that takes no more, it waits,
    and goes on from where it was; after a while (:class:`keepsake.web.hub.Timing`) it is cut off.
    """

    def __init__(self, hub: Hub, request: Request, wanted: StreamQuery, reactor: Any) -> None:
        self._hub, self._request, self._wanted, self._reactor = hub, request, wanted, reactor
        self._after = wanted.after if wanted.after is not None else hub.last
        self._paused_at: float | None = None
        self._looked_at = reactor.seconds()
        self._still_allowed: Callable[[], Deferred[bool]]
        self._ended = False

    def start(self, still_allowed: Callable[[], Deferred[bool]]) -> None:
        """Begin, with what the browser missed; whether it still may watch is asked now and then."""
        self._still_allowed = still_allowed
        self._request.notifyFinish().addBoth(lambda _: self._forget())
        self._hub.add(self)
        chunks = [b"retry: %d\n\n" % RETRY_MILLISECONDS]
        if self._wanted.after is None:
            chunks += [*map(self._event, self._before()), _beat(self._after)]
        self._request.write(b"".join(chunks))
        # Only now: it may be told at once to wait.
        self._request.registerProducer(self, True)
        self.wake()

    def wake(self) -> None:
        """Send what is new, if the connection takes it."""
        if self._ended or self._paused_at is not None:
            return
        found, gap = self._hub.since(self._after)
        now = found[:_MOST_AT_ONCE]
        chunks = [b'event: gap\ndata: {"after":%d}\n\n' % self._after] if gap else []
        chunks += [self._event(each) for each in now if self._wanted.takes(each)]
        self._after = now[-1].number if now else self._after
        if chunks:
            self._request.write(b"".join(chunks))
        if len(found) > len(now):  # in a turn of its own, and if the connection takes it
            self._reactor.callLater(0, self.wake)

    def beat(self) -> None:
        """Tell the browser, and whatever is on the way, that the line lives; look who it is."""
        now = self._reactor.seconds()
        if self._paused_at is not None:
            if now - self._paused_at >= self._hub.timing.patience:
                self._cut()
            return
        # With the newest number: who comes again begins here, though nothing was shown since.
        self._request.write(_beat(self._after))
        if now - self._looked_at >= self._hub.timing.rights:
            self._looked_at = now
            self._still_allowed().addErrback(_not_known).addCallback(self._looked)

    def end(self) -> None:
        """End it in good order; the browser comes again by itself."""
        self._forget()
        if not gone(self._request):
            self._request.finish()

    # -- from the connection

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        """The connection takes no more now."""
        if self._paused_at is None:
            self._paused_at = self._reactor.seconds()

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """It takes more."""
        self._paused_at = None
        self._reactor.callLater(0, self.wake)

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """The browser is gone."""
        self._forget()

    def _looked(self, allowed: bool) -> None:
        if not allowed:
            self.end()

    def _cut(self) -> None:
        self._forget()
        transport: Any = self._request.transport  # TCP, which alone can be cut
        transport.abortConnection()

    def _forget(self) -> None:
        if not self._ended:
            self._ended = True
            self._hub.remove(self)
            if not gone(self._request):
                self._request.unregisterProducer()

    def _before(self) -> list[WrittenEvent]:
        found, _ = self._hub.since(max(self._hub.last - KEPT, 0))
        most = min(self._wanted.last, _MOST_LAST)
        return [each for each in found if self._wanted.takes(each)][-most:] if most else []

    def _event(self, event: WrittenEvent) -> bytes:
        # A JSON line has no line breaks but those that it escapes.
        kind, line = event.kind.encode(), self._hub.line(event)
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.number, kind, line)


def _beat(number: int) -> bytes:
    return b"event: beat\ndata: {}\n" + (b"id: %d\n\n" % number if number else b"\n")
