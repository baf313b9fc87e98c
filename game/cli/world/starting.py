"""Starts the world and waits until a player could log in."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from game.cli.logs.log_files import tail
from game.cli.world import (
    backup,
    client,
    formats,
    home,
    launcher,
    login,
    ports,
    processes,
    restore,
    stopping,
)
from game.cli.world.evennia_entry import ADMIN, CHECKED, PASSWORD_CHANGED
from game.cli.world.processes import Component
from game.server import databases, tls, vault_lock
from keepsake.child.serving import read_pid
from keepsake.errors import KeepsakeError
from keepsake.paths import Places

LAUNCH_SECONDS = 300.0
CHECK_SECONDS = 60.0
READY_SECONDS = 120.0
LOGIN_SECONDS = 120.0
_GONE_SECONDS = 4.0
"""After these a process that is not there has ended: to begin one takes less than a second."""
_OLD_SERVER_SECONDS = 10.0
"""How long the old Server may take to end at a reload: it ends itself after five."""
_VAULT_SECONDS = 10.0
_BUSY_SECONDS = 10.0
_RELOAD_GAP_SECONDS = 3.0
_PORT_SECONDS = 10.0
_POLL_SECONDS = 0.2
_TAIL_LINES = 15


class ServerEnded(KeepsakeError):
    """The Portal or the Server ended while it was waited for, or never answered."""


type Say = Callable[[str], None]
"""Shows what is being done now."""


@dataclass(frozen=True, slots=True)
class Started:
    """A world that a player can log in to."""

    already_ran: bool  # it was found so
    password_changed: bool = False  # the admin's is not the generated one any more


def start(here: Places, say: Say) -> Started:
    """Bring the world up, from whatever state it is in.

    Raises:
        KeepsakeError: It could not be started; whatever was begun is ended again.
    """
    if here.certificate is not None:
        tls.check(here.certificate)
    home.prepare(here)
    with home.alone(here):
        if _is_up(here, say):
            return Started(already_ran=True)
        if processes.running(here):  # half a world, or a model server left by a crash
            stopping.end_all(processes.actual(here), say)
            _wait_for_ports(here)
        processes.forget_dead(here)  # or the Server to come would be taken for one that has ended
        ports.refuse_taken(here)
        restore.refuse_unfinished(here)
        databases.refuse_another(here)
        vault_lock.take(here, patience=_VAULT_SECONDS).release()
        formats.bring_up_to_date(here, say, backup.of_stopped)
        try:
            return _launch(here, say)
        except BaseException:  # Ctrl-C too: nothing half-started stays behind
            stopping.end_all(here, lambda _: None, ask=False)
            raise


def reload(here: Places, say: Say) -> None:
    """Restart the Server with fresh code; players stay connected.

    Raises:
        KeepsakeError: Nothing runs, or it is too busy to be asked, or its code cannot be loaded:
            then the world goes on as it is. Or no world can be started any more.
    """
    with home.alone(here):
        here = processes.actual(here)
        before = client.ask(here, "ready", seconds=_BUSY_SECONDS)["pid"]
        _refuse_broken_code(here, say)
        say("Waiting for the world")
        client.ask(here, "reload", seconds=_BUSY_SECONDS)
        _end_if_it_stays(here, before)
        try:
            _wait_until_ready(here, not_pid=before)
        except ServerEnded:  # and the Portal, which starts another, has given up or ended too
            say("Starting the world anew")
            stopping.end_all(here, say, ask=False)
            _wait_for_ports(here)
            _launch(here, say)


def _refuse_broken_code(here: Places, say: Say) -> None:
    """Load the code once, in a process of its own, while the world still runs."""
    try:
        lines = launcher.run(here, "check", say, CHECK_SECONDS)
        shown = "\n".join(lines[-_TAIL_LINES:])
    except KeepsakeError as error:
        lines, shown = [], error.what
    if CHECKED not in lines:
        raise KeepsakeError(
            f"The code cannot be loaded, so the world goes on with what it has:\n{shown}\n",
            "Mend what is named there and reload again",
        )


def _end_if_it_stays(here: Places, pid: int) -> None:
    """Wait until that Server has ended, by force if need be: the Portal then starts the next."""
    deadline = time.monotonic() + _OLD_SERVER_SECONDS
    while old := [each for each in processes.running(here) if each.pid == pid]:
        if time.monotonic() > deadline:
            processes.end(old, patience=0.0)
        time.sleep(_POLL_SECONDS)


def _is_up(here: Places, say: Say) -> bool:
    """Whether both halves run and answer, given a moment if one starts the other again."""
    deadline = time.monotonic() + _RELOAD_GAP_SECONDS
    while (found := processes.running(here)) and time.monotonic() < deadline:
        alive = {each.component for each in found}
        if Component.SERVER in alive:
            say("Waiting for the world that is already there")
            with suppress(KeepsakeError):
                return bool(_wait_until_ready(here))
            return False
        if Component.PORTAL not in alive:
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
    if CHECKED not in lines:
        raise KeepsakeError("Evennia did not start:\n" + "\n".join(lines[-_TAIL_LINES:]))
    say("Waiting for the world")
    room = _wait_until_ready(here, seconds=LAUNCH_SECONDS)["admin_room"]
    formats.mark(here)
    databases.note_elsewhere(here)
    say("Logging in over telnet")
    changed = PASSWORD_CHANGED in lines
    lives = _Watch(here).check
    host = ports.LOOPBACK if here.listen == "0.0.0.0" else here.listen
    line = login.connection_screen(host, here.ports.telnet, LOGIN_SECONDS, lives)
    if changed:
        line.close()
    else:
        client.ask(here, "prepare_trial")
        password = here.admin_password.read_text().strip()
        login.log_in(line, ADMIN, password, room=room or "", seconds=LOGIN_SECONDS, watch=lives)
    return Started(already_ran=False, password_changed=changed)


def _wait_until_ready(
    here: Places, not_pid: int = 0, seconds: float = READY_SECONDS
) -> dict[str, Any]:
    """Wait for the Server that is here to stay, and return its report."""
    watch = _Watch(here, not_pid)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        watch.check()
        report: dict[str, Any] = {}
        with suppress(KeepsakeError):  # between two Servers, or the reactor is busy building
            report = client.ask(here, "ready", seconds=5)
        if problem := report.get("problem"):
            raise _broken(here, problem)
        if report.get("ready") and report["pid"] != not_pid:
            return report
        time.sleep(_POLL_SECONDS)
    raise _broken(here, f"The world was not ready after {seconds:.0f} seconds", ServerEnded)


class _Watch:
    """Notices a Portal or Server that died, rather than wait for it in vain.

    A Server first starts itself anew in the background and waits for what it started, without
    end, and so does the Portal. If that dies meanwhile, there is still a process that looks like
    a Server. The pid file names the one that counts, or one that a newer one will replace.
    """

    def __init__(self, here: Places, not_pid: int = 0) -> None:
        self._here, self._not_pid = here, not_pid
        self._seen: dict[Component, float] = {}

    def check(self) -> None:
        """Look once; a Server is expected as soon as the Portal has told its number."""
        now = time.monotonic()
        found = processes.running(self._here)
        pid, written = read_pid(self._here.server_pid), _written(self._here.server_pid)
        named = pid in (0, self._not_pid, *(each.pid for each in found))
        alive = {
            each.component
            for each in found
            if each.component is not Component.SERVER or named or each.started > written
        }
        self._seen |= dict.fromkeys(alive, now)
        self._seen.setdefault(Component.PORTAL, now)
        if not named or self._here.portal_pid.exists():
            self._seen.setdefault(Component.SERVER, now)
        for component in (Component.PORTAL, Component.SERVER):
            if now - self._seen.get(component, now) > _GONE_SECONDS:
                raise _broken(
                    self._here, f"Evennia's {component.capitalize()} has ended", ServerEnded
                )


def _written(path: Path) -> float:
    """When a file was written, in seconds since 1970; 0 for none."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _broken(here: Places, what: str, kind: type[KeepsakeError] = KeepsakeError) -> KeepsakeError:
    lines = [*tail(here.logs / "portal.log", 5), *tail(here.logs / "server.log", _TAIL_LINES)]
    shown = "\n".join(f"  {line}" for line in lines)
    return kind(
        f"{what}. The logs in {here.logs} end so:\n{shown}\n",
        "Mend what they name and start again; `keepsake doctor` looks for more",
    )
