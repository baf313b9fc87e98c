"""The Portal's end of a connection, with bounds: line length, rate, and time to log in."""

from __future__ import annotations

from typing import Any

from twisted.internet import reactor
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from game.server.limits import (
    CONNECTION,
    LOGIN_SECONDS,
    LONGEST_LINE,
    LONGEST_MESSAGE,
    NO_LOGIN,
    TOO_FAST,
    TOO_LONG,
    Bucket,
    size_of,
)
from game.server.text_lines import TextSocket


class Bounded:
    """Mixed into a protocol of the Portal, before Evennia's class."""

    timer: IReactorTime = reactor  # type: ignore[assignment]
    _bucket: Bucket | None = None
    _closing: IDelayedCall | None = None

    def init_session(self, *args: Any) -> None:
        """Evennia knows of the connection now: from here on it has time to log in."""
        super().init_session(*args)  # type: ignore[misc]
        self._bucket = Bucket(CONNECTION, self.timer.seconds())
        self._closing = self.timer.callLater(LOGIN_SECONDS, self._leave_unless_logged_in)

    def connectionLost(self, reason: Any = None) -> None:  # noqa: N802 - Twisted's name
        """Nobody is left to be closed."""
        if self._closing is not None and self._closing.active():
            self._closing.cancel()
        super().connectionLost(reason)  # type: ignore[misc]

    def data_in(self, /, **message: Any) -> None:
        """Hand a message on, unless it is too long or comes too fast."""
        size, bucket = size_of(tuple(message.values())), self._bucket
        if bucket is None:
            return
        fits = bucket.has(self.timer.seconds())
        if fits and size <= LONGEST_LINE:
            bucket.take(size)
            super().data_in(**message)  # type: ignore[misc]
        elif bucket.to_be_told():
            self.data_out(text=((TOO_LONG if fits else TOO_FAST,), {}))  # type: ignore[attr-defined]

    def _leave_unless_logged_in(self) -> None:
        if not self.logged_in:  # type: ignore[attr-defined]
            self.disconnect(NO_LOGIN)  # type: ignore[attr-defined]


class BoundedSocket(Bounded, TextSocket):
    """A web socket; Autobahn takes these bounds from the class, and hangs up on more."""

    maxFramePayloadSize = maxMessagePayloadSize = LONGEST_MESSAGE  # noqa: N815 - Autobahn's
    openHandshakeTimeout = 30  # noqa: N815 - 5 s are too few for a busy machine
    handshake_bytes = 0

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Take bytes; before the handshake is over Autobahn would keep any number of them."""
        if self.state == self.STATE_CONNECTING:
            self.handshake_bytes += len(data)
            if self.handshake_bytes > LONGEST_MESSAGE:
                self.transport.abortConnection()
                return
        super().dataReceived(data)
