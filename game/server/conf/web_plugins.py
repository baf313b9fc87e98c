"""What Keepsake adds to Evennia's web servers, beside Django's pages.

Evennia calls the two functions by name: one in the Server, where the world is, one in the Portal,
which players reach and which passes on what they ask.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from twisted.internet import reactor
from twisted.logger import Logger

from keepsake.paths import places
from keepsake.web.live.door import TOKEN_VARIABLE, Door, GuardedResource

if TYPE_CHECKING:
    from keepsake.web.live.watching import Watching

_log = Logger()
_watching: Watching | None = None


def watching() -> Watching:
    """What the Server gives to those who watch; one a process."""
    global _watching  # noqa: PLW0603 - one a process, like the reactor
    if _watching is None:
        # Only in the Server: it brings the world with it, which the Portal knows nothing of.
        from keepsake.web.live.watching import Watching  # noqa: PLC0415

        _watching = Watching(places(), reactor)
    return _watching


def at_webserver_root_creation(web_root: Any) -> Any:
    """The Server's web root was made: add the metrics, the live stream and the pages' files."""
    from django.conf import settings  # noqa: PLC0415 - as the Server's own

    from game.web.static_files import StaticFiles  # noqa: PLC0415

    watching().put_into(web_root)
    web_root.putChild(b"static", StaticFiles(settings.STATIC_ROOT))
    return web_root


def at_webproxy_root_creation(web_root: Any) -> Any:
    """The Portal's web root was made: guard the metrics, and pass all else on well."""
    door = Door(os.environ.get(TOKEN_VARIABLE, ""))
    if door.problem:
        _log.error("[Error] {problem}", problem=door.problem)
    from evennia.server.webserver import (  # noqa: PLC0415 - heavy
        EvenniaReverseProxyResource,
        Website,
    )
    from twisted.web.http import HTTPChannel  # noqa: PLC0415 - on the same
    from twisted.web.pages import errorPage  # noqa: PLC0415 - the same

    from keepsake.web.live.portal import let_browsers_leave  # noqa: PLC0415 - on the same

    # Evennia's takes the address that the first request on a connection names for all that follow.
    Website.protocol = HTTPChannel
    let_browsers_leave(EvenniaReverseProxyResource)
    # Evennia's way for browsers without web sockets: no page of ours uses it, and it breaks on
    # whatever it does not expect, and keeps without end what nobody fetches.
    web_root.putChild(b"webclientdata", errorPage(410, "Gone", "The game speaks by a web socket."))
    metrics = EvenniaReverseProxyResource(web_root.host, web_root.port, "/metrics")
    web_root.putChild(b"metrics", GuardedResource(door, metrics))
    return web_root
