"""What runs of one copy of Keepsake, and where to reach it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from rich.table import Table

from game.cli.output import plain_table
from game.cli.world import client, processes
from game.cli.world.processes import Component
from keepsake.errors import KeepsakeError
from keepsake.paths import Places

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


def look(here: Places) -> dict[str, Any]:
    """What runs, and whether somebody could log in, as plain data; times in seconds."""
    here = processes.actual(here)
    found = processes.running(here)
    try:
        ready = bool(client.ask(here, "ready", seconds=3)["ready"])
    except KeepsakeError:
        ready = False
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


def as_table(looked: dict[str, Any]) -> Table:
    """The processes of :func:`look` as a table."""
    table = plain_table(("process", "state", "pid", "up for", "ports"))
    for name, each in looked["processes"].items():
        if each is None:
            table.add_row(name, "[dim]not running[/dim]")
            continue
        numbers = (looked["ports"][port] for port, owner in _PORTS.items() if owner == name)
        up = str(timedelta(seconds=round(each["uptime"])))
        table.add_row(
            name, "[green]runs[/green]", str(each["pid"]), up, " ".join(map(str, numbers))
        )
    return table
