"""Connections that send each line at once, and keep no more of one than it may have.

By default a system holds a short line back until the one before it was acknowledged, and
the other side acknowledges late: up to 40 ms, twice on the way from the Server through
the Portal to a player. Lines of a game are short and few, so there is nothing to gain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evennia.server.portal.amp_server import AMPServerProtocol
from evennia.server.portal.mxp import MXP
from evennia.server.portal.telnet import TelnetProtocol
from twisted.internet.defer import Deferred, succeed

from game.server.bounded_lines import Bounded
from game.server.limits import AWAY, LONGEST_LINE

MOST_MODULES = 64
_SUPPORTS: dict[str, Callable[[set[str], set[str]], set[str]]] = {
    "supports_set": lambda _, named: named,
    "supports_add": set.union,
    "supports_remove": set.difference,
}
"""GMCP's ``Core.Supports``, as Evennia names it, and what each does to the modules known."""
_MXP_LOCKED = b"\x1b[7z"
"""From here on text is text, ``<name>`` too, but where a line says otherwise for one tag."""


class _PromptLine:
    """Mixed into a protocol, before Evennia's class."""

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Stop waiting for acknowledgements."""
        self.transport.setTcpNoDelay(True)  # type: ignore[attr-defined]
        super().connectionMade()  # type: ignore[misc]


class PromptTelnet(_PromptLine, Bounded, TelnetProtocol):
    """A player's telnet line."""

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Take bytes; of a line that is too long so much stays that it is refused as such."""
        super().dataReceived(data)
        self.line_buffer = self.line_buffer[: LONGEST_LINE + 1]
        if len(getattr(self, "commands", ())) > LONGEST_LINE:  # options that never end
            self.transport.abortConnection()

    def learn(self, message: dict[str, Any]) -> None:
        """Which messages of GMCP it wants: ``Core.Supports.Set ["Room 1", "Comm.Channel 1"]``."""
        wanted = {*self.protocol_flags.get("GMCP", ())}
        for name, change in _SUPPORTS.items():
            match message.get(name):
                case [[*modules], _]:
                    named = {str(each).split(" ")[0].lower() for each in modules[:MOST_MODULES]}
                    wanted = change(wanted, named)
        self.note("GMCP", sorted(wanted)[:MOST_MODULES])

    def requestNegotiation(self, about: bytes, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Negotiate; to a client with MXP nothing but the game's own links are tags."""
        super().requestNegotiation(about, data)
        if about == MXP:
            self._write(_MXP_LOCKED)


class PromptPortalEnd(_PromptLine, AMPServerProtocol):
    """The Portal's end of its line to the Server."""

    def broadcast(self, command: Any, sessid: int, **message: Any) -> Deferred[Any]:
        """Tell nobody: Evennia does so while it knows of no Server.

        Whoever connects then is told of when the Server comes. The launcher alone would hear of
        it, which does not know such commands: both would log a traceback.
        """
        return succeed([])

    def send_MsgPortal2Server(self, session: Any, **message: Any) -> Deferred[Any]:  # noqa: N802
        """Hand on what a player typed, or say that nobody hears it."""
        if self.factory.server_connection is None:
            session.data_out(text=((AWAY,), {}))
            return succeed({})
        handed_on: Deferred[Any] = super().send_MsgPortal2Server(session, **message)
        return handed_on

    def start_server(self, server_twistd_cmd: list[str]) -> None:
        """Somebody asks for a Server; by which command the watchdog knows."""
        self.factory.portal.watchdog.launch()

    def stop_server(self, mode: str = "shutdown") -> None:
        """Somebody asks the Server to end, for good or for another one."""
        super().stop_server(mode)
        if mode == "shutdown":
            self.factory.portal.watchdog.let_go()
