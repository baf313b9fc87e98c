"""What runs of one copy of Keepsake, and where to reach it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.table import Table

from game.cli.output import plain_table
from game.cli.world import client, processes
from game.cli.world.processes import Component, Running
from keepsake.errors import KeepsakeError
from keepsake.paths import Places

_PORTS = ("telnet", "web", "websocket", "web_internal", "amp", "model", "vectors")
_PORTS_OF = {
    Component.PORTAL: ("telnet", "web", "websocket"),
    Component.SERVER: ("web_internal",),
    Component.MODEL: ("model",),
    Component.VECTORS: ("vectors",),
}


@dataclass(frozen=True, slots=True)
class Status:
    """One look at a copy."""

    here: Places
    found: tuple[Running, ...]
    ready: bool

    def as_json(self) -> dict[str, Any]:
        """The same as plain data; times in seconds."""
        return {
            "ready": self.ready,
            "home": str(self.here.home),
            "vault": str(self.here.vault),
            "listen": self.here.listen,
            "processes": {component.value: self._process(component) for component in Component},
            "ports": {name: getattr(self.here.ports, name) for name in _PORTS},
        }

    def as_table(self) -> Table:
        """The processes as a table."""
        rows = ((component.value, *self._row(component)) for component in Component)
        return plain_table(("process", "state", "pid", "up for", "port"), rows)

    def _process(self, component: Component) -> dict[str, Any] | None:
        each = processes.one(self.found, component)
        return {"pid": each.pid, "uptime": round(each.uptime, 1)} if each else None

    def _row(self, component: Component) -> tuple[str, str, str, str]:
        each = processes.one(self.found, component)
        if each is None:
            return ("[dim]not running[/dim]", "", "", "")
        numbers = (str(getattr(self.here.ports, name)) for name in _PORTS_OF[component])
        return ("[green]runs[/green]", str(each.pid), duration(each.uptime), " ".join(numbers))


def look(here: Places) -> Status:
    """Look at what runs, and ask the world whether it is ready."""
    here = processes.actual(here)
    try:
        ready = bool(client.ask(here, "ready", seconds=3)["ready"])
    except KeepsakeError:
        ready = False
    return Status(here, tuple(processes.running(here)), ready)


def duration(seconds: float) -> str:
    """A length of time for people: ``45 s``, ``3 min``, ``2 h 5 min``, ``4 d 1 h``."""
    minutes, hours, days = int(seconds // 60), int(seconds // 3600), int(seconds // 86400)
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{int(seconds)} s"
