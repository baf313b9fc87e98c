"""From where a request really comes, and by which way, as the Portal can tell.

To the Server everything comes from the Portal. Evennia has it believe what the browser itself says
about its address, and the Portal take one address for all that a proxy sends over one connection.
"""

from __future__ import annotations

from twisted.web.http import Request

PROXIES = ("127.0.0.1",)
"""Who is believed to say for whom it asks: a web server on this machine; Evennia's UPSTREAM_IPS."""
_FOR, _PROTO = b"x-forwarded-for", b"x-forwarded-proto"


def forwarded_headers(request: Request) -> dict[bytes, bytes]:
    """What the Server is told, in place of what whoever asks says of himself."""
    peer = str(getattr(request.client, "host", ""))
    believed = peer in PROXIES  # a proxy on this machine
    encrypted = request.isSecure() or (believed and request.getHeader(_PROTO) == b"https")
    told = request.requestHeaders.getRawHeaders(_FOR, []) if believed else []
    return {
        _FOR: visitor(peer, b",".join(told).decode("latin-1")).encode("latin-1"),
        _PROTO: b"https" if encrypted else b"http",
    }


def visitor(peer: str, forwarded: str) -> str:
    """The address that the last believed proxy saw: what stands before it may be made up."""
    named = [each.strip() for each in forwarded.split(",")]
    strangers = [each for each in named if each and each not in PROXIES]
    return strangers[-1] if strangers else peer
