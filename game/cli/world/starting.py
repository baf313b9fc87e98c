"""Starts the world and waits until a player could log in."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from game.cli.logs.log_files import tail
from game.cli.world import client, home, launcher, login, ports, processes, stopping
from game.cli.world.evennia_entry import ADMIN, PASSWORD_CHANGED
from game.cli.world.processes import Component
from game.mind.errors import KeepsakeError
from game.paths import Places
from game.server import tls

LAUNCH_SECONDS = 300.0
READY_SECONDS = 300.0
LOGIN_SECONDS = 120.0
_GONE_SECONDS = 10.0
_RELOAD_GAP_SECONDS = 3.0
_PORT_SECONDS = 10.0
_POLL_SECONDS = 0.2
_TAIL_LINES = 15

type Say = Callable[[str], None]
"""Shows what is being done now."""


@dataclass(frozen=True, slots=True)
class Started:
    """A world that a player can log in to.

    Attributes:
        already_ran: It was found so.
        password_changed: The admin's password is not the generated one any more.
    """

    already_ran: bool
    password_changed: bool = False


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
            stopping.end_all(here, say)
            _wait_for_ports(here)
        ports.refuse_taken(here)
        try:
            return _launch(here, say)
        except BaseException:  # Ctrl-C too: nothing half-started stays behind
            stopping.end_all(here, lambda _: None)
            raise


def reload(here: Places, say: Say) -> None:
    """Restart the Server with fresh code; players stay connected.

    Raises:
        KeepsakeError: Nothing runs, or it did not come up again.
    """
    with home.alone(here):
        before = client.ask(here, "ready")["pid"]
        launcher.run(here, "reload", say).wait(LAUNCH_SECONDS, _Watch(here).check)
        say("Waiting for the world")
        _wait_until_ready(here, not_pid=before)


def _is_up(here: Places, say: Say) -> bool:
    """Whether both halves run and answer, given a moment if a reload is under way."""
    deadline = time.monotonic() + _RELOAD_GAP_SECONDS
    while (found := processes.running(here)) and time.monotonic() < deadline:
        alive = {each.component for each in found}
        if Component.PORTAL not in alive:
            return False
        if Component.SERVER in alive:
            say("Waiting for the world that is already there")
            return _becomes_ready(here)
        time.sleep(_POLL_SECONDS)
    return False


def _wait_for_ports(here: Places) -> None:
    """The last threads of a process that was ended may hold its port for a moment."""
    deadline = time.monotonic() + _PORT_SECONDS
    while ports.taken(ports.of(here)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def _becomes_ready(here: Places) -> bool:
    try:
        _wait_until_ready(here)
    except KeepsakeError:
        return False
    return True


def _launch(here: Places, say: Say) -> Started:
    child = launcher.run(here, "start", say)
    child.wait(LAUNCH_SECONDS, _Watch(here).check)
    say("Waiting for the world")
    room = _wait_until_ready(here)["admin_room"]
    say("Logging in over telnet")
    changed = PASSWORD_CHANGED in child.lines
    line = login.connection_screen(_reachable(here), here.ports.telnet, LOGIN_SECONDS)
    if changed:
        line.close()
    else:
        client.ask(here, "prepare_trial")
        password = here.admin_password.read_text().strip()
        login.log_in(line, ADMIN, password, room=room or "", seconds=LOGIN_SECONDS)
    return Started(already_ran=False, password_changed=changed)


def _reachable(here: Places) -> str:
    """An address of the telnet port on this machine."""
    return ports.LOOPBACK if here.listen == "0.0.0.0" else here.listen


def _wait_until_ready(here: Places, not_pid: int = 0) -> dict[str, Any]:
    """Wait for the Server that is here to stay, and return its report."""
    watch = _Watch(here)
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        watch.check(portal_expected=True)
        report = _report(here)
        if report.get("problem"):
            raise _broken(here, report["problem"])
        if report["ready"] and report["pid"] != not_pid:
            return report
        time.sleep(_POLL_SECONDS)
    raise _broken(here, f"The world was not ready after {READY_SECONDS:.0f} seconds")


def _report(here: Places) -> dict[str, Any]:
    try:
        report: dict[str, Any] = client.ask(here, "ready", seconds=5)
    except KeepsakeError:  # between two Servers, or the reactor is busy building
        return {"ready": False}
    return report


class _Watch:
    """Notices a Portal or Server that died, rather than wait for it in vain."""

    def __init__(self, here: Places) -> None:
        self._here = here
        self._seen: dict[Component, float] = {}

    def check(self, *, portal_expected: bool = False) -> None:
        """Look once."""
        now = time.monotonic()
        alive = {each.component for each in processes.running(self._here)}
        self._seen |= dict.fromkeys(alive, now)
        if portal_expected:
            self._seen.setdefault(Component.PORTAL, now)
            self._seen.setdefault(Component.SERVER, now)
        for component in (Component.PORTAL, Component.SERVER):
            if now - self._seen.get(component, now) > _GONE_SECONDS:
                raise _broken(self._here, f"Evennia's {component.capitalize()} ended at once")


def _broken(here: Places, what: str) -> KeepsakeError:
    lines = [*tail(here.logs / "portal.log", 5), *tail(here.logs / "server.log", _TAIL_LINES)]
    shown = "\n".join(f"  {line}" for line in lines)
    return KeepsakeError(
        f"{what}. The logs in {here.logs} end so:\n{shown}\n",
        "Mend what they name and start again; `keepsake doctor` looks for more",
    )
