"""What happens when Evennia's Server starts, reloads and stops.

Evennia calls these functions by name; each hands over at once.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from pathlib import Path
from typing import Any

import evennia
from django.core.management import call_command
from django.db import close_old_connections
from twisted.internet import reactor
from twisted.internet.task import LoopingCall
from twisted.internet.threads import deferToThread

from game.server.control import ControlServer
from keepsake import vault_lock
from keepsake.agent.agent_log import report
from keepsake.agent.runtime import runtime
from keepsake.child import read_pid
from keepsake.cli.backup import moment
from keepsake.contrib.evennia import lifecycle as agents
from keepsake.contrib.evennia.minds import open_minds, unopened
from keepsake.errors import KeepsakeError
from keepsake.paths import places
from keepsake.recall.service import IndexService
from keepsake.web.watching import watching
from world.build import open_world
from world.scenes import scenes

_STOP_SECONDS = 5.0
"""How long a stop may take: then the process ends, whatever its threads wait for. Memories are in
the archives by then, and no thread leaves a file half written."""
_SWITCH_SECONDS = 0.001
"""How soon a thread that computes lets the reactor go on; Python's own 5 ms a player would feel."""
_VAULT_SECONDS = 5.0
"""How long the lock of the Server before this one is waited for."""
_RECONNECT_SECONDS = 1.0
"""How often it is looked whether PostgreSQL has cut the connection."""
_vault = vault_lock.VaultLock()
_problem = ""
"""Why the agents could not be woken; `keepsake start` shows it."""


def at_server_start() -> None:
    """The Server is up, after whatever kind of stop."""
    global _vault, _problem  # noqa: PLW0603 - one a process
    gc.freeze()  # the code stays: no collection need look through it
    sys.setswitchinterval(_SWITCH_SECONDS)
    reactor.addSystemEventTrigger("during", "shutdown", _leave)
    _control.listen(places().control_socket)
    watching().start()
    deferToThread(call_command, "clearsessions")
    try:
        _vault = vault_lock.take(places(), patience=_VAULT_SECONDS)
        if places().database_url:
            LoopingCall(close_old_connections).start(_RECONNECT_SECONDS)
        agents.start(watching().taps)
    except Exception as error:  # the world stays up without its agents
        _problem = f"The agents could not be woken: {error}"
        raise
    try:
        open_world()
        scenes()
    except KeepsakeError as error:  # a file of the world that cannot be read
        report(error)


def at_server_reload_stop() -> None:
    """The Server goes down and comes back with fresh code."""
    _go_down()
    agents.stop(reload=True)


def at_server_cold_stop() -> None:
    """The Server goes down for good, or for a reset."""
    _go_down()
    agents.stop(reload=False)


def _go_down() -> None:
    """Hear no player any more, and make sure that this process ends.

    Evennia's loop turns for one more second. A line said then would be heard in its room and
    remembered by nobody: a player who sees no echo types it again.
    """
    if (portal := evennia.EVENNIA_SERVER_SERVICE.amp_protocol) is not None:
        portal.pauseProducing()
    timer = threading.Timer(_STOP_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _leave() -> None:
    """The reactor has stopped and all is written: end, whatever threads wait for.

    The next Server ends at once if it finds this one's pid file.
    """
    if read_pid(places().server_pid) == os.getpid():
        places().server_pid.unlink(missing_ok=True)
    os._exit(0)


def at_server_stop() -> None:
    """The Server goes down, for whatever reason; called after the two above."""
    watching().stop()
    _control.close()
    _vault.release()


def _ready(_request: dict[str, Any]) -> dict[str, Any]:
    """Answer the control operation ``ready``; ``unopened`` agents are opened one after another."""
    portal = evennia.EVENNIA_SERVER_SERVICE.amp_protocol
    return {
        "ready": portal is not None and bool(portal.transport.connected),
        "pid": os.getpid(),
        "problem": _problem,
        "unopened": unopened(),
    }


def _waiting(_request: dict[str, Any]) -> list[dict[str, str | int]]:
    """Answer the control operation ``waiting``: the agents whose archive cannot be written."""
    memories = [mind.memory for mind in open_minds()]
    return [
        {
            "name": memory.name,
            "waiting": memory.waiting,
            "unkept": memory.unkept,
            "problem": str(memory.problem or ""),
        }
        for memory in memories
        if memory.waiting or memory.problem
    ]


def _reload(_request: dict[str, Any]) -> bool:
    """Answer the control operation ``reload``: the Portal starts a new Server after this one."""
    reactor.callLater(0, evennia.SESSION_HANDLER.portal_restart_server)
    return True


def _stop(_request: dict[str, Any]) -> bool:
    """Answer the control operation ``stop``: Portal and Server go down."""
    reactor.callLater(0, evennia.SESSION_HANDLER.portal_shutdown)
    return True


def _snapshot(request: dict[str, Any]) -> Any:
    """Answer the control operation ``snapshot``: copy this moment's database into ``folder``.

    In one turn of the reactor nothing else happens. Returns a Deferred of the archives' sizes: what
    is copied afterwards, up to those, is the world of that turn.
    """
    copy, sizes = moment(places(), Path(str(request["folder"])))
    return deferToThread(copy).addCallback(lambda _: sizes)


def _indexes() -> IndexService:
    if (indexes := runtime().indexes) is None:
        raise KeepsakeError("This world keeps no recall index")
    return indexes


_control = ControlServer(
    {
        "ready": _ready,
        "waiting": _waiting,
        "reload": _reload,
        "stop": _stop,
        "snapshot": _snapshot,
        "index_rebuild": lambda request: _indexes().answer_rebuild(request),
        "index_status": lambda request: _indexes().answer_status(request),
    }
)
