"""Keepsake's additions to Evennia's web servers, beside Django's pages.

Evennia calls the two functions by name: one in the Server, where the world is, and one in the
Portal, which players connect to and which forwards their requests.
"""

from __future__ import annotations

from typing import Any


def at_webserver_root_creation(web_root: Any) -> Any:
    """Add the static files to the Server's web root."""
    from django.conf import settings  # noqa: PLC0415 - needs the settings

    from game.web.middleware import StaticFiles  # noqa: PLC0415 - needs the settings

    _limit_requests()
    web_root.putChild(b"static", StaticFiles(settings.STATIC_ROOT))
    return web_root


def at_webproxy_root_creation(web_root: Any) -> Any:
    """Make the Portal's web root forward requests with Keepsake's proxy client."""
    from evennia.server.webserver import EvenniaReverseProxyResource, Website  # noqa: PLC0415 - heavy
    from twisted.web.http import HTTPChannel  # noqa: PLC0415 - only the Portal uses it
    from twisted.web.pages import errorPage  # noqa: PLC0415 - only the Portal uses it

    from game.web.portal import ClientFactory  # noqa: PLC0415 - only the Portal uses it

    _limit_requests()
    # Evennia's channel uses the address in a connection's first request for all later ones.
    Website.protocol = HTTPChannel
    EvenniaReverseProxyResource.proxyClientFactoryClass = ClientFactory
    # Evennia's fallback for browsers without web sockets. No page of Keepsake uses it. It fails
    # on unexpected input, and stores forever what nobody fetches.
    web_root.putChild(b"webclientdata", errorPage(410, "Gone", "The game needs a web socket."))
    return web_root


def _limit_requests() -> None:
    """Refuse large bodies and impossible paths, in the server of this process."""
    from evennia.server.webserver import Website  # noqa: PLC0415 - heavy

    from game.web.requests import LimitedRequest  # noqa: PLC0415 - needs the settings

    Website.requestFactory = LimitedRequest
