"""Starts, reloads, watches and ends the world of one copy."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psutil
from rich.table import Table

from keepsake import database, vault_lock
from keepsake.archive.spill import Spill
from keepsake.child import LOOPBACK, read_pid
from keepsake.cli import backup, client, home, processes
from keepsake.cli.logs import tail
from keepsake.cli.output import plain_table
from keepsake.cli.processes import Component
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import DATABASE_URL, REPOSITORY, Certificate, Places

LAUNCHER = "game.server.launch"
"""The module that runs Evennia's launcher, as a process: the game's."""
STEP = "step: "
"""How its lines begin that name what it does now."""
PASSWORD_CHANGED = "The admin's password was changed in the game"
"""A line of it; the generated password cannot log in any more."""
CHECKED = "The code can be loaded"
"""A line of it. Evennia's launcher gives up with an exit code of success, so that says nothing."""
ADMIN = "admin"
NO_BYTE_CODE = "PYTHONDONTWRITEBYTECODE"
LAUNCH_SECONDS = 300.0
READY_SECONDS = 120.0
_CHECK_SECONDS = _STOP_SECONDS = 60.0
_GONE_SECONDS = 4.0
"""After these a process that is not there has ended: to begin one takes less than a second."""
_AWAY_SECONDS = 12.0
"""How long Portal or Server may be away: at a reload the old Server has five seconds to end."""
_BUSY_SECONDS = _VAULT_SECONDS = _PORT_SECONDS = 10.0
_POLL_SECONDS = 0.2
_TAIL_LINES = 15
_ROUNDS, _QUIET = 30, 3
"""How often processes are looked for; after three looks without one all have ended."""
_PORTS = {
    "telnet": Component.PORTAL,
    "web": Component.PORTAL,
    "websocket": Component.PORTAL,
    "web_internal": Component.SERVER,
    "amp": Component.PORTAL,
    "model": Component.MODEL,
    "vectors": Component.VECTORS,
}
"""Each port, and the process that listens there."""
_TLS_CURE = (
    "Point KEEPSAKE_TLS_CERT to the certificate with its chain (PEM) and KEEPSAKE_TLS_KEY to its "
    "key without a passphrase, both readable for this account, or unset both for no encryption"
)

type Say = Callable[[str], None]
"""Shows what is being done now."""


@dataclass(frozen=True, slots=True)
class Started:
    """A world that a player can log in to."""

    already_ran: bool  # it was found so
    password_changed: bool = False  # the admin's is not the generated one any more


# -- start and reload


def start(here: Places, say: Say) -> Started:
    """Bring the world up, from whatever state it is in.

    A Portal whose Server has ended gets another one, and its players stay.

    Raises:
        KeepsakeError: It could not be started; what was begun is ended again.
    """
    if here.certificate is not None:
        check_certificate(here.certificate)
    home.prepare(here)
    with home.alone(here):
        if _is_up(here, say):
            return Started(already_ran=True)
        if {each.component for each in processes.halves(here)} != {Component.PORTAL}:
            _end_leftovers(here, say)
        processes.forget_dead(here)
        processes.refuse_taken(here)
        backup.refuse_unfinished(here)
        database.refuse_another(here)
        vault_lock.take(here, patience=_VAULT_SECONDS).release()
        try:
            lines = launch(here, "start", say, LAUNCH_SECONDS)
            say("Waiting for the world")
            _wait_until_ready(here, seconds=LAUNCH_SECONDS)
            _try_telnet(here)
        except BaseException:  # Ctrl-C too: nothing half-started stays behind
            end_all(here, lambda _: None, ask=False)
            raise
        database.note_elsewhere(here)
    return Started(already_ran=False, password_changed=PASSWORD_CHANGED in lines)


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
            launch(here, "check", say, _CHECK_SECONDS)
        except KeepsakeError as error:
            raise KeepsakeError(
                f"The code cannot be loaded, and the world goes on as it is:\n{error.what}\n",
                "Mend what is named there and reload again",
            ) from error
        say("Waiting for the world")
        client.ask(here, "reload", seconds=_BUSY_SECONDS)
        _wait_until_ready(here, not_pid=before)


def launch(here: Places, operation: str, say: Say, seconds: float) -> list[str]:
    """Run ``start`` or ``check`` of the launcher to its end; returns its lines.

    Raises:
        KeepsakeError: It failed, or took longer than ``seconds``.
    """
    lines: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-m", LAUNCHER, operation],
        cwd=REPOSITORY,
        env=_environment(here),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C is ours to handle, not the Portal's
    ) as process:
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                if line.startswith(STEP):
                    say(line.removeprefix(STEP).strip())
        finally:
            timer.cancel()
            process.kill()  # where it has ended, nothing
            process.wait()
    with suppress(OSError):  # a full disk does not matter
        (here.logs / f"{operation}.log").write_text("\n".join([*lines, ""]), encoding="utf-8")
    if process.returncode or CHECKED not in lines:
        raise KeepsakeError("Evennia did not start:\n" + "\n".join(lines[-_TAIL_LINES:]))
    return lines


def _environment(here: Places) -> dict[str, str]:
    """The launcher's environment: the same places, whatever folder it runs in.

    Containers often forbid Python its byte code; each process of a world then compiles two thousand
    modules anew, which is more than half of a start.
    """
    tls = here.certificate
    return {
        **{name: value for name, value in os.environ.items() if name != NO_BYTE_CODE},
        **({"KEEPSAKE_TLS_CERT": str(tls.cert), "KEEPSAKE_TLS_KEY": str(tls.key)} if tls else {}),
        "KEEPSAKE_HOME": str(here.home),
        "KEEPSAKE_VAULT": str(here.vault),
        DATABASE_URL: here.database_url,
        "PYTHONUNBUFFERED": "1",
    }


def _is_up(here: Places, say: Say) -> bool:
    """Whether Portal and Server run and answer, given a moment if one starts the other."""
    deadline = time.monotonic() + _GONE_SECONDS
    while (found := processes.halves(here)) and time.monotonic() < deadline:
        if processes.whole(found):
            say("Waiting for the world that is already there")
            with suppress(KeepsakeError):
                _wait_until_ready(here)
                return True
            return False
        time.sleep(_POLL_SECONDS)
    return False


def _end_leftovers(here: Places, say: Say) -> None:
    """End what is left of a world that broke, and wait until its ports are free."""
    if not processes.running(here):
        return
    end_all(processes.actual(here), say)
    deadline = time.monotonic() + _PORT_SECONDS
    while processes.taken(here) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def _wait_until_ready(here: Places, not_pid: int = 0, seconds: float = READY_SECONDS) -> None:
    """Wait for a Server that answers, and is another one than ``not_pid``."""
    began = alive = time.monotonic()
    while (now := time.monotonic()) < began + seconds:
        report: dict[str, Any] = {}
        with suppress(KeepsakeError):  # between two Servers, or the reactor is busy
            report = client.ask(here, "ready", seconds=5)
        if problem := report.get("problem"):
            raise _broken(here, problem)
        if report.get("ready") and report["pid"] != not_pid:
            return
        if not _gone(here):
            alive = now
        elif now > alive + _GONE_SECONDS:
            raise _broken(here, "Evennia's Portal or Server has ended")
        time.sleep(_POLL_SECONDS)
    raise _broken(here, f"The world was not ready after {seconds:.0f} seconds")


def _gone(here: Places) -> bool:
    """Whether Portal or Server is not there.

    A Server that dies while it starts leaves a process behind that waits for it without end, so its
    pid file counts too.
    """
    pid = read_pid(here.server_pid)
    return not processes.whole(processes.halves(here)) or bool(pid and not psutil.pid_exists(pid))


def _try_telnet(here: Places) -> None:
    address = LOOPBACK if here.listen == "0.0.0.0" else here.listen, here.ports.telnet
    try:
        socket.create_connection(address, timeout=_BUSY_SECONDS).close()
    except OSError as error:
        raise _broken(here, f"Telnet on {address[0]}, port {address[1]}: {error}") from error


def _broken(here: Places, what: str) -> KeepsakeError:
    lines = [*tail(here.logs / "portal.log", 5), *tail(here.logs / "server.log", _TAIL_LINES)]
    shown = "\n".join(f"  {line}" for line in lines)
    return KeepsakeError(
        f"{what}. The logs in {here.logs} end so:\n{shown}\n",
        "Mend what they name and start again; `keepsake doctor` looks for more",
    )


def check_certificate(certificate: Certificate) -> None:
    """Try the two files of a certificate.

    Raises:
        KeepsakeError: One cannot be read, they do not belong together, or the certificate has run
            out; names the cure.
    """
    # Here, since no other command needs it.
    from cryptography.x509 import load_pem_x509_certificate  # noqa: PLC0415

    for path in (certificate.cert, certificate.key):
        with refusing(f"{path} cannot be read", _TLS_CURE):
            path.read_bytes()
    both = f"{certificate.cert} and {certificate.key}"
    # OpenSSL's errors are OSErrors.
    with refusing(f"{both} are no certificate with its key", _TLS_CURE, ValueError):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # Without a password OpenSSL asks at the terminal.
        context.load_cert_chain(certificate.cert, certificate.key, password=lambda: b"")
        ends = load_pem_x509_certificate(certificate.cert.read_bytes()).not_valid_after_utc
    if ends < datetime.now(UTC):
        what = f"The certificate {certificate.cert} ran out on {ends:%Y-%m-%d}"
        raise KeepsakeError(what, _TLS_CURE)


# -- watch and stop


def watch(here: Places) -> None:
    """Return when the world was stopped; for a service manager.

    Raises:
        KeepsakeError: Portal or Server died; the other was ended.
    """
    here = processes.actual(here)
    whole = time.monotonic()
    while (found := _looked_for(here)) is not None:
        while processes.whole(found) and all(map(processes.lives, found)):
            time.sleep(1.0)
            whole = time.monotonic()
        if time.monotonic() > whole + _AWAY_SECONDS:  # longer than a reload takes
            end_all(here, lambda _: None, ask=False)
            raise _broken(here, "Evennia's Portal or Server has ended")
        time.sleep(_POLL_SECONDS)


def _looked_for(here: Places) -> list[processes.Running] | None:
    """What runs of Portal and Server; None where both have ended in good order."""
    found = processes.halves(here)
    return found if found or here.portal_pid.exists() or here.server_pid.exists() else None


def stop(here: Places, say: Say, *, force: bool = False) -> bool:
    """End the world; whether anything ran. With ``force`` also where memories would be lost.

    Raises:
        KeepsakeError: A process cannot be ended, or memories would be lost.
    """
    with home.alone(here):
        anything = bool(processes.running(here))
        here = processes.actual(here)
        if not force:
            _refuse_to_lose(here)
        end_all(here, say)
    return anything


def waiting(here: Places) -> dict[str, int]:
    """By agent, how many memories wait in the home for an archive that cannot be written."""
    return {agent: len(lines) for agent, lines in Spill(here.spill).waiting().items()}


def _refuse_to_lose(here: Places) -> None:
    """Refuse where memories are in RAM alone, since nothing can be written."""
    try:
        found = client.ask(here, "waiting", seconds=5)
    except KeepsakeError:  # it does not run, or does not answer: there is nothing to wait for
        return
    if unkept := {each["name"]: each["unkept"] for each in found if each["unkept"]}:
        names = ", ".join(f"{number} of {name}" for name, number in unkept.items())
        raise KeepsakeError(
            f"Memories would be lost ({names}): neither the vault nor {here.home} can be written",
            "Make room on the disk and try again, or lose them: `keepsake stop --force`",
        )


def end_all(here: Places, say: Say, *, ask: bool = True) -> None:
    """End all processes of a copy, and remove what they leave lying about.

    Args:
        here: The copy.
        say: Shows what is being done.
        ask: Whether Evennia is asked first; one that has just failed to start would not answer.

    Raises:
        KeepsakeError: A process cannot be ended.
    """
    if ask and processes.whole(processes.halves(here)):
        say("Stopping Evennia")
        try:
            client.ask(here, "stop", seconds=_BUSY_SECONDS)
            deadline = time.monotonic() + _STOP_SECONDS
            while processes.halves(here) and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
        except KeepsakeError as error:
            say(f"Evennia does not stop by itself: {error.what}")
    quiet = 0
    for _ in range(_ROUNDS):  # one look can miss a process that has just been forked
        left = processes.running(here)
        quiet = 0 if left else quiet + 1
        if quiet == _QUIET:
            break
        if left:
            say("Ending " + ", ".join(f"{each.component} (process {each.pid})" for each in left))
            processes.end(left)
        time.sleep(_POLL_SECONDS)
    else:
        numbers = " ".join(str(each.pid) for each in processes.running(here))
        raise KeepsakeError("Some processes do not end", f"End them with `kill -9 {numbers}`")
    processes.forget_dead(here)
    here.control_socket.unlink(missing_ok=True)


# -- status


def status(here: Places) -> dict[str, Any]:
    """What runs, and whether somebody could log in, as plain data; times in seconds."""
    here = processes.actual(here)
    found = processes.running(here)
    ready = False
    with suppress(KeepsakeError):
        ready = bool(client.ask(here, "ready", seconds=3)["ready"])
    return {
        "ready": ready,
        "home": str(here.home),
        "vault": str(here.vault),
        "listen": here.listen,
        "processes": {
            component.value: {"pid": each.pid, "uptime": round(each.uptime, 1)} if each else None
            for component in Component
            for each in (processes.one(found, component),)
        },
        "ports": {name: getattr(here.ports, name) for name in _PORTS},
    }


def status_table(looked: dict[str, Any]) -> Table:
    """The processes of :func:`status` as a table."""
    table = plain_table(("process", "state", "pid", "up for", "ports"))
    for name, each in looked["processes"].items():
        if each is None:
            table.add_row(name, "[dim]not running[/dim]")
            continue
        numbers = (str(looked["ports"][port]) for port, owner in _PORTS.items() if owner == name)
        up = str(timedelta(seconds=round(each["uptime"])))
        table.add_row(name, "[green]runs[/green]", str(each["pid"]), up, " ".join(numbers))
    return table
