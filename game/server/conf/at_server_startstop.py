"""Hooks for the start, reload and stop of Evennia's Server. Evennia calls them by name."""

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
from keepsake.contrib.evennia.apps import at_model_ready
from keepsake.contrib.evennia.minds import missing_minds
from keepsake.errors import KeepsakeError
from keepsake.paths import places
from typeclasses.absent import stow_absent
from typeclasses.characters import tell_of_model
from world.build import open_world
from world.scenes import scenes

_STOP_SECONDS = 5.0
"""Seconds that a stop may take. Then the process ends, even if threads still run: memories are in
the archives by then, and no thread leaves a file half written."""
_RECONNECT_SECONDS = 1.0
"""Seconds between checks whether PostgreSQL has closed the connection."""
_on_stop = contextlib.ExitStack()
"""Closes the control socket when this Server stops."""
_problem = ""
"""Why the agents could not be started; `keepsake start` shows it."""


def at_server_start() -> None:
    """Start agents and world; Evennia calls this after every start, reload and reset."""
    global _problem  # noqa: PLW0603 - one per process
    reactor.addSystemEventTrigger("during", "shutdown", _exit)
    _on_stop.callback(control.listen(places().control_socket, _OPERATIONS).stopListening)
    deferToThread(call_command, "clearsessions")
    reactor.callLater(0, stow_absent)  # the Portal's sessions are handed over in this call
    try:
        if places().database_url:
            LoopingCall(close_old_connections).start(_RECONNECT_SECONDS)
        at_model_ready.append(tell_of_model)
        agents.start()
        runtime().post(_limit_garbage_collection)  # after the agents are loaded
    except Exception as error:  # the world runs on without its agents
        _problem = f"The agents could not be started: {error}"
        raise
    try:
        open_world()
        scenes()
    except KeepsakeError as error:  # a data file of the world is wrong
        report(error)


def _limit_garbage_collection() -> None:
    """Collect garbage more often: a collection of 50,000 objects would stop the game."""
    gc.freeze()  # collections skip the objects loaded so far, which stay
    gc.set_threshold(2_000)


def at_server_reload_stop() -> None:
    """Stop for a reload: the Server restarts with new code."""
    _begin_stop()
    agents.stop(reload=True)


def at_server_cold_stop() -> None:
    """Stop for a shutdown or a reset."""
    _begin_stop()
    agents.stop(reload=False)


def _begin_stop() -> None:
    """Stop reading players' lines, and make sure that this process ends."""
    # Evennia's reactor runs for one more second. A line said then would not be remembered.
    if (portal := evennia.EVENNIA_SERVER_SERVICE.amp_protocol) is not None:
        portal.pauseProducing()
    timer = threading.Timer(_STOP_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _exit() -> None:
    """End the process, even if threads still run: the reactor has stopped, and all is written."""
    # The next Server exits at once if it finds this one's pid file.
    places().server_pid.unlink(missing_ok=True)
    os._exit(0)


def at_server_stop() -> None:
    """Close the control socket; Evennia calls this after the two hooks above."""
    _on_stop.close()


def _ready() -> dict[str, Any]:
    portal = evennia.EVENNIA_SERVER_SERVICE.amp_protocol
    return {
        "ready": portal is not None and bool(portal.transport.connected),
        "pid": os.getpid(),
        "problem": _problem,
    }


def _reload() -> None:
    """Have the Portal start a new Server after this one."""
    reactor.callLater(0, evennia.SESSION_HANDLER.portal_restart_server)


def _stop() -> None:
    """Stop the Portal and the Server."""
    reactor.callLater(0, evennia.SESSION_HANDLER.portal_shutdown)


def _index_status() -> dict[str, Any]:
    indexes = runtime().indexes
    return {"agents": [asdict(each) for each in indexes.status().values()] if indexes else []}


def _rebuild_index(agent: str = "") -> list[str]:
    indexes = runtime().indexes
    if indexes is None:
        raise KeepsakeError("There is no index yet", "It begins with the first agent of the world")
    return indexes.rebuild(agent)


_OPERATIONS = {
    "ready": _ready,
    "reload": _reload,
    "stop": _stop,
    "index_status": _index_status,
    "index_rebuild": _rebuild_index,
    "missing_memories": missing_minds,
    "shortages": lambda: [e.shortage for e in runtime().gateway.used_servers() if e.shortage],
}
