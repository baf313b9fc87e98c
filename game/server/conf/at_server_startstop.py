"""What happens when Evennia's Server starts, reloads and stops.

Evennia calls these functions by name; each hands over at once. The very first Server
only builds the world and is then replaced, so the agents are not woken in it.
"""

from typing import Any

from twisted.internet.threads import deferToThread

from game.agent.agent_log import report
from game.agent.services import services
from game.index.service import IndexService
from game.mind.errors import KeepsakeError
from game.paths import places
from game.server import readiness
from game.server.conf.web_plugins import watching
from game.server.control import ControlServer
from game.web.site.sessions import forget_old_sessions
from typeclasses import runtime
from typeclasses.agents import all_agents, summary_of
from world.build import add_new_attributes


def at_server_start() -> None:
    """The Server is up, after whatever kind of stop."""
    _control.listen(places().control_socket)
    watching().start()
    deferToThread(forget_old_sessions)
    if not readiness.reset_is_due():
        try:
            runtime.start(watching().taps)
        except Exception as error:
            # The world stays up without its agents; whoever starts it is told why.
            readiness.report_problem(error)
            raise
        _update_world()


def _update_world() -> None:
    """Bring a world that an earlier version built up to date, as far as its files can be read."""
    try:
        add_new_attributes()
    except KeepsakeError as error:
        report(error)


def at_server_reload_stop() -> None:
    """The Server goes down and comes back with fresh code."""
    runtime.stop(reload=True)


def at_server_cold_stop() -> None:
    """The Server goes down for good, or for a reset."""
    runtime.stop(reload=False)


def at_server_stop() -> None:
    """The Server goes down, for whatever reason; called after the two above."""
    watching().stop()
    _control.close()


def _agents(_request: dict[str, Any]) -> list[dict[str, str | int]]:
    """Answer the control operation ``agents``: name, place, memories, state of each."""
    return [summary_of(agent) for agent in all_agents()]


def _index_rebuild(request: dict[str, Any]) -> dict[str, Any]:
    """Answer the control operation ``index_rebuild``; see ``IndexService.answer_rebuild``."""
    return _indexes().answer_rebuild(request)


def _index_status(request: dict[str, Any]) -> dict[str, Any]:
    """Answer the control operation ``index_status``; see ``IndexService.answer_status``."""
    return _indexes().answer_status(request)


def _indexes() -> IndexService:
    if (indexes := services().indexes) is None:
        raise KeepsakeError("This world keeps no recall index")
    return indexes


_control = ControlServer(
    {
        "ready": readiness.report,
        "prepare_trial": readiness.prepare_trial,
        "agents": _agents,
        "index_rebuild": _index_rebuild,
        "index_status": _index_status,
    }
)
