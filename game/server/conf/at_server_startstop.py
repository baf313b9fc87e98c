"""What happens when Evennia's Server starts, reloads and stops.

Evennia calls these functions by name; each hands over at once.
"""

from game.paths import places
from game.server import readiness
from game.server.control import ControlServer

_control = ControlServer({"ready": readiness.report})


def at_server_start() -> None:
    """The Server is up, after whatever kind of stop."""
    _control.listen(places().control_socket)


def at_server_stop() -> None:
    """The Server goes down: for a reload, a reset or for good."""
    _control.close()
