"""Starts the world and waits until a player could log in."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from game.cli.logs.logs import tail
from game.cli.world import client, home, launcher, ports, processes, restore, stopping
from game.cli.world.evennia_entry import PASSWORD_CHANGED
from game.cli.world.processes import Component
from game.server import databases, tls, vault_lock
from keepsake.child.free_port import LOOPBACK
from keepsake.child.serving import read_pid
from keepsake.errors import KeepsakeError
from keepsake.paths import Places

LAUNCH_SECONDS = 300.0
CHECK_SECONDS = 60.0
READY_SECONDS = 120.0
_GONE_SECONDS = 4.0
"""After these a process that is not there has ended: to begin one takes less than a second."""
_AWAY_SECONDS = 12.0
"""How long a half may be away: at a reload the old Server has five seconds to end."""
_BUSY_SECONDS = _VAULT_SECONDS = _PORT_SECONDS = 10.0
_POLL_SECONDS, _WATCH_SECONDS = 0.2, 1.0
_TAIL_LINES = 15

type Say = Callable[[str], None]
"""Shows what is being done now."""


@dataclass(frozen=True, slots=True)
class Started:
    """A world that a player can log in to."""

    already_ran: bool  # it was found so
    password_changed: bool = False  # the admin's is not the generated one any more


def start(here: Places, say: Say) -> Started:
    """Bring the world up, from whatever state it is in.

    A Portal whose Server has ended gets another one, and its players stay.

    Raises:
        KeepsakeError: It could not be started; whatever was begun is ended again.
    """
    if here.certificate is not None:
        tls.check(here.certificate)
    home.prepare(here)
    with home.alone(here):
        if _is_up(here, say):
            return Started(already_ran=True)
        found = processes.running(here)
        if found and {each.component for each in processes.halves(here)} != {Component.PORTAL}:
            stopping.end_all(processes.actual(here), say)
            _wait_for_ports(here)
        processes.forget_dead(here)
        ports.refuse_taken(here, frozenset(each.pid for each in processes.running(here)))
        restore.refuse_unfinished(here)
        databases.refuse_another(here)
        vault_lock.take(here, patience=_VAULT_SECONDS).release()
        try:
            return _launch(here, say)
        except BaseException:  # Ctrl-C too: nothing half-started stays behind
            stopping.end_all(here, lambda _: None, ask=False)
            raise


def reload(here: Places, say: Say) -> None:
    """Restart the Server with fresh code; players stay connected.

    Raises:
        KeepsakeError: Nothing runs, or it is too busy to be asked, or its code cannot be loaded:
            then the world goes on as it is. Or the new Server did not come up.
    """
    with home.alone(here):
        here = processes.actual(here)
        before = client.ask(here, "ready", seconds=_BUSY_SECONDS)["pid"]
        try:
            launcher.run(here, "check", say, CHECK_SECONDS)
        except KeepsakeError as error:
            raise KeepsakeError(
                f"The code cannot be loaded, and the world goes on as it is:\n{error.what}\n",
                "Mend what is named there and reload again",
            ) from error
        say("Waiting for the world")
        client.ask(here, "reload", seconds=_BUSY_SECONDS)
        _wait_until_ready(here, not_pid=before)


def watch(here: Places) -> None:
    """Return when the world was stopped; for a service manager.

    Raises:
        KeepsakeError: Portal or Server died; the other half was ended.
    """
    here = processes.actual(here)
    while True:
        found = processes.halves(here)
        while processes.whole(found) and all(map(processes.lives, found)):
            time.sleep(_WATCH_SECONDS)
        deadline = time.monotonic() + _AWAY_SECONDS  # it is reloaded, or stopped, or has died
        while not processes.whole(found := processes.halves(here)):
            if not (found or here.portal_pid.exists() or here.server_pid.exists()):
                return
            if time.monotonic() > deadline:
                stopping.end_all(here, lambda _: None, ask=False)
                raise _broken(here, "Evennia's Portal or Server has ended")
            time.sleep(_WATCH_SECONDS)


def _is_up(here: Places, say: Say) -> bool:
    """Whether both halves run and answer, given a moment if one starts the other."""
    deadline = time.monotonic() + _GONE_SECONDS
    while (found := processes.halves(here)) and time.monotonic() < deadline:
        if processes.whole(found):
            say("Waiting for the world that is already there")
            with suppress(KeepsakeError):
                return bool(_wait_until_ready(here))
            return False
        time.sleep(_POLL_SECONDS)
    return False


def _wait_for_ports(here: Places) -> None:
    """The last threads of a process that was ended may hold its port for a moment."""
    deadline = time.monotonic() + _PORT_SECONDS
    while ports.taken(ports.of(here)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def _launch(here: Places, say: Say) -> Started:
    lines = launcher.run(here, "start", say, LAUNCH_SECONDS)
    say("Waiting for the world")
    _wait_until_ready(here, seconds=LAUNCH_SECONDS)
    databases.note_elsewhere(here)
    address = LOOPBACK if here.listen == "0.0.0.0" else here.listen, here.ports.telnet
    try:
        socket.create_connection(address, timeout=_BUSY_SECONDS).close()
    except OSError as error:
        raise _broken(here, f"Telnet on {address[0]}, port {address[1]}: {error}") from error
    return Started(already_ran=False, password_changed=PASSWORD_CHANGED in lines)


def _wait_until_ready(here: Places, not_pid: int = 0, seconds: float = READY_SECONDS) -> bool:
    """Wait for a Server that answers, and is another one than ``not_pid``."""
    check = _Watch(here).check
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        check()
        report: dict[str, Any] = {}
        with suppress(KeepsakeError):  # between two Servers, or the reactor is busy
            report = client.ask(here, "ready", seconds=5)
        if problem := report.get("problem"):
            raise _broken(here, problem)
        if report.get("ready") and report["pid"] != not_pid:
            return True
        time.sleep(_POLL_SECONDS)
    raise _broken(here, f"The world was not ready after {seconds:.0f} seconds")


class _Watch:
    """Notices a Portal or Server that died, rather than wait for it in vain.

    A Server puts itself into the background, and the process before waits for it, without end if
    it dies meanwhile. So one that the pid file does not name counts only if it is newer than that.
    """

    def __init__(self, here: Places) -> None:
        self._here = here
        self._seen = dict.fromkeys(processes.HALVES, time.monotonic())

    def check(self) -> None:
        """Look once."""
        now, found = time.monotonic(), processes.halves(self._here)
        pid, written = read_pid(self._here.server_pid), 0.0
        if pid not in (0, *(each.pid for each in found)):
            with suppress(FileNotFoundError):
                written = self._here.server_pid.stat().st_mtime
        for each in found:
            if each.component is Component.PORTAL or each.started > written:
                self._seen[each.component] = now
        for component, seen in self._seen.items():
            if now - seen > _GONE_SECONDS:
                raise _broken(self._here, f"Evennia's {component.capitalize()} has ended")


def _broken(here: Places, what: str) -> KeepsakeError:
    lines = [*tail(here.logs / "portal.log", 5), *tail(here.logs / "server.log", _TAIL_LINES)]
    shown = "\n".join(f"  {line}" for line in lines)
    return KeepsakeError(
        f"{what}. The logs in {here.logs} end so:\n{shown}\n",
        "Mend what they name and start again; `keepsake doctor` looks for more",
    )
