"""The Portal's end of a connection: it takes lines of text, within bounds, and nothing else.

Bounds are the length of a line, their rate, and the time to log in. Evennia's protocols also let a
client call any of its input functions by name, with any arguments, before anybody has logged in. No
client of ours does, and each function breaks on some of them.
"""

from __future__ import annotations

from typing import Any

from evennia.server.portal.webclient import WebSocketClient
from evennia.server.portal.wire_formats.evennia_v1 import EvenniaV1Format
from evennia.utils.utils import to_str
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

UNREADABLE = 4400
"""Code with which a web socket is closed that does not speak its format."""
STOPPED = 4012
"""Code with which it is closed when the world stops: whoever played is to try again."""
REFUSAL = 'Send ["text", ["look"], {}], as JSON in UTF-8'
_CLOSE = "websocket_close"


def line_in(message: object) -> str | bytes | None:
    """The line of text in a decoded message; None if there is none."""
    match message:
        case {"text": [[str() as line, *_], _]}:
            # JSON can name halves of signs, which no file can hold.
            return line.encode("utf-8", "replace").decode()
        case {"text": str() | bytes() as line}:
            return line
    return None


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
        """Hand a line on, unless it is too long or comes too fast; clients may call theirs self."""
        size, bucket = size_of(tuple(message.values())), self._bucket
        if bucket is None:
            return
        fits = bucket.has(self.timer.seconds())
        if fits and size <= LONGEST_LINE:
            bucket.take(size)
            line = line_in(message)
            if line is None:
                self.learn(message)
            else:  # what is no UTF-8 is latin-1, as an old client sends it
                super().data_in(text=[[to_str(line, self)], {}])  # type: ignore[misc]
        elif bucket.to_be_told():
            self.data_out(text=((TOO_LONG if fits else TOO_FAST,), {}))  # type: ignore[attr-defined]

    def learn(self, message: dict[str, Any]) -> None:
        """Take what a client tells of itself: an array of names, or fields with values."""

    def note(self, flag: str, value: Any) -> None:
        """Keep a protocol flag, here and with the Server."""
        if self.protocol_flags.get(flag) != value:  # type: ignore[attr-defined]
            self.protocol_flags[flag] = value  # type: ignore[attr-defined]
            self.sessionhandler.sync(self)  # type: ignore[attr-defined]

    def _leave_unless_logged_in(self) -> None:
        if not self.logged_in:  # type: ignore[attr-defined]
            self.disconnect(NO_LOGIN)  # type: ignore[attr-defined]


class BoundedSocket(Bounded, WebSocketClient):
    """A web socket that closes, and says why, where it cannot read what it gets.

    Autobahn takes the bounds of a message from the class, and hangs up on more.
    """

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

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: N802, N803 - Autobahn's
        """Take a frame."""
        message = self._decoded(payload, isBinary)
        if line_in(message) is not None or "client_options" in (message or ()):
            self.data_in(**message)
        elif isinstance(message, dict) and _CLOSE in message:
            self.disconnect()
        elif self.wire_format.name == EvenniaV1Format.name and not _names_something(message):
            self.sendClose(UNREADABLE, REFUSAL)

    def disconnect(self, reason: str | None = None) -> None:
        """Hang up. A world that stops lets its players come back as they were."""
        if hasattr(self.sessionhandler, "_disconnect_all"):
            self.sendClose(STOPPED)
        else:
            super().disconnect(reason)

    def learn(self, message: dict[str, Any]) -> None:
        """How many columns its window has."""
        match message:
            case {"client_options": [_, {"screenwidth": int(width)}]} if 20 <= width <= 200:
                self.note("SCREENWIDTH", {0: width})

    def _decoded(self, payload: bytes, binary: bool) -> Any:
        try:
            return self.wire_format.decode_incoming(
                payload, binary, protocol_flags=self.protocol_flags
            )
        except (TypeError, ValueError, RecursionError):
            return None  # names that are lists, numbers of 5,000 digits, brackets without end


def _names_something(message: object) -> bool:
    """Whether it is for another function of Evennia's: whole, if nothing that is heard here."""
    return isinstance(message, dict) and all(
        isinstance(name, str) and name != "text" for name in message
    )
