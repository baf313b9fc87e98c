"""``/agents-live``: the event log as server-sent events, for staff in their browsers.

A Twisted resource and no Django view: a view would keep one of Django's twenty threads for each
browser that looks. What a stream shows, its query and its limits are told in ``docs/events.md``.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IPushProducer
from twisted.web.http import Request
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET
from zope.interface import implementer

from keepsake.events.agent_names import Names
from keepsake.events.types import KINDS
from keepsake.web.live.door import answer, gone
from keepsake.web.live.hub import KEPT, Hub, StreamRecord

type Allowed = Callable[[bytes], Deferred[bool]]
"""Whether the account with these cookies may watch; looked up in a thread."""
type NamesOf = Callable[[int], Names | None]
"""All that the agent with that number is and was called; None if there is none."""

RETRY_MILLISECONDS = 2_000
"""After so long a browser that was cut off comes again."""
_MOST_AT_ONCE = 200
"""Records that are written in one turn of the reactor."""
_MOST_LAST = 500
"""How many earlier records a stream begins with at most."""
_DIGITS = 16
_log = logging.getLogger("keepsake.web")


class StreamQuery(BaseModel):
    """What a stream shows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: Annotated[int, Field(ge=0, le=2**53)] | None = None  # None for all agents and the world
    kinds: frozenset[Literal[tuple(KINDS)]] = frozenset()  # type: ignore[valid-type] # empty: all
    last: Annotated[int, Field(ge=0)] = 0  # how many earlier records it begins with
    after: int | None = None  # the last record that the browser has; None if it has none

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

    def takes(self, record: StreamRecord, names: Names | None) -> bool:
        """Whether it shows this record; ``names`` are what the agent is and was called."""
        if self.kinds and record.kind not in self.kinds:
            return False
        if self.agent is None:
            return True
        return names is not None and names.bore(record.agent, record.at, record.agent_id)


class LiveResource(Resource):
    """Streams the hub's records to accounts that may watch.

    ``forbidden`` is the answer to all others; ``missing`` whether it is certain that no agent has
    that number.
    """

    def __init__(
        self,
        hub: Hub,
        allowed: Allowed,
        names_of: NamesOf,
        reactor: Any,
        *,
        headers: Collection[tuple[str, str]] = (),
        forbidden: str = "",
        missing: Callable[[int], bool] = lambda _: False,
    ) -> None:
        super().__init__()
        self.isLeaf = True
        self._hub, self._allowed, self._names_of, self._reactor = hub, allowed, names_of, reactor
        self._headers, self._forbidden, self._missing = headers, forbidden, missing

    def render_GET(self, request: Request) -> int:  # noqa: N802 - Twisted's name
        """Find out who asks, then stream."""
        for name, value in self._headers:
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
            return _refuse(request, HTTPStatus.FORBIDDEN, self._forbidden)
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
        return self._stream(request, cookies, wanted)

    def _stream(self, request: Request, cookies: bytes, wanted: StreamQuery) -> None:
        request.setHeader(b"content-type", b"text/event-stream; charset=utf-8")
        request.setHeader(b"x-accel-buffering", b"no")  # nginx passes each event on at once
        if request.method == b"HEAD":
            request.finish()
            return
        names_of = self._names_of
        LiveStream(self._hub, request, wanted, names_of, self._reactor).start(
            lambda: self._still(wanted, cookies)
        )

    def _still(self, wanted: StreamQuery, cookies: bytes) -> Deferred[bool]:
        """Whether there is still something to watch, and for whom it was opened still may."""
        return succeed(False) if self._is_gone(wanted) else self._allowed(cookies)

    def _is_gone(self, wanted: StreamQuery) -> bool:
        return wanted.agent is not None and self._missing(wanted.agent)


def _refuse(request: Request, status: HTTPStatus, words: str) -> None:
    answer(request, status, "application/json", json.dumps({"error": words}).encode())


def _not_known(failure: Any) -> bool:
    """Who it is could not be found out, so it is nobody."""
    _log.error("[Error] Who asks for a live stream could not be looked up: %r", failure.value)
    return False


@implementer(IPushProducer)
class LiveStream:
    """One browser that watches.

    It writes straight to the connection and keeps nothing: while that takes no more, it waits,
    and goes on from where it was; after a while (:class:`Timing`) it is cut off.
    """

    def __init__(
        self, hub: Hub, request: Request, wanted: StreamQuery, names_of: NamesOf, reactor: Any
    ) -> None:
        self._hub, self._request, self._wanted = hub, request, wanted
        self._names_of, self._reactor = names_of, reactor
        self._after = wanted.after  # None until it is known which is the newest
        self._paused_at: float | None = None
        self._looked_at = reactor.seconds()
        self._still_allowed: Callable[[], Deferred[bool]]
        self._ended = False

    def start(self, still_allowed: Callable[[], Deferred[bool]]) -> None:
        """Begin, with what the browser missed; whether it still may watch is asked now and then."""
        self._still_allowed = still_allowed
        self._request.notifyFinish().addBoth(lambda _: self._forget())
        self._hub.add(self)
        self._request.write(b"retry: %d\n\n" % RETRY_MILLISECONDS)
        # Only now: it may be told at once to wait.
        self._request.registerProducer(self, True)
        self.wake()

    def wake(self) -> None:
        """Send what is new, if the connection takes it."""
        if self._ended or self._paused_at is not None or not self._hub.primed:
            return
        if self._after is None:
            self._after = self._hub.last
            before = self._before() if self._wanted.last else []
            self._request.write(b"".join(map(_event, before)) + _beat(self._after))
        since = self._hub.since(self._after)
        names, records = self._names(), since.records[:_MOST_AT_ONCE]
        chunks = [_gap(self._after)] if since.gap else []
        chunks += [_event(each) for each in records if self._wanted.takes(each, names)]
        more = len(since.records) > len(records)
        self._after = records[-1].number if more else since.last
        if chunks:
            self._request.write(b"".join(chunks))
        if more:  # in a turn of its own, and if the connection takes it
            self._reactor.callLater(0, self.wake)

    def beat(self) -> None:
        """Tell the browser, and whatever is on the way, that the line lives; look who it is."""
        now = self._reactor.seconds()
        if self._paused_at is not None:
            if now - self._paused_at >= self._hub.timing.patience:
                self._cut()
            return
        # With the newest number: who comes again begins here, though nothing was shown since.
        self._request.write(_beat(self._after or 0))
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

    def _before(self) -> list[StreamRecord]:
        names = self._names()
        records = self._hub.since(max(self._hub.last - KEPT, 0)).records
        return [each for each in records if self._wanted.takes(each, names)][
            -min(self._wanted.last, _MOST_LAST) :
        ]

    def _names(self) -> Names | None:
        return self._names_of(self._wanted.agent) if self._wanted.agent is not None else None


def _event(record: StreamRecord) -> bytes:
    # A JSON line has no line breaks but those that it escapes.
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (record.number, record.kind.encode(), record.line)


def _gap(after: int) -> bytes:
    return b'event: gap\ndata: {"after":%d}\n\n' % after


def _beat(number: int) -> bytes:
    return b"event: beat\ndata: {}\n" + (b"id: %d\n\n" % number if number else b"\n")
