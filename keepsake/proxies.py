"""Which addresses are trusted proxies: they say from where a request came.

A web server in front of the world names the player's address in ``X-Forwarded-For``. Anybody can
send that header, so it counts only from an address that is named here.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Container

from keepsake.errors import KeepsakeError

PROXIES = "KEEPSAKE_PROXIES"
"""The environment variable: addresses and networks, with blanks or commas between them."""
LOOPBACK = "127.0.0.1"
"""A proxy on this machine, and the Portal itself, which passes requests on to the Server."""

type _Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Proxies(tuple[str, ...]):
    """Trusted addresses and networks, as texts; ``in`` says whether an address is one of them.

    Evennia takes such a sequence as its setting ``UPSTREAM_IPS``.
    """

    __slots__ = ()

    def __contains__(self, address: object) -> bool:
        """Return whether an address is trusted; False for a text that is no address."""
        try:
            found = ipaddress.ip_address(str(address))
        except ValueError:
            return False
        if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        return any(found in network for network in map(ipaddress.ip_network, self))


THIS_MACHINE = Proxies([LOOPBACK])
"""What is trusted if nobody names a proxy."""


def trusted_proxies(given: str) -> Proxies:
    """Return the proxies that a text names, and loopback.

    Args:
        given: ``172.18.0.1 10.0.0.0/8``; empty for loopback alone.

    Raises:
        KeepsakeError: A part is no address and no network, or it is every address.
    """
    parts = given.replace(",", " ").split()
    return Proxies(dict.fromkeys((LOOPBACK, *map(_checked, parts))))


def _checked(part: str) -> str:
    cure = "Name addresses and networks, such as 172.18.0.1 or 172.18.0.0/16"
    try:
        network: _Network = ipaddress.ip_network(part)
    except ValueError as error:
        raise KeepsakeError(f"{PROXIES} has {part!r}: {error}", cure) from None
    if not network.prefixlen:
        what = f"{PROXIES} has {part!r}, so everybody could name a false address"
        raise KeepsakeError(what, cure)
    return part


def client_of(peer: str, forwarded: str, proxies: Container[str]) -> str:
    """Return the address from which a request came.

    It is the last one of the header that is no proxy: that is what the last proxy has seen, and
    those before it may be forged.

    Args:
        peer: The address of the connection.
        forwarded: The header; addresses with commas between them.
        proxies: Trusted addresses. From another peer the header says nothing.
    """
    if peer not in proxies:
        return peer
    named = [each.strip() for each in forwarded.split(",")]
    others = [each for each in named if each and each not in proxies]
    return others[-1] if others else peer
