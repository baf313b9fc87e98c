"""The line between Portal, Server and launcher: a Unix socket that only its owner may use.

Evennia's processes send each other pickles, and who reads a pickle runs what its writer wants. By
default they listen on a TCP port of the loopback address, which every user of the machine may
reach. Evennia calls :func:`start_plugin_services` in both processes, as a plugin. It adds the
listener or the client on the socket in place of Evennia's, whose port is off (``AMP_PORT = 0``).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from twisted.application.internet import UNIXClient, UNIXServer
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import UNIXClientEndpoint, connectProtocol
from twisted.internet.protocol import Protocol

from game.server.steady_time import use_steady_time
from keepsake.errors import KeepsakeError
from keepsake.paths import places

_CONNECT_SECONDS = 30


def start_plugin_services(service: Any) -> None:
    """Connect Portal or Server to the socket; Evennia calls this before it starts its services.

    Their reactors get a steady clock here, too, because nothing of Evennia runs before.
    """
    from evennia.server.portal.service import EvenniaPortalService  # noqa: PLC0415 - needs settings

    use_steady_time(reactor)
    path = places().portal_socket
    if isinstance(service, EvenniaPortalService):
        _listen(service, path)
    else:
        _connect(service, path)


def _listen(portal: Any, path: Path) -> None:
    """Listen for the Server and the launcher."""
    from evennia.server.portal.amp_server import AMPServerFactory  # noqa: PLC0415 - needs settings

    path.unlink(missing_ok=True)  # of a Portal that was killed; the command lock allows only one
    listener = UNIXServer(str(path), AMPServerFactory(portal), mode=0o600)
    listener.setName("PortalAMPServer")
    listener.setServiceParent(portal)
    portal.info_dict["amp"] = f"amp: {path}"


def _connect(server: Any, path: Path) -> None:
    """Connect to the Portal."""
    from evennia.server.amp_client import AMPClientFactory  # noqa: PLC0415 - needs settings

    require_own(path)
    server.amp_service.disownServiceParent()  # Evennia's TCP client, which has not started yet
    server.amp_service = UNIXClient(str(path), AMPClientFactory(server))
    server.amp_service.setName("ServerAMPClient")
    server.amp_service.setServiceParent(server)
    server.info_dict["amp"] = f"amp: {path}"


def connect_launcher(protocol: Protocol) -> Deferred[Any]:
    """Connect the launcher's protocol to the Portal; the result fails until the Portal listens."""
    path = places().portal_socket
    require_own(path)
    endpoint = UNIXClientEndpoint(reactor, str(path), timeout=_CONNECT_SECONDS)
    return connectProtocol(endpoint, protocol)


def require_own(path: Path) -> None:
    """Check that this user made the socket, because the Portal's pickles are trusted.

    The folder of the socket may be the temporary folder, in which others could make one first.

    Raises:
        KeepsakeError: Another user owns it.
    """
    try:
        owner = path.lstat().st_uid
    except OSError:  # there is none yet
        return
    if owner != os.getuid():
        cure = f"Remove it, or set KEEPSAKE_HOME to a shorter path than {path.parent}"
        raise KeepsakeError(f"The socket {path} belongs to another user", cure)
