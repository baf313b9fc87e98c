"""Starts Evennia's Portal again when it has died, from within the Server, which lives on.

Who was connected is gone with the Portal, and leaves the world as whoever closes a line. Agents
notice nothing else.
"""

from __future__ import annotations

from typing import Any

import evennia
from evennia.server.service import EvenniaServerService
from twisted.logger import Logger

from game.server.halves import Half, Launcher
from game.server.watchdog import Watchdog
from keepsake.paths import Places, places

_RECONNECT_SECONDS = 0.5
"""How often the Server tries to reach a Portal that comes up: Evennia's ten would be waited for."""
_log = Logger()


def connected() -> bool:
    """Whether the Server has a Portal."""
    line = evennia.EVENNIA_SERVER_SERVICE.amp_protocol
    return line is not None and bool(line.transport.connected)


class PortalWatchdog(Watchdog):
    """Looks after the Portal of one Server."""

    def __init__(self, here: Places) -> None:
        super().__init__()
        self._portal = Launcher(here, Half.PORTAL)
        self._is_up = self._given_up = False

    def look(self) -> None:
        """Let those go who came by a Portal that is gone, and start another."""
        self._portal.reap()
        if connected():
            if not self._is_up:
                self._is_up, self._given_up = True, False
                line = evennia.EVENNIA_SERVER_SERVICE.amp_protocol
                line.factory.maxDelay = _RECONNECT_SECONDS
                line.transport.setTcpNoDelay(True)  # see prompt_lines.py
            return
        if self._is_up:
            self._is_up = False
            sessions: Any = evennia.SERVER_SESSION_HANDLER
            for session in list(sessions.values()):
                try:
                    sessions.portal_disconnect(session)
                except Exception:  # whatever a hook of the world raises; the others go all the same
                    _log.failure("One who came by the Portal that is gone could not leave")
        if self._given_up or self._portal.lives():
            return
        if told := self._portal.died():
            self._given_up = True
            _log.error("{told}: see portal.log, then `keepsake start`", told=told)
        else:
            self._portal.start()


class LastingServer(EvenniaServerService):
    """Evennia's Server, which begins once, however many Portals come to it."""

    _has_begun = False

    def __init__(self) -> None:
        super().__init__()
        self.watchdog = PortalWatchdog(places())

    def privilegedStartService(self) -> None:  # noqa: N802 - Twisted's name
        """Come up; the Portal may die before it has ever been reached."""
        super().privilegedStartService()
        self.watchdog.start()

    def run_init_hooks(self, mode: str | None) -> None:
        """Wake all that is in the world: the first Portal is there."""
        if not self._has_begun:
            super().run_init_hooks(mode)

    def at_post_portal_sync(self, mode: str | None) -> None:
        """Let scripts run and channels be: the first Portal has said who is connected."""
        if not self._has_begun:
            self._has_begun = True
            super().at_post_portal_sync(mode)
