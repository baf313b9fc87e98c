"""What the game's web servers accept as a request: its size and its path.

Twisted keeps the whole body of a request before anything looks at it, and the Portal then keeps it
once more. So a large body is refused while it arrives.
"""

from __future__ import annotations

from typing import Any

from twisted.web.server import Request

ACCOUNT_IN_SESSION = "webclient_authenticated_uid"
"""The key under which Evennia keeps the account of the web client in a browser's session."""

MOST_BODY_BYTES = 2_621_440
"""The largest body: Django's own limit (DATA_UPLOAD_MAX_MEMORY_SIZE). No page uploads files."""
_TOO_LARGE = (
    b"HTTP/1.1 413 Content Too Large\r\n"
    b"Connection: close\r\nContent-Type: text/plain\r\nContent-Length: 26\r\n\r\n"
    b"The request is too large.\r\n"
)
_ZERO = (b"\0", b"%00")


class LimitedRequest(Request):
    """A request whose body and path the game can handle."""

    _refused = False

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        """Refuse a body that is announced as too large."""
        fits = (length or 0) <= MOST_BODY_BYTES
        super().gotLength(length if fits else 0)
        if not fits:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Keep a part of the body; refuse one that grows too large without a length."""
        if self._refused:
            return
        content: Any = self.content
        if content.tell() + len(data) > MOST_BODY_BYTES:
            self._refuse()
        else:
            super().handleContentChunk(data)

    def process(self) -> None:
        """Answer the request. No path has a zero byte: files and databases cannot have it."""
        if self._refused:
            return
        if any(zero in self.uri for zero in _ZERO):
            self.setResponseCode(400)
            self.setHeader(b"content-type", b"text/plain")
            self.write(b"The address has a zero byte.\r\n")
            self.finish()
        else:
            super().process()

    def _refuse(self) -> None:
        self._refused = True
        connection: Any = self.channel.transport
        connection.write(_TOO_LARGE)
        self.channel.loseConnection()
