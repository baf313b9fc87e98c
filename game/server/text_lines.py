"""What a connection takes from whoever is at its other end: lines of text, and nothing else.

Evennia's protocols also let a client call any of its input functions by name, with any arguments,
before anybody has logged in. No client of ours does, and each function breaks on some of them.
"""

from __future__ import annotations

from typing import Any

from evennia.server.portal.webclient import WebSocketClient
from evennia.server.portal.wire_formats.evennia_v1 import EvenniaV1Format

UNREADABLE = 4400
"""Code with which a web socket is closed that does not speak its format."""
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


class TextLines:
    """Mixed into a protocol of the Portal: hands text on, and drops all else."""

    def data_in(self, /, **message: Any) -> None:
        """Take a message; clients may call theirs ``self``."""
        line = line_in(message)
        if line is not None:
            super().data_in(text=[[line], {}] if isinstance(line, str) else line)  # type: ignore[misc]


class TextSocket(TextLines, WebSocketClient):
    """A web socket that closes, and says why, where it cannot read what it gets."""

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: N802, N803 - Autobahn's
        """Take a frame."""
        message = self._decoded(payload, isBinary)
        if line_in(message) is not None:
            self.data_in(**message)
        elif isinstance(message, dict) and _CLOSE in message:
            self.disconnect()
        elif self.wire_format.name == EvenniaV1Format.name and not _names_something(message):
            self.sendClose(UNREADABLE, REFUSAL)

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
