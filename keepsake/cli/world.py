"""Starts, reloads, monitors and stops the world of one copy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.table import Table

from keepsake import database, vault_lock
from keepsake.cli import processes
from keepsake.cli.output import plain_table
from keepsake.cli.processes import Component
from keepsake.errors import KeepsakeError, refusing
from keepsake.files import replace_file
from keepsake.models import fetching
from keepsake.paths import (
    DATABASE_URL,
    REPOSITORY,
    ZONE_FILE,
    Places,
    kept_zone,
    prepare,
    protect,
    time_zone,
    world_zone,
    zone_lines,
)

LAUNCHER = "game.server.launch"
"""The game's module that runs Evennia's launcher in a process of its own."""
STEP = "step: "
"""The prefix of the launcher's output lines that name its current step."""
REFUSED = "refused: "
"""The prefix of the line with the error for which nothing was started: what and cure, as JSON."""
NEW_VAULT = "--new-vault"
"""The launcher's option that gives agents whose memories are missing new ones."""
CHECKED = "The code can be loaded"
"""The output line that proves success: Evennia's launcher also exits with 0 when it fails."""
ADMIN = "admin"
NO_BYTE_CODE = "PYTHONDONTWRITEBYTECODE"
_READY_SECONDS = 120.0
_STOP_SECONDS = 60.0
"""Seconds that a world may take to start, and to stop, before this command gives up."""
_MISSING_SECONDS = 12.0
"""Seconds that Portal or Server may be missing. A reload gives the old Server five to end."""
_BUSY_SECONDS = 10.0
"""Seconds that a running world may take to answer this command."""
_POLL_SECONDS = 0.2
"""Seconds between two looks at a world that starts or stops."""
_START_BYTES = 4 << 20
"""Bytes of free disk below which nothing starts. Evennia writes process numbers and logs, and ends
in the middle of its start if it cannot; a new database takes the most, 1 MB and its journal."""
_TAIL_LINES = 15
"""Lines of the launcher's output or the server's log that an error quotes."""
_EMPTY_CHECKS = 2
"""Consecutive checks without a process after which all of them have ended."""

type Say = Callable[[str], None]
"""A function that shows the current step."""


# -- start and reload


def start(here: Places, say: Say, *, new_vault: bool = False) -> bool:
    """Start the world, also after a crash; return False if it already runs.

    ``new_vault``: Whether agents whose memories are missing in the vault get new ones.

    Raises:
        KeepsakeError: The world could not be started. Processes started for it are ended again.
    """
    prepare(here)
    protect(here)
    with processes.command_lock(here):
        if not processes.missing(here):
            say("Waiting for the world, which runs already")
            with suppress(KeepsakeError):
                _wait_until_ready(here)
                return False
        end_all(processes.running_places(here), say)  # leftovers of a crashed world
        if taken := processes.taken_ports(here):
            raise KeepsakeError(taken[0], processes.ports_cure(here.ports))
        check_room(here)
        database.check_world(here)
        database.check_intact(here)
        vault_lock.take(here).close()
        try:
            launch(here, "start", say, *([NEW_VAULT] if new_vault else []))
            say("Waiting for the world")
            _wait_until_ready(here)
        except BaseException:  # also on Ctrl-C, nothing half-started stays behind
            end_all(here)
            raise
        keep_zone(here, say)
        if here.database_url:
            here.elsewhere.write_text(f"{database.address(here)}\n", encoding="utf-8")
    return True


def check_room(here: Places) -> None:
    """Check that the disk of the home has room for what a start writes.

    Raises:
        KeepsakeError: It has not.
    """
    probe = here.home / ".room"
    cure = "Free some disk space, or set KEEPSAKE_HOME to a folder on a larger disk"
    with refusing(f"{here.home} has no room for the files of a start", cure):
        try:
            probe.write_bytes(bytes(_START_BYTES))
        finally:
            probe.unlink(missing_ok=True)


def keep_zone(here: Places, say: Say) -> None:
    """Note the time zone that the world lives by, and say it where somebody may expect another."""
    zone = world_zone(here.agents)
    kept = kept_zone(here.agents)
    machine = time_zone({})
    if kept not in ("", zone):
        say(f"The world lives by {zone} now; what agents remember speaks of hours of {kept}")
    elif zone != machine:
        say(f"The world lives by {zone}; this machine's zone is {machine}. TZ sets another")
    if zone != kept:
        try:
            text = zone_lines(zone, here.agents, datetime.now(UTC))
            replace_file(here.agents / ZONE_FILE, text)
        except OSError as error:  # the world runs; the next start notes it
            say(f"The time zone of the world could not be kept ({error.strerror})")


def reload(here: Places, say: Say) -> None:
    """Restart the Server with fresh code; players stay connected.

    Raises:
        KeepsakeError: Nothing runs, or the world is too busy to answer, or the disk is full, or the
            code cannot be loaded: then the world keeps running unchanged. Or the new Server did not
            start.
    """
    with processes.command_lock(here):
        here = processes.running_places(here)
        before = processes.ask(here, "ready", seconds=_BUSY_SECONDS)["pid"]
        check_room(here)
        try:
            launch(here, "check", say)
        except KeepsakeError as error:
            raise KeepsakeError(
                f"The code cannot be loaded; the world keeps running unchanged:\n{error.what}\n",
                "Fix the error above and reload again",
            ) from error
        say("Waiting for the world")
        processes.ask(here, "reload", seconds=_BUSY_SECONDS)
        _wait_until_ready(here, not_pid=before)


def launch(here: Places, operation: str, say: Say, *options: str) -> None:
    """Run the launcher's ``start`` or ``check`` to its end; raise KeepsakeError if it failed."""
    # Containers often disable Python's byte code files. Then each process of a world compiles two
    # thousand modules again, which takes more than half of the start time.
    environ = {name: value for name, value in os.environ.items() if name != NO_BYTE_CODE}
    world_zone(here.agents)  # its error is clearer here than in the launcher's traceback
    environ |= {"KEEPSAKE_HOME": str(here.home), "KEEPSAKE_VAULT": str(here.vault)}
    environ |= {DATABASE_URL: here.database_url, "PYTHONUNBUFFERED": "1"}
    environ["KEEPSAKE_WORLD"] = str(here.own_world_given or "")
    lines: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-m", LAUNCHER, operation, *options],
        cwd=REPOSITORY,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # this command handles Ctrl-C, not the Portal
    ) as process:
        try:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                if line.startswith(STEP):
                    say(line.removeprefix(STEP).strip())
        finally:
            process.kill()  # does nothing if it has ended
    if refused := next((line for line in lines if line.startswith(REFUSED)), ""):
        raise KeepsakeError(*json.loads(refused.removeprefix(REFUSED)))
    if process.returncode or CHECKED not in lines:
        raise KeepsakeError("Evennia did not start:\n" + "\n".join(lines[-_TAIL_LINES:]))


def _wait_until_ready(here: Places, not_pid: int = 0) -> None:
    """Wait for a Server that answers and whose process is not ``not_pid``."""
    began = time.monotonic()
    alive = began
    while (now := time.monotonic()) < began + _READY_SECONDS:
        report: dict[str, Any] = {}
        with suppress(KeepsakeError):  # the Server restarts, or its reactor is busy
            report = processes.ask(here, "ready", seconds=5)
        if problem := report.get("problem"):
            raise _failure(here, problem)
        if report.get("ready") and report["pid"] != not_pid:
            return
        if not processes.missing(here):
            alive = now
        elif now > alive + _MISSING_SECONDS:
            raise _failure(here, "Evennia's Portal or Server has ended")
        time.sleep(_POLL_SECONDS)
    raise _failure(here, f"The world was not ready after {_READY_SECONDS:.0f} seconds")


def _failure(here: Places, what: str) -> KeepsakeError:
    shown = f"{what}. The last lines of the logs in {here.logs}:"
    for name, most in (("portal.log", 5), ("server.log", _TAIL_LINES)):
        with suppress(OSError):
            lines = (here.logs / name).read_text(encoding="utf-8", errors="replace").splitlines()
            shown = "\n  ".join([shown, *lines[-most:]])
    return KeepsakeError(f"{shown}\n", "Fix the errors and start again, or run `keepsake doctor`")


# -- monitor and stop


def watch(here: Places) -> None:
    """Block until the world is stopped; for a service manager.

    Raises:
        KeepsakeError: Portal or Server died. The other one was ended.
    """
    here = processes.running_places(here)
    complete = time.monotonic()
    while here.portal_pid.exists() or here.server_pid.exists():
        if not processes.missing(here):
            complete = time.monotonic()
        elif time.monotonic() > complete + _MISSING_SECONDS:  # longer than a reload takes
            end_all(here)
            raise _failure(here, "Evennia's Portal or Server has ended")
        time.sleep(1.0)


def stop(here: Places, say: Say) -> bool:
    """End the world; return whether anything ran."""
    with processes.command_lock(here):
        was_running = bool(processes.running(here))
        end_all(processes.running_places(here), say)
    return was_running


def end_all(here: Places, say: Say = lambda _: None) -> None:
    """End all processes of a copy, and remove their pid files and socket."""
    if not processes.missing(here):
        say("Stopping Evennia")
        try:
            processes.ask(here, "stop", seconds=_BUSY_SECONDS)
            end = time.monotonic() + _STOP_SECONDS
            while processes.missing(here) < processes.EVENNIA_PROCESSES and time.monotonic() < end:
                time.sleep(_POLL_SECONDS)
        except KeepsakeError as error:
            say(f"Evennia does not stop by itself: {error.what}")
    empty = 0
    while empty < _EMPTY_CHECKS:  # a single check can miss a process that has just been forked
        if left := processes.running(here):
            say("Ending " + ", ".join(f"{each.component} (process {each.pid})" for each in left))
            processes.end(left)
        empty = 0 if left else empty + 1
        time.sleep(_POLL_SECONDS)
    for component in Component:  # a leftover pid file would prevent a start
        getattr(here, f"{component}_pid").unlink(missing_ok=True)
    here.control_socket.unlink(missing_ok=True)
    here.portal_socket.unlink(missing_ok=True)


# -- status


def addresses(here: Places) -> dict[str, str]:
    """Return the addresses and the account by which people reach the world."""
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
    """Return what runs, and whether a login works, as plain data; times in seconds."""
    here = processes.running_places(here)
    found = {each.component: each for each in processes.running(here)}  # the newest of each kind
    ready = False
    with suppress(KeepsakeError):
        ready = bool(processes.ask(here, "ready", seconds=3)["ready"])
    return {
        "ready": ready,
        "model": fetching.fetch_status(here, runs=Component.FETCH in found),
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


def status_table(found: dict[str, Any]) -> Table:
    """Return the processes of :func:`status` as a table."""
    rows = [
        (name, str(each["pid"]), str(timedelta(seconds=each["uptime"])))
        for name, each in found["processes"].items()
        if each is not None
    ]
    table = plain_table(("process", "pid", "up for"), rows)
    ports = ", ".join(f"{name} {number}" for name, number in found["ports"].items())
    table.caption = f"ports: {ports}"
    return table
