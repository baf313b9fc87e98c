"""Which processes belong to one copy of Keepsake, and how to end them.

A process is known by its command line, which names a pid file in the copy's home. The
number in a pid file alone proves nothing: the process may be gone and its number given
to a stranger.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

from game.paths import Places

TERMINATE_SECONDS = 15.0


class Component(StrEnum):
    """What one copy runs in the background."""

    PORTAL = "portal"
    SERVER = "server"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Running:
    """One process of ours.

    Attributes:
        component: What it is.
        pid: Its number.
        started: When it was started, seconds since 1970.
    """

    component: Component
    pid: int
    started: float

    @property
    def uptime(self) -> float:
        """Seconds since it was started."""
        return max(0.0, time.time() - self.started)


def pid_file(here: Places, component: Component) -> Path:
    """The file that names the process, and that its command line names."""
    files = {
        Component.PORTAL: here.portal_pid,
        Component.SERVER: here.server_pid,
        Component.MODEL: here.model_pid,
    }
    return files[component]


def running(here: Places) -> list[Running]:
    """All processes of this copy, oldest first."""
    marks = {f"--pidfile={pid_file(here, component)}": component for component in Component}
    found = [
        Running(component, process.pid, process.create_time())
        for process in _living()
        if (component := _component(process, marks)) is not None
    ]
    return sorted(found, key=lambda each: each.started)


def one(found: Iterable[Running], component: Component) -> Running | None:
    """The newest process of that kind, or None."""
    return max(
        (each for each in found if each.component is component),
        key=lambda each: each.started,
        default=None,
    )


def end(processes: Iterable[Running], patience: float = TERMINATE_SECONDS) -> None:
    """Ask the processes to end, and kill those that have not after ``patience`` seconds."""
    alive = [process for each in processes if (process := _same(each))]
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    _, stubborn = psutil.wait_procs(alive, timeout=patience)
    for process in stubborn:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(stubborn, timeout=patience)


def forget_dead(here: Places) -> None:
    """Remove the pid files of components that do not run; they would stop a start."""
    found = running(here)
    for component in Component:
        if one(found, component) is None:
            pid_file(here, component).unlink(missing_ok=True)


def _living() -> Iterable[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                yield process


def _component(process: psutil.Process, marks: dict[str, Component]) -> Component | None:
    try:
        arguments = process.cmdline()
    except psutil.Error:  # it ended meanwhile, or belongs to somebody else
        return None
    for argument in arguments:
        if argument in marks:
            return marks[argument]
    return None


def _same(each: Running) -> psutil.Process | None:
    """The process, unless its number has passed to another one."""
    try:
        process = psutil.Process(each.pid)
        return process if process.create_time() == each.started else None
    except psutil.Error:
        return None
