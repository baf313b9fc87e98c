"""Starts Evennia's Server again when it has died, from within the Portal, which holds the players.

Evennia's Portal starts a Server where it is asked to, and waits for it, deaf, until it is up. Here
it goes on meanwhile, and looks whether there is a Server where there should be one. One that died
too often within a time stays down: a file in the home says so, which goes when one comes up.
"""

from __future__ import annotations

import subprocess
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import evennia
import psutil
from evennia.commands.cmdhandler import CMD_LOGINSTART
from evennia.server.portal.amp_server import getenv
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from game.child.serving import read_pid
from game.paths import RESTART_SECONDS, Places, places
from game.server.limits import DOWN, STUMBLED

_LOOK_SECONDS = 0.25
_log = Logger()


class ServerWatchdog:
    """Looks after the Server of one Portal.

    Args:
        portal: Evennia's service.
        here: The copy.
    """

    def __init__(self, portal: Any, here: Places) -> None:
        self._portal, self._here = portal, here
        self._deaths: deque[float] = deque()
        self._process: subprocess.Popen[bytes] | None = None
        self._lost_at = 0.0
        self._asked_for = self._wanted = self._is_up = False
        self._problem = ""
        here.server_down.unlink(missing_ok=True)
        self._looking = LoopingCall(self._look_on)
        self._looking.start(_LOOK_SECONDS)

    def launch(self) -> None:
        """Somebody asks for a Server: it is started as soon as there is none any more."""
        self._asked_for = True
        self._deaths.clear()
        self.look()

    def let_go(self) -> None:
        """Somebody asks for its end."""
        self._asked_for = self._wanted = False

    def _look_on(self) -> None:
        """Look; what cannot be done just now, such as to write in the home, is tried again."""
        try:
            self.look()
            self._problem = ""
        except Exception as error:
            if self._problem != (problem := repr(error)):
                _log.failure("[Portal] Nobody can look after the Server now")
            self._problem = problem

    def look(self) -> None:
        """Start a Server if there should be one and is none."""
        if self._process is not None:
            self._process.poll()  # Evennia's command ends once its Server is up
        if self._connected():
            if not self._is_up:
                self._came_up()
            return
        if self._is_up:
            self._is_up, self._lost_at = False, time.time()
        if not (self._asked_for or self._wanted) or self._lives():
            return
        if self._asked_for:
            self._start()
        else:
            self._start_again()

    def _connected(self) -> bool:
        link = getattr(self._portal.amp_protocol, "factory", None)
        return link is not None and link.server_connection is not None

    def _lives(self) -> bool:
        """Whether a Server is coming up, or has not yet ended."""
        pid = read_pid(self._here.server_pid)
        if pid == 0:  # it has not yet said its number
            return self._process is not None and self._process.poll() is None
        with suppress(psutil.Error):  # a number alone may be a stranger's by now
            return f"--pidfile={self._here.server_pid}" in psutil.Process(pid).cmdline()
        return False

    def _start(self) -> None:
        """Have Evennia's command start one, which goes into the background by itself."""
        self._asked_for = False
        if self._process is not None:  # it waits without end for a Server that was killed
            self._process.kill()
            self._process.wait()
        self._here.server_pid.unlink(missing_ok=True)
        command: Sequence[str] = self._portal.server_twistd_cmd
        try:
            with (self._here.logs / "server.log").open("ab") as log:
                self._process = subprocess.Popen(
                    command, env=getenv(), stdout=log, stderr=subprocess.STDOUT
                )
        except OSError as error:  # no memory: counted as one more death at the next look
            _log.error("[Portal] No Server could be started: {error}", error=error)

    def _start_again(self) -> None:
        now, most = time.monotonic(), self._here.restarts
        self._deaths.append(now)
        while now - self._deaths[0] > RESTART_SECONDS:
            self._deaths.popleft()
        minutes = f"within {RESTART_SECONDS / 60:.0f} minutes"
        if len(self._deaths) <= most:
            which = f"{len(self._deaths)} of {most} {minutes}"
            _log.warn("[Portal] The Server has died and is started again ({which})", which=which)
            evennia.PORTAL_SESSION_HANDLER.announce_all(STUMBLED)
            self._start()
            return
        self._wanted = False
        told = f"The Server has died {len(self._deaths)} times {minutes} and is not started again"
        _log.error("[Portal] {told}: see server.log, then `keepsake start`", told=told)
        evennia.PORTAL_SESSION_HANDLER.announce_all(DOWN)
        with suppress(OSError):
            self._here.server_down.write_text(told, encoding="utf-8")

    def _came_up(self) -> None:
        """Show the connection screen to those who came while no Server could, or let them in."""
        self._is_up = self._wanted = True
        self._asked_for = False
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
    portal.watchdog = ServerWatchdog(portal, places())
