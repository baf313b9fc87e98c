"""Comes back to PostgreSQL after it was gone: it was started anew, or the network was cut."""

from __future__ import annotations

from typing import Any

from django.db import close_old_connections
from twisted.internet.threads import deferToThread
from twisted.logger import Logger

from game.server.vault_lock import VaultLock
from game.server.watchdog import Watchdog
from keepsake.errors import KeepsakeError

_KEEP_LOOKS = 40
"""Every so many looks, ten seconds, the lock on the database is asked for."""
_log = Logger()


class DatabaseWatchdog(Watchdog):
    """Looks after what one Server has of PostgreSQL; on the reactor's thread.

    Django opens a connection that failed anew at the begin of a web request, and the world's own
    is not of one.
    """

    def __init__(self, vault: VaultLock) -> None:
        super().__init__()
        self._vault = vault
        self._looks = 0
        self._told = ""

    def look(self) -> None:
        """Let go of a connection that has failed, so that the next statement opens another."""
        close_old_connections()
        self._looks += 1
        if self._looks % _KEEP_LOOKS == 0:
            deferToThread(self._vault.keep).addCallbacks(self._kept, self._lost)

    def _kept(self, _: object) -> None:
        self._told = ""

    def _lost(self, failure: Any) -> None:
        failure.trap(KeepsakeError)
        if (told := failure.getErrorMessage()) != self._told:
            _log.error("{told}", told=told)
        self._told = told
