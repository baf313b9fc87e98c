"""Tells whether this copy's TCP ports are free, and who holds one that is not."""

from __future__ import annotations

import contextlib
import errno
from dataclasses import dataclass

import psutil

from keepsake.child import free_port
from keepsake.child.free_port import LOOPBACK
from keepsake.errors import KeepsakeError
from keepsake.paths import Places, Ports

_STEP = 10
_HIGHEST_BASE = 65000


@dataclass(frozen=True, slots=True)
class Port:
    """One port of a copy."""

    name: str  # what it is for
    address: str  # where it listens
    number: int


def of(here: Places) -> list[Port]:
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


def taken(ports: list[Port], ours: frozenset[int] = frozenset()) -> list[tuple[Port, str]]:
    """The ports that cannot be used, each with the reason."""
    return [(port, reason) for port in ports if (reason := _obstacle(port, ours))]


def refuse_taken(here: Places, ours: frozenset[int] = frozenset()) -> None:
    """Raise when a port of this copy cannot be used.

    Raises:
        KeepsakeError: Names the first such port, its holder and the cure.
    """
    if not (obstacles := taken(of(here), ours)):
        return
    port, reason = obstacles[0]
    raise KeepsakeError(
        f"Port {port.number} ({port.name}) on {port.address} {reason}", cure(here.ports)
    )


def cure(ports: Ports) -> str:
    """What to do about a taken port, with a base that is free right now."""
    free = free_base(ports.base + _STEP)
    return (
        f"Stop that program, or start Keepsake on other ports: `KEEPSAKE_PORT_BASE={free} make run`"
    )


def free_base(first: int) -> int:
    """The first base from ``first`` upwards, in steps of ten, with all its ports free."""
    for base in range(first, _HIGHEST_BASE, _STEP):
        candidate = Ports(base)
        numbers = range(candidate.telnet, candidate.vectors + 1)
        if not any(free_port.refusal("", number) for number in numbers):
            return base
    return first


def _obstacle(port: Port, ours: frozenset[int]) -> str:
    """Why the port cannot be used; empty when it can, or when a process of ours has it."""
    refusal = free_port.refusal(port.address, port.number)
    if refusal is None:
        return ""
    if refusal.errno == errno.EADDRNOTAVAIL:
        return "cannot be opened: this machine does not have that address"
    if refusal.errno != errno.EADDRINUSE:
        return f"cannot be opened: {refusal.strerror}"
    holder = _holder(port.number)
    if holder is not None and holder.pid in ours:
        return ""
    return "is in use" + (f" by {_describe(holder)}" if holder else " by another program")


def _holder(number: int) -> psutil.Process | None:
    with contextlib.suppress(psutil.Error):  # other people's processes stay hidden
        for connection in psutil.net_connections("tcp"):
            listening = connection.status == psutil.CONN_LISTEN
            if listening and connection.laddr.port == number and connection.pid:
                return psutil.Process(connection.pid)
    return None


def _describe(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        return f"{process.name()} (process {process.pid})"
    return f"process {process.pid}"
