"""Who may read the metrics, asked in the Portal and in the Server.

Only the Portal sees a client's address: to the Server every request comes from the Portal.
"""

from __future__ import annotations

import hmac
import ipaddress
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from twisted.web.http import Request
from twisted.web.resource import Resource

TOKEN_VARIABLE = "KEEPSAKE_METRICS_TOKEN"
SHORTEST_TOKEN = 16
CURE = "Make one with `openssl rand -hex 24` and restart"
_BY_ANOTHER = ("x-forwarded-for", "x-real-ip", "forwarded", "via", "x-forwarded-host")
"""Headers that a proxy adds. Then the client is not known: the headers may be made up."""
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def too_short(token: str) -> str:
    """What is wrong with a token that opens to nobody; empty for a good one, and for none."""
    if token.strip() and len(token.strip().encode()) < SHORTEST_TOKEN:
        return (
            f"{TOKEN_VARIABLE} has less than {SHORTEST_TOKEN} characters, so that /metrics is "
            "open to nobody"
        )
    return ""


class Door:
    """Who may read the metrics.

    Without a token: clients on this machine that connect without a proxy. With a token: clients
    that send it, from anywhere, and no others. A token that is too short opens to nobody.

    Args:
        token: The token, or an empty text.
        behind_portal: Whether requests come from the Portal, which names the client in a header.
    """

    def __init__(self, token: str = "", *, behind_portal: bool = False) -> None:
        self._token = token.strip().encode()
        self._behind_portal = behind_portal
        wrong = too_short(token)
        self.problem = f"{wrong}. {CURE}" if wrong else ""
        """Why nobody may; empty if somebody may."""

    def opens(self, request: Request) -> bool:
        """Whether the client may read them."""
        if self._token:
            return not self.problem and hmac.compare_digest(_shown(request), self._token)
        by_portal = self._behind_portal and request.getHeader(_BY_ANOTHER[0]) in _HERE
        headers = _BY_ANOTHER[1:] if by_portal else _BY_ANOTHER
        if any(request.requestHeaders.hasHeader(name) for name in headers):
            return False
        # By a name of this machine alone: a page elsewhere may have had its own name lead here.
        return _is_loopback(request) and _host(request) in _HERE


def _shown(request: Request) -> bytes:
    scheme, _, token = (request.getHeader(b"authorization") or b"").partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def _host(request: Request) -> str:
    try:
        return urlsplit(f"//{request.getHeader('host') or ''}").hostname or ""
    except ValueError:
        return ""


def _is_loopback(request: Request) -> bool:
    try:
        return ipaddress.ip_address(getattr(request.client, "host", "")).is_loopback
    except ValueError:
        return False


class GuardedResource(Resource):
    """Passes clients that may read the metrics on to ``inner``; all others learn nothing."""

    def __init__(self, door: Door, inner: Resource) -> None:
        super().__init__()
        self.isLeaf = True
        self._door, self._inner = door, inner

    def render(self, request: Request) -> Any:
        """Refuse, or hand on."""
        if not self._door.opens(request):
            return refusal(request, HTTPStatus.FORBIDDEN)
        rest: list[bytes] = getattr(request, "postpath", [])  # set by Twisted's Site
        if rest not in ([], [b""]):
            return refusal(request, HTTPStatus.NOT_FOUND)
        if request.method not in (b"GET", b"HEAD"):
            request.setHeader(b"allow", b"GET, HEAD")
            return refusal(request, HTTPStatus.METHOD_NOT_ALLOWED)
        return self._inner.render(request)


def gone(request: Request) -> bool:
    """Whether nothing can be answered any more: the browser went, or has been answered."""
    return bool(request.finished) or request.channel is None


def refusal(request: Request, status: HTTPStatus) -> bytes:
    """An answer with nothing in it."""
    request.setResponseCode(status)
    request.setHeader(b"content-type", b"text/plain; charset=utf-8")
    request.setHeader(b"cache-control", b"no-store")
    return b""


def answer(request: Request, status: HTTPStatus, kind: str, body: bytes) -> None:
    """Send a whole answer of that content type, unless nobody is there to get it."""
    if gone(request):
        return
    request.setResponseCode(status)
    request.setHeader(b"content-type", kind.encode())
    request.setHeader(b"content-length", str(len(body)).encode())
    request.setHeader(b"cache-control", b"no-store")
    request.write(body if request.method != b"HEAD" else b"")
    request.finish()
