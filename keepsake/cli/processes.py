"""The processes and ports of one copy of Keepsake.

A process is known by its command line, which names a pid file in the copy's home. The number in a
pid file alone proves nothing: the process may be gone and its number given to a stranger.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path

import psutil

from keepsake.child import LOOPBACK, refusal
from keepsake.errors import KeepsakeError
from keepsake.paths import Places, Ports, places

TERMINATE_SECONDS = 15.0
_POLL_SECONDS = 0.05
_STEP = 10
_HIGHEST_BASE = 65000


class Component(StrEnum):
    """What one copy runs in the background."""

    PORTAL = "portal"
    SERVER = "server"
    MODEL = "model"
    VECTORS = "vectors"


HALVES = frozenset({Component.PORTAL, Component.SERVER})
"""Evennia's two processes: one holds the connections, one the world."""


@dataclass(frozen=True, slots=True)
class Running:
    """One process of ours."""

    component: Component
    pid: int
    started: float  # when it was, in seconds since 1970

    @property
    def uptime(self) -> float:
        """Seconds since it was started."""
        return max(0.0, time.time() - self.started)


def pid_file(here: Places, component: Component) -> Path:
    """The file that names the process, and that its command line names."""
    path: Path = getattr(here, f"{component}_pid")
    return path


def running(here: Places) -> list[Running]:
    """All processes of this copy, oldest first."""
    marks = {str(pid_file(here, component)): component for component in Component}
    found = [each for process in psutil.process_iter() if (each := _recognise(process, marks))]
    return sorted(found, key=lambda each: each.started)


def actual(here: Places) -> Places:
    """The copy with this home as it runs; as it is given where nothing runs.

    A shell may lack the port base that the copy was started with, and must not examine the copy
    that has the usual ports.
    """
    for each in running(here):
        try:
            given = psutil.Process(each.pid).environ()
            return places(given | {"KEEPSAKE_HOME": str(here.home)})
        except (psutil.Error, OSError, KeepsakeError):  # it ended, or is somebody else's
            continue
    return here


def one(found: Iterable[Running], component: Component) -> Running | None:
    """The newest process of that kind, or None."""
    return max(
        (each for each in found if each.component is component),
        key=lambda each: each.started,
        default=None,
    )


def halves(here: Places) -> list[Running]:
    """What runs of Evennia's Portal and Server."""
    return [each for each in running(here) if each.component in HALVES]


def whole(found: Iterable[Running]) -> bool:
    """Whether both halves are among them."""
    return {each.component for each in found} >= HALVES


def lives(each: Running) -> bool:
    """Whether it is that process still: no zombie, and no stranger with its number."""
    try:
        process = psutil.Process(each.pid)
        same = process.create_time() == each.started
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def end(processes: Sequence[Running], patience: float = TERMINATE_SECONDS) -> None:
    """Ask the processes to end, and kill those that have not after ``patience`` seconds."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        left = [each for each in processes if lives(each)]
        for each in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each.pid, number)
        deadline = time.monotonic() + patience
        while any(map(lives, left)) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)


def forget_dead(here: Places) -> None:
    """Remove the pid files of components that do not run; they would stop a start."""
    found = running(here)
    for component in Component:
        if one(found, component) is None:
            pid_file(here, component).unlink(missing_ok=True)


def _recognise(process: psutil.Process, marks: dict[str, Component]) -> Running | None:
    """The process as one of ours, or None."""
    try:
        component = _component(process.cmdline(), marks)
        if component is None or process.status() == psutil.STATUS_ZOMBIE:
            return None
        return Running(component, process.pid, process.create_time())
    except psutil.Error:  # it ended meanwhile, or belongs to somebody else
        return None


def _component(arguments: Sequence[str], marks: dict[str, Component]) -> Component | None:
    """What a command line runs: ``--pidfile=FILE`` is twistd's, ``--pid-file FILE`` ours."""
    for before, argument in pairwise(arguments):
        if argument.startswith("--pidfile="):
            component = marks.get(argument.removeprefix("--pidfile="))
        else:
            component = marks.get(argument) if before == "--pid-file" else None
        if component is not None:
            return component
    return None


# -- ports


@dataclass(frozen=True, slots=True)
class Port:
    """One port of a copy."""

    name: str  # what it is for
    address: str  # where it listens
    number: int


def ports_of(here: Places) -> list[Port]:
    """All ports of this copy."""
    ports = here.ports
    encrypted = [Port("telnet over TLS", here.listen, ports.telnet_tls)] if here.certificate else []
    return [
        Port("telnet", here.listen, ports.telnet),
        *encrypted,
        Port("web", here.listen, ports.web),
        Port("web socket", here.listen, ports.websocket),
        Port("internal web", LOOPBACK, ports.web_internal),
        Port("internal", LOOPBACK, ports.amp),
        Port("model server", LOOPBACK, ports.model),
        Port("vector server", LOOPBACK, ports.vectors),
    ]


def taken(here: Places) -> list[tuple[Port, str]]:
    """The ports of this copy that other programs have, each with the reason."""
    ours = frozenset(each.pid for each in running(here))
    return [(port, reason) for port in ports_of(here) if (reason := _obstacle(port, ours))]


def refuse_taken(here: Places) -> None:
    """Refuse a start where a port of this copy cannot be used.

    Raises:
        KeepsakeError: Names the first such port, its holder and the cure.
    """
    for port, reason in taken(here):
        what = f"Port {port.number} ({port.name}) on {port.address} {reason}"
        raise KeepsakeError(what, ports_cure(here.ports))


def ports_cure(ports: Ports) -> str:
    """What to do about a taken port, with a base that is free right now."""
    bases = range(ports.base + _STEP, _HIGHEST_BASE, _STEP)
    free = next(filter(_is_free, bases), ports.base + _STEP)
    return (
        f"Stop that program, or start Keepsake on other ports: `KEEPSAKE_PORT_BASE={free} make run`"
    )


def _is_free(base: int) -> bool:
    numbers = range(Ports(base).telnet, Ports(base).vectors + 1)
    return not any(refusal("", number) for number in numbers)


def _obstacle(port: Port, ours: frozenset[int]) -> str:
    """Why the port cannot be used; empty when it can, or when a process of ours has it."""
    refused = refusal(port.address, port.number)
    if refused is None:
        return ""
    if refused.errno == errno.EADDRNOTAVAIL:
        return "cannot be opened: this machine does not have that address"
    if refused.errno != errno.EADDRINUSE:
        return f"cannot be opened: {refused.strerror}"
    with contextlib.suppress(psutil.Error):  # other people's processes stay hidden
        for each in psutil.net_connections("tcp"):
            there = each.laddr[1:] == (port.number,) and each.status == psutil.CONN_LISTEN
            if there and each.pid:
                name = psutil.Process(each.pid).name()
                return "" if each.pid in ours else f"is in use by {name} (process {each.pid})"
    return "is in use by another program"
