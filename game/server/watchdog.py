"""Starts Evennia's Server, and starts it again when it has died or hangs, from within the Portal.

Evennia's Portal starts a Server where it is asked to, and waits for it, deaf, until it is up. Here
it goes on meanwhile, and looks whether there is a Server where there should be one. One that died
too often within a time stays down: a file in the home says so, which goes when one comes up. The
Server does the same for the Portal (`portal_watchdog.py`).
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, cast

import evennia
from evennia.commands.cmdhandler import CMD_LOGINSTART
from evennia.server.portal.amp import MsgPortal2Server, dumps
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from game.server import loading
from game.server.halves import Half, Launcher
from game.server.limits import DOWN, STUMBLED
from keepsake.paths import Places, places

LOOK_SECONDS = 0.25
HUNG_LOOKS = 480
"""So many looks, two minutes', may the Server take to answer; looks, and not seconds, as a machine
that was suspended, or has no time for the Portal either, shows nothing of the Server."""
COMING_LOOKS = 1200
"""And so many, five minutes', to come up."""
_NOBODY = 0
"""No session has that number: what it sends is taken and forgotten."""
_log = Logger()


class Watchdog:
    """Looks again and again; what cannot be done just now is tried again."""

    def __init__(self) -> None:
        self._problem = ""
        self._looking = LoopingCall(self._look_on)

    def start(self) -> None:
        """Begin to look, until the reactor stops: whoever ends both wants neither back."""
        from twisted.internet import reactor  # noqa: PLC0415 - not before the game has chosen one

        cast("Any", reactor).addSystemEventTrigger("before", "shutdown", self.stop)
        self._looking.start(LOOK_SECONDS)

    def stop(self) -> None:
        """Look no more."""
        if self._looking.running:
            self._looking.stop()

    def look(self) -> None:
        """Start the other half if it should be there and is not."""
        raise NotImplementedError

    def _look_on(self) -> None:
        try:
            self.look()
            self._problem = ""
        except Exception as error:  # such as to write in the home
            if self._problem != (problem := repr(error)):
                _log.failure("Nobody can look after the other half now")
            self._problem = problem


class ServerWatchdog(Watchdog):
    """Looks after the Server of one Portal.

    Args:
        portal: Evennia's service.
        here: The copy.
    """

    def __init__(self, portal: Any, here: Places) -> None:
        super().__init__()
        self._portal, self._here = portal, here
        self._server = Launcher(here, Half.SERVER)
        self._lost_at = 0.0
        self._asked_for = self._wanted = self._is_up = False
        self._asked_on: Any = None
        """The line on which the Server was asked last: with it, its answer is lost."""
        self._waited = 0
        """Looks since the Server was asked whether it hears, or began to come up."""
        here.server_down.unlink(missing_ok=True)

    def launch(self) -> None:
        """Somebody asks for a Server: it is started as soon as there is none any more."""
        self._asked_for = True
        self._server.forgive()
        self.look()

    def let_go(self) -> None:
        """Somebody asks for its end."""
        self._asked_for = self._wanted = False

    def look(self) -> None:
        """Start a Server if there should be one and is none, or none that hears."""
        self._server.reap()
        if (line := self._line()) is not None:
            if not self._is_up:
                self._came_up()
            self._ask(line)
            return
        if self._is_up:
            self._is_up, self._lost_at = False, time.time()
            self._waited = 0
        if not (self._asked_for or self._wanted):
            return
        if self._server.lives():
            self._wait(COMING_LOOKS)
            return
        self._waited = 0
        if self._asked_for:
            self._asked_for = False
            self._server.start()
        else:
            self._start_again()

    def _line(self) -> Any:
        """The line to a Server that is there, or None."""
        link = getattr(self._portal.amp_protocol, "factory", None)
        return None if link is None else link.server_connection

    def _ask(self, line: Any) -> None:
        """Ask the Server whether it hears."""
        if self._waited and self._asked_on is line:
            self._wait(HUNG_LOOKS)
            return
        self._waited, self._asked_on = 1, line
        nothing = dumps((_NOBODY, {}))
        line.callRemote(MsgPortal2Server, packed_data=nothing).addBoth(self._answered)

    def _answered(self, _answer: object) -> None:
        self._waited = 0

    def _wait(self, looks: int) -> None:
        """Wait for an answer, or for one that comes up; but not for ever."""
        self._waited += 1
        if self._waited > looks:
            seconds = looks * LOOK_SECONDS
            _log.error("The Server has not answered for {s:.0f} s and is ended", s=seconds)
            self._waited = 0
            self._server.kill()

    def _start_again(self) -> None:
        if told := self._server.died():
            self._wanted = False
            _log.error("{told}: see server.log, then `keepsake start`", told=told)
            evennia.PORTAL_SESSION_HANDLER.announce_all(DOWN)
            with suppress(OSError):
                self._here.server_down.write_text(told, encoding="utf-8")
            return
        evennia.PORTAL_SESSION_HANDLER.announce_all(STUMBLED)
        self._server.start()

    def _came_up(self) -> None:
        """Show the connection screen to those who came while no Server could, or let them in."""
        self._is_up = self._wanted = True
        self._asked_for, self._waited = False, 0
        self._here.server_down.unlink(missing_ok=True)
        sessions = evennia.PORTAL_SESSION_HANDLER
        for session in list(sessions.values()):
            if session.conn_time > sessions.connection_time:
                continue
            if not session.logged_in:
                sessions.data_in(session, text=[[CMD_LOGINSTART], {}])
            elif session.conn_time > self._lost_at:  # a browser that was logged in before
                sessions.connect(session)


def start_plugin_services(portal: Any) -> None:
    """Evennia's Portal comes up: whoever speaks for it finds its watchdog there."""
    loading.end()
    portal.watchdog = watchdog = ServerWatchdog(portal, places())
    watchdog.start()
    watchdog.launch()
