"""What happens when Evennia's Server starts, reloads and stops; Evennia calls these by name."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from dataclasses import asdict
from typing import Any

import evennia
from django.core.management import call_command
from django.db import close_old_connections
from twisted.internet import reactor
from twisted.internet.task import LoopingCall
from twisted.internet.threads import deferToThread

from game.server import control
from keepsake.agent.agent_log import report
from keepsake.agent.runtime import runtime
from keepsake.contrib.evennia import lifecycle as agents
from keepsake.errors import KeepsakeError
from keepsake.paths import places
from world.build import open_world
from world.scenes import scenes

_STOP_SECONDS = 5.0
"""How long a stop may take: then the process ends, whatever its threads wait for. Memories are in
the archives by then, and no thread leaves a file half written."""
_RECONNECT_SECONDS = 1.0
"""How often it is looked whether PostgreSQL has cut the connection."""
_held = contextlib.ExitStack()
"""What this Server lets go of when it stops: the control socket."""
_problem = ""
"""Why the agents could not be woken; `keepsake start` shows it."""


def at_server_start() -> None:
    """The Server is up, after whatever kind of stop."""
    global _problem  # noqa: PLW0603 - one a process
    reactor.addSystemEventTrigger("during", "shutdown", _leave)
    _held.callback(control.listen(places().control_socket, _OPERATIONS).stopListening)
    deferToThread(call_command, "clearsessions")
    try:
        if places().database_url:
            LoopingCall(close_old_connections).start(_RECONNECT_SECONDS)
        agents.start()
        runtime().post(_settle)  # once the agents are there
    except Exception as error:  # the world stays up without its agents
        _problem = f"The agents could not be woken: {error}"
        raise
    try:
        open_world()
        scenes()
    except KeepsakeError as error:  # a file of the world that cannot be read
        report(error)


def _settle() -> None:
    """From now on collect garbage often: a collection of 50,000 objects would stop the game."""
    gc.freeze()  # what is there stays: no collection need look through it
    gc.set_threshold(2_000)


def at_server_reload_stop() -> None:
    """The Server goes down and comes back with fresh code."""
    _go_down()
    agents.stop(reload=True)


def at_server_cold_stop() -> None:
    """The Server goes down for good, or for a reset."""
    _go_down()
    agents.stop(reload=False)


def _go_down() -> None:
    """Hear no player any more, and make sure that this process ends."""
    # Evennia's loop turns for one more second, and nobody would remember a line that is said then.
    if (portal := evennia.EVENNIA_SERVER_SERVICE.amp_protocol) is not None:
        portal.pauseProducing()
    timer = threading.Timer(_STOP_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _leave() -> None:
    """The reactor has stopped and all is written: end, whatever threads wait for."""
    # The next Server ends at once if it finds this one's pid file.
    places().server_pid.unlink(missing_ok=True)
    os._exit(0)


def at_server_stop() -> None:
    """The Server goes down, for whatever reason; called after the two above."""
    _held.close()


def _ready() -> dict[str, Any]:
    portal = evennia.EVENNIA_SERVER_SERVICE.amp_protocol
    return {
        "ready": portal is not None and bool(portal.transport.connected),
        "pid": os.getpid(),
        "problem": _problem,
    }


def _reload() -> None:
    """The Portal starts a new Server after this one."""
    reactor.callLater(0, evennia.SESSION_HANDLER.portal_restart_server)


def _stop() -> None:
    """Portal and Server go down."""
    reactor.callLater(0, evennia.SESSION_HANDLER.portal_shutdown)


def _index_status() -> dict[str, Any]:
    indexes = runtime().indexes
    return {"agents": [asdict(each) for each in indexes.status().values()] if indexes else []}


_OPERATIONS = {
    "ready": _ready,
    "reload": _reload,
    "stop": _stop,
    "index_status": _index_status,
    "shortages": lambda: [e.shortage for e in runtime().gateway.used_servers() if e.shortage],
}
