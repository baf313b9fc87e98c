"""The Portal's side: telnet lines, web sockets, and the line to the Server.

A connection takes lines of text only, with limits on their length, their rate, and the time to log
in. Evennia's protocols also let a client call any input function by name before a login. No client
of ours does, and each function breaks on some arguments.

Every line is sent at once (TCP_NODELAY). By default the system holds a short line back for up to
40 ms. The line to the Server is a Unix socket (``private_line.py``), which holds nothing back.
"""

# ruff: noqa: N802, N803, N815 - Twisted, Autobahn and Evennia call these names

from __future__ import annotations

import re
import time
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

import evennia
import psutil
from autobahn.websocket.types import ConnectionDeny
from django.conf import settings
from django.http.request import validate_host
from evennia.server.portal.amp_server import AMPServerProtocol
from evennia.server.portal.mxp import MXP
from evennia.server.portal.telnet import TelnetProtocol
from evennia.server.portal.webclient import WebSocketClient
from evennia.utils.utils import to_str
from twisted.conch.telnet import EOR, IAC, NAWS, NOP, SB
from twisted.internet import reactor
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from game.server.limits import (
    AWAY,
    CONNECTION,
    GONE,
    LOGIN_SECONDS,
    LONGEST_LINE,
    LONGEST_MESSAGE,
    NO_LOGIN,
    OPTIONS,
    TOO_FAST,
    TOO_LONG,
    Bucket,
)
from game.web.requests import ACCOUNT_IN_SESSION

STOPPED = 4012
"""The close code of a web socket when the world stops: the client tries to connect again."""
_MXP_LOCKED = b"\x1b[7z"
"""Locks MXP: the client shows ``<name>`` as text, except in a tag that the game unlocks."""
_PART = re.compile(rb"(?<=\xff)|(?<=\xff\xfa)")
"""Marks a 0xFF that an old client sent as a letter; no telnet command follows it."""
_END_CHECKS = 50
_CHECK_SECONDS = 0.2
"""How often the Portal checks whether the old Server has ended, and the seconds between checks."""
_reactor: Any = reactor
SessionStore: Any = import_module(settings.SESSION_ENGINE).SessionStore


def is_own_page(origin: str, host: str, allowed: list[str]) -> bool:
    """Return whether a page of that origin is one of the game's.

    Args:
        origin: The page's origin as the browser sends it: ``https://world.example``, or ``null``.
        host: The host and port to which the browser connects.
        allowed: The game's host names, as in Django's ALLOWED_HOSTS. With ``*`` the page must come
            from the host that the browser connects to.
    """
    try:
        page = urlsplit(origin).hostname or ""
        asked = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    if validate_host(page, [name for name in allowed if name != "*"]):
        return True
    return "*" in allowed and bool(page) and page == asked


def line_of(message: object) -> str | bytes | None:
    """The line of text in a decoded message; None if there is none."""
    match message:
        case {"text": [[str() as line, *_], _]}:
            # JSON can contain lone surrogates, which UTF-8 cannot.
            return line.encode("utf-8", "replace").decode()
        case {"text": str() | bytes() as line}:
            return line
    return None


class InputLimits:
    """A mixin with the limits of a connection; it goes before Evennia's protocol class."""

    timer: IReactorTime = _reactor
    flooded = False  # whether the client was disconnected for its options
    _bucket: Bucket | None = None
    _options: Bucket | None = None
    _closing: IDelayedCall | None = None

    def init_session(self, *args: Any) -> None:
        """Start the limits of a new connection, with its time to log in."""
        super().init_session(*args)
        self._bucket = Bucket(CONNECTION, self.timer.seconds())
        self._closing = self.timer.callLater(LOGIN_SECONDS, self._leave_unless_logged_in)

    def connectionLost(self, reason: Any = None) -> None:
        """Cancel the time limit."""
        if self._closing is not None and self._closing.active():
            self._closing.cancel()
        super().connectionLost(reason)

    def data_in(self, /, **message: Any) -> None:
        """Pass a line on, unless it is too long or too fast. A client may name an argument self."""
        line = line_of(message)
        bucket = self._bucket
        if bucket is None:
            return
        size = len(repr(message) if line is None else line)
        fits = bucket.has(self.timer.seconds())
        if fits and size <= LONGEST_LINE:
            bucket.take(size)
            if line is not None:
                # Old clients send latin-1 instead of UTF-8. PostgreSQL refuses NUL.
                text = to_str(line, self).replace("\0", "")
                super().data_in(text=[[text], {}])
        elif bucket.should_warn():
            self.data_out(text=((TOO_LONG if fits else TOO_FAST,), {}))

    def takes_option(self) -> bool:
        """Return whether an option may be handled now; disconnect a client that sends too many."""
        now = self.timer.seconds()
        if self._options is None:
            self._options = Bucket(OPTIONS, now)
        if self._options.has(now):
            self._options.take(1)
            return True
        self.flooded = True
        self.transport.abortConnection()
        return False

    def _leave_unless_logged_in(self) -> None:
        if not self.logged_in:
            self.disconnect(NO_LOGIN)


class LimitedWebSocket(InputLimits, WebSocketClient):
    """A web socket that drops unreadable messages.

    Autobahn reads the size limits from the class, and disconnects a client that exceeds them.
    """

    maxFramePayloadSize = LONGEST_MESSAGE
    maxMessagePayloadSize = LONGEST_MESSAGE
    openHandshakeTimeout = 30  # 5 s are too few for a busy machine
    handshake_bytes = 0
    _session_key = ""  # of the session that began at the log-in on this socket

    def onConnect(self, request: Any) -> Any:
        """Accept a connection from the game's own pages, and from programs that are no browser.

        A browser tells which page opens the socket. Any page that somebody visits could else play
        in a world that listens on that person's machine alone.
        """
        origin = request.headers.get("origin")
        if origin is not None and not is_own_page(origin, request.host, settings.ALLOWED_HOSTS):
            raise ConnectionDeny(ConnectionDeny.FORBIDDEN, "The page is of another site")
        return super().onConnect(request)

    def data_out(self, **message: Any) -> None:
        """Send something to this client; Evennia's own method for web sockets does nothing."""
        self.sessionhandler.data_out(self, **message)

    def get_client_session(self) -> Any:
        """Return the browser's session; the one that began at the log-in, if there is one."""
        found = super().get_client_session()
        if not self._session_key:
            return found
        self.csessid = self._session_key
        return SessionStore(session_key=self._session_key)

    def at_login(self) -> None:
        """Begin a new session for the account, and tell its key to this client alone.

        The key in the socket's address is that of the page before the log-in. Somebody else may
        know it, who planted it in the browser, and would be logged in by it, too.
        """
        known = self.get_client_session()
        if known is None or known.get(ACCOUNT_IN_SESSION) == self.uid:
            return  # no browser, or the session of somebody who has logged in already
        fresh = SessionStore()
        fresh[ACCOUNT_IN_SESSION] = self.uid
        fresh.create()
        self._session_key = fresh.session_key
        self.csessid = self._session_key
        self.data_out(session_key=((self._session_key,), {}))

    def dataReceived(self, data: bytes) -> None:
        """Take bytes. Autobahn itself would buffer any number of them during the handshake."""
        if self.state == self.STATE_CONNECTING:
            self.handshake_bytes += len(data)
            if self.handshake_bytes > LONGEST_MESSAGE:
                self.transport.abortConnection()
                return
        super().dataReceived(data)

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        """Take a frame: a line, the number of columns that a client reports, or its farewell."""
        try:
            flags = self.protocol_flags
            message = self.wire_format.decode_incoming(payload, isBinary, protocol_flags=flags)
        except (TypeError, ValueError, RecursionError):
            message = None  # names that are lists, numbers of 5,000 digits, brackets without end
        match message:
            case {"websocket_close": _}:
                self.disconnect()
            case {"client_options": [_, {"screenwidth": int(width)}]} if 20 <= width <= 200:
                if self.protocol_flags.get("SCREENWIDTH") != {0: width} and self.takes_option():
                    self.protocol_flags["SCREENWIDTH"] = {0: width}
                    self.sessionhandler.sync(self)
            case {"text": text}:
                self.data_in(text=text)

    def disconnect(self, reason: str | None = None) -> None:
        """Close the connection, with a code that lets clients reconnect if the world stops."""
        if hasattr(self.sessionhandler, "_disconnect_all"):
            self.sendClose(STOPPED)
        else:
            super().disconnect(reason)


class LimitedTelnet(InputLimits, TelnetProtocol):
    """A player's telnet line."""

    def connectionMade(self) -> None:
        """Stop waiting for acknowledgements."""
        self.transport.setTcpNoDelay(True)
        super().connectionMade()

    def dataReceived(self, data: bytes) -> None:
        """Take bytes. Only the beginning of a too long line is kept, enough to refuse it."""
        for part in filter(None, _PART.split(data)):
            if self.flooded:
                return
            text = b""
            if self.state == "escaped" and part[:1] != EOR and part[:1] < NOP:
                text = IAC
            elif self.state == "subnegotiation" and not self.commands:
                text = b"" if part[:1] in self.negotiationMap else IAC + IAC + SB
                self.state = "data" if text else self.state
            super().dataReceived(text + part)
        if NAWS in data and self.protocol_flags.get("AUTORESIZE"):  # a new window size
            self.sessionhandler.sync(self)
        self.line_buffer = self.line_buffer[: LONGEST_LINE + 1]
        if len(getattr(self, "commands", ())) > LONGEST_LINE:  # options that never end
            self.transport.abortConnection()

    def commandReceived(self, command: bytes, argument: bytes | None) -> None:
        """Handle a telnet command, such as DO or DONT, unless there are too many."""
        if self.takes_option():
            super().commandReceived(command, argument)

    def negotiate(self, data: list[bytes]) -> None:
        """Handle the data of an option, such as a window's size, unless there are too many."""
        if self.takes_option():
            super().negotiate(data)

    def requestNegotiation(self, about: bytes, data: bytes) -> None:
        """Negotiate an option. A client with MXP treats only the game's own links as tags."""
        super().requestNegotiation(about, data)
        if about == MXP:
            self._write(_MXP_LOCKED)


class PortalAmpServer(AMPServerProtocol):
    """The Portal's end of its connection to the Server."""

    lost_at = 0.0

    def connectionLost(self, reason: Any = None) -> None:
        """Note when the Server went away, and tell the players if nobody had asked it to stop."""
        if self.factory.server_connection is self:
            PortalAmpServer.lost_at = time.time()
            if self.factory.portal.server_restart_mode is None:
                evennia.PORTAL_SESSION_HANDLER.announce_all(GONE)
        super().connectionLost(reason)

    def broadcast(self, command: Any, sessid: int, **message: Any) -> Deferred[Any]:
        """Send nothing. Evennia calls this while it knows of no Server.

        While the Server starts, it first receives the list of all sessions. A player who logs in
        before that would be logged out by the list. So new sessions wait for :meth:`admit`.
        """
        return succeed([])

    def send_MsgPortal2Server(self, session: Any, **message: Any) -> Deferred[Any]:
        """Pass on a player's line, or tell the player that the Server is away."""
        if self.factory.server_connection is None:
            session.data_out(text=((AWAY,), {}))
            return succeed({})
        handed_on: Deferred[Any] = super().send_MsgPortal2Server(session, **message)
        return handed_on

    def start_server(self, server_twistd_cmd: list[str], checks: int = _END_CHECKS) -> None:
        """Start a Server as soon as the old one has ended."""
        before = self.factory.portal.server_process_id
        if checks and before and psutil.pid_exists(before):
            _reactor.callLater(_CHECK_SECONDS, self.start_server, server_twistd_cmd, checks - 1)
        else:
            self.wait_for_server_connect(self.admit)
            super().start_server(server_twistd_cmd)

    def admit(self) -> None:
        """Connect the sessions that came while there was no Server."""
        sessions = evennia.PORTAL_SESSION_HANDLER
        for session in list(sessions.values()):
            if self.lost_at < session.conn_time <= sessions.connection_time:
                sessions.connect(session)
