"""Starts, reloads, watches and ends the world of one copy."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from rich.table import Table

from keepsake import database, vault_lock
from keepsake.cli import processes
from keepsake.cli.output import plain_table
from keepsake.cli.processes import Component
from keepsake.errors import KeepsakeError
from keepsake.models import fetching
from keepsake.paths import DATABASE_URL, REPOSITORY, Places, prepare

LAUNCHER = "game.server.launch"
"""The module that runs Evennia's launcher, as a process: the game's."""
STEP = "step: "
"""How its lines begin that name what it does now."""
CHECKED = "The code can be loaded"
"""A line of it. Evennia's launcher gives up with an exit code of success, so that says nothing."""
ADMIN = "admin"
NO_BYTE_CODE = "PYTHONDONTWRITEBYTECODE"
_READY_SECONDS = 120.0
_STOP_SECONDS = 60.0
_AWAY_SECONDS = 12.0
"""How long Portal or Server may be away: at a reload the old Server has five seconds to end."""
_BUSY_SECONDS = 10.0
_POLL_SECONDS = 0.2
_TAIL_LINES = 15
_QUIET = 2
"""After two looks without a process all have ended."""

type Say = Callable[[str], None]
"""Shows what is being done now."""


# -- start and reload


def start(here: Places, say: Say) -> bool:
    """Bring the world up, from whatever state it is in; False if it ran already.

    Raises:
        KeepsakeError: It could not be started; what was begun is ended again.
    """
    prepare(here)
    with processes.alone(here):
        if not processes.missing(here):
            say("Waiting for the world that is already there")
            with suppress(KeepsakeError):
                _wait_until_ready(here)
                return False
        end_all(processes.actual(here), say)  # what is left of a world that broke
        if taken := processes.taken(here):
            raise KeepsakeError(taken[0], processes.ports_cure(here.ports))
        database.refuse_another(here)
        vault_lock.take(here).close()
        try:
            launch(here, "start", say)
            say("Waiting for the world")
            _wait_until_ready(here)
        except BaseException:  # Ctrl-C too: nothing half-started stays behind
            end_all(here)
            raise
        if here.database_url:
            here.elsewhere.write_text(f"{database.shown(here)}\n", encoding="utf-8")
    return True


def reload(here: Places, say: Say) -> None:
    """Restart the Server with fresh code; players stay connected.

    Raises:
        KeepsakeError: Nothing runs, or it is too busy to be asked, or its code cannot be loaded:
            then the world goes on as it is. Or the new Server did not come up.
    """
    with processes.alone(here):
        here = processes.actual(here)
        before = processes.ask(here, "ready", seconds=_BUSY_SECONDS)["pid"]
        try:
            launch(here, "check", say)
        except KeepsakeError as error:
            raise KeepsakeError(
                f"The code cannot be loaded, and the world goes on as it is:\n{error.what}\n",
                "Mend what is named there and reload again",
            ) from error
        say("Waiting for the world")
        processes.ask(here, "reload", seconds=_BUSY_SECONDS)
        _wait_until_ready(here, not_pid=before)


def launch(here: Places, operation: str, say: Say) -> None:
    """Run ``start`` or ``check`` of the launcher to its end; raises KeepsakeError if it failed."""
    # Containers often forbid Python its byte code; each process of a world then compiles two
    # thousand modules anew, which is more than half of a start.
    environ = {name: value for name, value in os.environ.items() if name != NO_BYTE_CODE}
    environ |= {"KEEPSAKE_HOME": str(here.home), "KEEPSAKE_VAULT": str(here.vault)}
    environ |= {DATABASE_URL: here.database_url, "PYTHONUNBUFFERED": "1"}
    lines: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-m", LAUNCHER, operation],
        cwd=REPOSITORY,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C is ours to handle, not the Portal's
    ) as process:
        try:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                if line.startswith(STEP):
                    say(line.removeprefix(STEP).strip())
        finally:
            process.kill()  # where it has ended, nothing
    if process.returncode or CHECKED not in lines:
        raise KeepsakeError("Evennia did not start:\n" + "\n".join(lines[-_TAIL_LINES:]))


def _wait_until_ready(here: Places, not_pid: int = 0) -> None:
    """Wait for a Server that answers, and is another one than ``not_pid``."""
    began = alive = time.monotonic()
    while (now := time.monotonic()) < began + _READY_SECONDS:
        report: dict[str, Any] = {}
        with suppress(KeepsakeError):  # between two Servers, or the reactor is busy
            report = processes.ask(here, "ready", seconds=5)
        if problem := report.get("problem"):
            raise _broken(here, problem)
        if report.get("ready") and report["pid"] != not_pid:
            return
        if not processes.missing(here):
            alive = now
        elif now > alive + _AWAY_SECONDS:
            raise _broken(here, "Evennia's Portal or Server has ended")
        time.sleep(_POLL_SECONDS)
    raise _broken(here, f"The world was not ready after {_READY_SECONDS:.0f} seconds")


def _broken(here: Places, what: str) -> KeepsakeError:
    shown = f"{what}. The logs in {here.logs} end so:"
    for name, most in (("portal.log", 5), ("server.log", _TAIL_LINES)):
        with suppress(OSError):
            lines = (here.logs / name).read_text(encoding="utf-8", errors="replace").splitlines()
            shown = "\n  ".join([shown, *lines[-most:]])
    return KeepsakeError(f"{shown}\n", "Mend what they name and start again, or ask the doctor")


# -- watch and stop


def watch(here: Places) -> None:
    """Return when the world was stopped; for a service manager.

    Raises:
        KeepsakeError: Portal or Server died; the other was ended.
    """
    here = processes.actual(here)
    whole = time.monotonic()
    while here.portal_pid.exists() or here.server_pid.exists():
        if not processes.missing(here):
            whole = time.monotonic()
        elif time.monotonic() > whole + _AWAY_SECONDS:  # longer than a reload takes
            end_all(here)
            raise _broken(here, "Evennia's Portal or Server has ended")
        time.sleep(1.0)


def stop(here: Places, say: Say) -> bool:
    """End the world; whether anything ran."""
    with processes.alone(here):
        anything = bool(processes.running(here))
        end_all(processes.actual(here), say)
    return anything


def end_all(here: Places, say: Say = lambda _: None) -> None:
    """End all processes of a copy, and remove what they leave lying about."""
    if not processes.missing(here):
        say("Stopping Evennia")
        try:
            processes.ask(here, "stop", seconds=_BUSY_SECONDS)
            deadline = time.monotonic() + _STOP_SECONDS
            while processes.missing(here) < processes.HALVES and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
        except KeepsakeError as error:
            say(f"Evennia does not stop by itself: {error.what}")
    looks = 0
    while looks < _QUIET:  # one look can miss a process that has just been forked
        if left := processes.running(here):
            say("Ending " + ", ".join(f"{each.component} (process {each.pid})" for each in left))
            processes.end(left)
        looks = 0 if left else looks + 1
        time.sleep(_POLL_SECONDS)
    for component in Component:  # a file that is left would stop a start
        getattr(here, f"{component}_pid").unlink(missing_ok=True)
    here.control_socket.unlink(missing_ok=True)


# -- status


def doors(here: Places) -> dict[str, str]:
    """How people come into the world."""
    host = "localhost" if here.listen in ("127.0.0.1", "0.0.0.0") else here.listen
    web = f"http://{host}:{here.ports.web}"
    return {
        "telnet": f"telnet {host} {here.ports.telnet}",
        "web": f"{web}/webclient/",
        "dashboard": f"{web}/agents/ (as admin)",
        "admin": f"{ADMIN}, password in {here.admin_password}",
        "newcomers": "type: create <name> <password>",
    }


def status(here: Places) -> dict[str, Any]:
    """What runs, and whether somebody could log in, as plain data; times in seconds."""
    here = processes.actual(here)
    found = {each.component: each for each in processes.running(here)}  # the newest of each kind
    ready = False
    with suppress(KeepsakeError):
        ready = bool(processes.ask(here, "ready", seconds=3)["ready"])
    return {
        "ready": ready,
        "model": fetching.told(here, runs=Component.FETCH in found),
        "home": str(here.home),
        "vault": str(here.vault),
        "listen": here.listen,
        "processes": {
            kind.value: {"pid": each.pid, "uptime": round(time.time() - each.started)}
            if (each := found.get(kind))
            else None
            for kind in Component
        },
        "ports": {name: number for name, (_, number) in processes.ports_of(here).items()},
    }


def status_table(looked: dict[str, Any]) -> Table:
    """The processes of :func:`status` as a table."""
    rows = [
        (name, str(each["pid"]), str(timedelta(seconds=each["uptime"])))
        for name, each in looked["processes"].items()
        if each is not None
    ]
    table = plain_table(("process", "pid", "up for"), rows)
    ports = ", ".join(f"{name} {number}" for name, number in looked["ports"].items())
    table.caption = f"ports: {ports}"
    return table
