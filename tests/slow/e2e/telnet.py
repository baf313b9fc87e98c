"""A telnet client for tests of a running world."""

from __future__ import annotations

import re
import socket
import time

_IAC = 255
_DONT = 254
_DO = 253
_WONT = 252
_WILL = 251
_SB = 250
_SE = 240
_COMMAND = re.compile(
    rb"\xff(?:\xfa.*?\xff\xf0|[\xfb-\xfe].|[^\xfa-\xff])", re.DOTALL
)  # subnegotiation, offer or request, any other command
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_READ_SECONDS = 0.5


class Telnet:
    """A client that refuses every option and keeps the plain text.

    ``number``: The player's number. Eight players share an address, which may make few accounts.
    """

    def __init__(self, host: str, port: int, number: int = 0) -> None:
        source = f"127.0.0.{1 + number // 8}"
        self._socket = socket.create_connection((host, port), timeout=5, source_address=(source, 0))
        self._socket.settimeout(_READ_SECONDS)
        self._pending = b""
        self.text = ""

    def send(self, line: str) -> None:
        """Send one line."""
        self._socket.sendall(line.encode() + b"\r\n")

    def wait_for(self, wanted: str, seconds: float) -> bool:
        """Read until ``wanted`` was seen, or any text if it is empty; False after the timeout."""
        deadline = time.monotonic() + seconds
        while wanted not in self.text or not self.text.strip():
            if time.monotonic() > deadline or not self.read():
                return False
        return True

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def read(self) -> bool:
        """Read what comes within half a second; False if the other side has hung up."""
        try:
            received = self._socket.recv(65536)
        except TimeoutError:
            return True
        data = self._pending + received
        complete = _complete(data)
        self._pending = data[complete:]
        for command in _COMMAND.findall(data[:complete]):
            self._refuse(command)
        plain = _COMMAND.sub(b"", data[:complete]).decode("utf-8", "replace")
        # In the whole text, because a colour code may come in two pieces.
        self.text = _COLOUR.sub("", self.text + plain)
        return bool(received)

    def _refuse(self, command: bytes) -> None:
        """Refuse an offer or a request, so that the game does not wait."""
        refusals = {_DO: _WONT, _WILL: _DONT}
        if command[1] in refusals:
            self._socket.sendall(bytes([_IAC, refusals[command[1]], command[2]]))


def _complete(data: bytes) -> int:
    """Return the number of leading bytes without an unfinished telnet command."""
    last = data.rfind(b"\xff")
    if last >= 0 and data[last : last + 2] == b"\xff\xf0":
        return len(data)
    start = data.rfind(b"\xff\xfa")
    if start >= 0 and b"\xff\xf0" not in data[start:]:
        return start
    return last if last >= 0 and not _COMMAND.match(data, last) else len(data)


def connection_screen(host: str, port: int, seconds: float, number: int = 0) -> Telnet:
    """Connect, and wait for the game's first screen."""
    line = Telnet(host, port, number)
    assert line.wait_for("", seconds), "the game shows no first screen"
    return line
