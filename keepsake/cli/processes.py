"""The processes and ports of one copy of Keepsake.

A process is identified by its command line, which names a pid file in the copy's home. The number
in a pid file proves nothing: the process may have ended and another one may have its number.
"""

from __future__ import annotations

import fcntl
import json
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import psutil

from keepsake.child import LOOPBACK, in_use
from keepsake.errors import KeepsakeError
from keepsake.paths import Places, Ports, places


@contextmanager
def command_lock(here: Places) -> Iterator[None]:
    """Hold this copy's lock, so that no other ``keepsake`` command starts or stops it meanwhile.

    Raises:
        KeepsakeError: Another command holds it.
    """
    here.home.mkdir(parents=True, exist_ok=True)
    with (here.home / "command.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise KeepsakeError(
                f"Another keepsake command is running for {here.home}",
                "Wait until it ends, then try again",
            ) from None
        yield


def ask(here: Places, operation: str, *, seconds: float = 10.0) -> Any:
    """Ask the running world, and return the ``result`` of its answer.

    Args:
        operation: The name of an operation in ``game/server/control.py``; its argument, if any,
            after a blank.
        seconds: The timeout for each part of the answer.

    Raises:
        KeepsakeError: No world runs, or it did not answer in time, or it refused.
    """
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(seconds)
            line.connect(str(here.control_socket))
            line.sendall(f"{operation}\n".encode())
            with line.makefile("rb") as file:
                answer = json.loads(file.readline())
    except TimeoutError as error:
        raise KeepsakeError(
            f"The world did not answer within {seconds:.0f} seconds",
            "It is busy or hangs. Try again, or find the cause with `keepsake doctor`",
        ) from error
    except (OSError, ValueError) as error:
        raise KeepsakeError("Keepsake is not running here", "Start it with `make run`") from error
    if "error" in answer:
        raise KeepsakeError(answer["error"], answer.get("cure", ""))
    return answer["result"]


TERMINATE_SECONDS = 15.0
"""Seconds in which a process may end by itself before it is killed."""
_STEP = 10
_HIGHEST_BASE = 65000
"""Suggested port bases are multiples of the step above one's own, so that copies do not overlap,
and below the highest."""


class Component(StrEnum):
    """A kind of background process of a copy."""

    PORTAL = "portal"
    SERVER = "server"
    MODEL = "model"
    VECTORS = "vectors"
    FETCH = "fetch"


EVENNIA_PROCESSES = frozenset({Component.PORTAL, Component.SERVER})
"""Evennia's two processes: one holds the connections, one the world."""


@dataclass(frozen=True, slots=True)
class Running:
    """A running process of the copy."""

    component: Component
    pid: int
    started: float  # its start time, in seconds since 1970


def running(here: Places) -> list[Running]:
    """Return all processes of this copy, oldest first."""
    # The first option is twistd's, the second our own.
    files = {
        f"{option}={getattr(here, f'{component}_pid')}": component
        for component in Component
        for option in ("--pidfile", "--pid-file")
    }
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has just ended, or belongs to another user
            words = filter(files.get, process.cmdline())
            if (word := next(words, "")) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(Running(files[word], process.pid, process.create_time()))
    return sorted(found, key=lambda each: each.started)


def running_places(here: Places) -> Places:
    """Return the copy with the settings it runs with; unchanged if nothing runs.

    The shell may lack the port base that the copy was started with. Then commands must not use the
    default ports, which may be those of another copy.
    """
    for each in running(here):
        with suppress(psutil.Error, OSError, KeepsakeError):  # ended, or another user's
            given = psutil.Process(each.pid).environ()
            if "KEEPSAKE_HOME" in given:  # another game's processes do not have it
                return places(given | {"KEEPSAKE_HOME": str(here.home)})
    return here


def newest(here: Places, component: Component) -> Running | None:
    """Return the newest process of that kind, or None."""
    return next((each for each in reversed(running(here)) if each.component is component), None)


def missing(here: Places) -> frozenset[Component]:
    """Return which of Evennia's Portal and Server do not run."""
    return EVENNIA_PROCESSES - {each.component for each in running(here)}


def end(found: Iterable[Running], patience: float = TERMINATE_SECONDS) -> None:
    """Terminate the processes, and kill those that still run after ``patience`` seconds."""
    left = []
    for each in found:
        with suppress(psutil.Error):
            process = psutil.Process(each.pid)
            if process.create_time() == each.started:  # not another process with the same pid
                left.append(process)
    for signal in (psutil.Process.terminate, psutil.Process.kill):
        for process in left:
            with suppress(psutil.Error):
                signal(process)
        _, left = psutil.wait_procs(left, patience)


# -- ports


def ports_of(here: Places) -> dict[str, tuple[str, int]]:
    """Return address and number of each port of this copy, by its use."""
    ports = here.ports
    return {
        "telnet": (here.listen, ports.telnet),
        "web": (here.listen, ports.web),
        "web socket": (here.listen, ports.websocket),
        "internal web": (LOOPBACK, ports.web_internal),
        "model server": (LOOPBACK, ports.model),
        "vector server": (LOOPBACK, ports.vectors),
    }


def taken_ports(here: Places, *names: str) -> list[str]:
    """Return one sentence for each port (of these names, or all) that another program uses."""
    ours = {each.pid for each in running(here)}
    found = []
    for name, (address, number) in ports_of(here).items():
        if (names and name not in names) or not in_use(number, address):
            continue
        holder = "another program"
        with suppress(psutil.Error):  # processes of other users are hidden
            for each in psutil.net_connections("tcp"):
                if each.laddr[1:] == (number,) and each.status == psutil.CONN_LISTEN and each.pid:
                    holder = f"{psutil.Process(each.pid).name()} (process {each.pid})"
                    holder = "" if each.pid in ours else holder
        if holder:
            found.append(f"Port {number} ({name}) on {address} is in use by {holder}")
    return found


def ports_cure(ports: Ports) -> str:
    """Return the advice for a taken port, with a port base that is free now."""
    free = next(
        base
        for base in range(ports.base + _STEP, _HIGHEST_BASE, _STEP)
        if not any(map(in_use, range(base, Ports(base).vectors + 1)))
    )
    return (
        f"Stop that program, or start Keepsake on other ports: `KEEPSAKE_PORT_BASE={free} make run`"
    )
