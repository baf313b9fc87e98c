"""Connections that send each line at once, and keep no more of one than it may have.

By default a system holds a short line back until the one before it was acknowledged, and
the other side acknowledges late: up to 40 ms, twice on the way from the Server through
the Portal to a player. Lines of a game are short and few, so there is nothing to gain.
"""

from __future__ import annotations

from typing import Any

from evennia.server.amp_client import AMPServerClientProtocol
from evennia.server.portal.amp_server import AMPServerProtocol
from evennia.server.portal.telnet import TelnetProtocol
from twisted.internet.defer import Deferred, succeed

from game.server.bounded_lines import Bounded
from game.server.limits import LONGEST_LINE


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


class PromptPortalEnd(_PromptLine, AMPServerProtocol):
    """The Portal's end of its line to the Server."""

    def broadcast(self, command: Any, sessid: int, **message: Any) -> Deferred[Any]:
        """Tell nobody: Evennia does so while it knows of no Server.

        Whoever connects then is told of when the Server comes. The launcher alone would hear of
        it, which does not know such commands: both would log a traceback.
        """
        return succeed([])


class PromptServerEnd(_PromptLine, AMPServerClientProtocol):
    """The Server's end of its line to the Portal."""
