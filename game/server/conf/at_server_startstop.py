"""What happens when Evennia's Server starts, reloads and stops.

Evennia calls these functions by name; each hands over at once. A Server that has built the world
itself (`readiness.py`) is replaced, so the agents are not woken in it.
"""

import os
import sys
import threading
import time
from typing import Any

import evennia
from twisted.internet import reactor
from twisted.internet.task import LoopingCall
from twisted.internet.threads import deferToThread

from game.server import loading, readiness, vault_lock
from game.server.conf.web_plugins import watching
from game.server.control import ControlServer
from game.server.database_watchdog import DatabaseWatchdog
from game.server.heap import FrozenHeap
from game.server.snapshot import snapshot
from game.web.middleware import forget_old_sessions
from keepsake.agent.agent_log import report
from keepsake.agent.services import services
from keepsake.child.serving import read_pid
from keepsake.errors import KeepsakeError
from keepsake.index.service import IndexService
from keepsake.paths import places
from typeclasses import runtime
from typeclasses.agents import all_agents, summary_of
from typeclasses.minds import open_minds, unopened
from world.build import open_world
from world.scenes import read_scenes

_STOP_SECONDS = 5.0
"""From the beginning of a stop until this process is gone, whatever a thread of it waits for: what
was lived is in the archives, and no thread leaves a file half written."""
_SWITCH_SECONDS = 0.001
"""How soon a thread that computes lets the reactor go on: Python's own 5 ms, of each of several who
compact and index, a player would feel."""
_HEAP_SECONDS = 2.0
_VAULT_SECONDS = 5.0
"""How long PostgreSQL may take to see that the Server before this one has gone."""
_vault = vault_lock.VaultLock()


def at_server_start() -> None:
    """The Server is up, after whatever kind of stop."""
    global _vault  # noqa: PLW0603 - one vault a process
    loading.end()
    sys.setswitchinterval(_SWITCH_SECONDS)
    reactor.addSystemEventTrigger("during", "shutdown", _leave)
    _control.listen(places().control_socket)
    watching().start()
    deferToThread(forget_old_sessions)
    if not readiness.reset_is_due():
        try:
            # archives that another copy writes are refused
            _vault = vault_lock.take(places(), patience=_VAULT_SECONDS)
            if places().database_url:
                DatabaseWatchdog(_vault).start()
            runtime.start(watching().taps)
            heap = FrozenHeap(time.monotonic, lambda: not unopened())
            heap.hold()
            LoopingCall(heap.look).start(_HEAP_SECONDS, now=False)
        except Exception as error:
            # The world stays up without its agents; whoever starts it is told why.
            readiness.report_problem(error)
            raise
        try:
            open_world()
            services().scenes = read_scenes()
        except KeepsakeError as error:  # a file of the world that cannot be read
            report(error)


def at_server_reload_stop() -> None:
    """The Server goes down and comes back with fresh code."""
    _go_down()
    runtime.stop(reload=True)


def at_server_cold_stop() -> None:
    """The Server goes down for good, or for a reset."""
    _go_down()
    runtime.stop(reload=False)


def _go_down() -> None:
    """Hear no player any more, and make sure that this process ends.

    Evennia's loop turns for a second yet. A line that is said then would be heard in its room, and
    remembered by nobody: who types it sees no echo, and types it again.

    Python waits for every worker thread before a process ends, and a thread may wait for a
    server that is busy. Meanwhile nobody could log in.
    """
    if (portal := evennia.EVENNIA_SERVER_SERVICE.amp_protocol) is not None:
        portal.pauseProducing()
    timer = threading.Timer(_STOP_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _leave() -> None:
    """The reactor has stopped, all is written and closed: end, whatever threads are still at.

    The Portal starts the next Server as soon as the line to this one is cut, and that one ends at
    once if it finds this one's pid file.
    """
    if read_pid(places().server_pid) == os.getpid():
        places().server_pid.unlink(missing_ok=True)
    os._exit(0)


def at_server_stop() -> None:
    """The Server goes down, for whatever reason; called after the two above."""
    evennia.EVENNIA_SERVER_SERVICE.watchdog.stop()
    watching().stop()
    _control.close()
    _vault.release()


def _ready(request: dict[str, Any]) -> dict[str, Any]:
    """Answer the control operation ``ready``; ``unopened`` agents are opened meanwhile, in turn."""
    return readiness.report(request) | {"unopened": unopened()}


def _agents(_request: dict[str, Any]) -> list[dict[str, str | int]]:
    """Answer the control operation ``agents``: name, place, memories, state of each."""
    return [summary_of(agent) for agent in all_agents()]


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


def _indexes() -> IndexService:
    if (indexes := services().indexes) is None:
        raise KeepsakeError("This world keeps no recall index")
    return indexes


_control = ControlServer(
    {
        "ready": _ready,
        "prepare_trial": readiness.prepare_trial,
        "agents": _agents,
        "waiting": _waiting,
        "reload": _reload,
        "stop": _stop,
        "snapshot": snapshot,
        "index_rebuild": lambda request: _indexes().answer_rebuild(request),
        "index_status": lambda request: _indexes().answer_status(request),
    }
)
