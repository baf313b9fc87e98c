"""What Keepsake adds to Evennia's web servers, beside Django's pages.

Evennia calls the two functions by name: one in the Server, where the world is, one in the Portal,
which players reach and which passes on what they ask.
"""

from __future__ import annotations

from typing import Any


def at_webserver_root_creation(web_root: Any) -> Any:
    """The Server's web root was made: add the pages' files."""
    from django.conf import settings  # noqa: PLC0415 - as the Server's own

    from game.web.middleware import StaticFiles  # noqa: PLC0415

    web_root.putChild(b"static", StaticFiles(settings.STATIC_ROOT))
    return web_root


def at_webproxy_root_creation(web_root: Any) -> Any:
    """The Portal's web root was made: have it pass things on well."""
    from evennia.server.webserver import EvenniaReverseProxyResource, Website  # noqa: PLC0415 - heavy
    from twisted.web.http import HTTPChannel  # noqa: PLC0415 - on the same
    from twisted.web.pages import errorPage  # noqa: PLC0415 - the same

    from game.web.portal import ClientFactory  # noqa: PLC0415 - on the same

    # Evennia's takes the address that the first request on a connection names for all that follow.
    Website.protocol = HTTPChannel
    EvenniaReverseProxyResource.proxyClientFactoryClass = ClientFactory
    # Evennia's way for browsers without web sockets: no page of ours uses it, and it breaks on
    # whatever it does not expect, and keeps without end what nobody fetches.
    web_root.putChild(b"webclientdata", errorPage(410, "Gone", "The game speaks by a web socket."))
    return web_root
