"""What the processes of a running world cost, as the system counts it."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil

from keepsake.cli import processes
from keepsake.paths import Places

SERVER = "server"
_TICKS = os.sysconf("SC_CLK_TCK")


def spent(here: Places) -> Counter[str]:
    """Seconds of a processor that the processes of that copy have spent, by what each is."""
    each: Counter[str] = Counter()
    for name, process in world(here):
        with suppress(psutil.Error, OSError):
            each[name] += _seconds(Path(f"/proc/{process.pid}/stat"))
    return each


def world(here: Places) -> list[tuple[str, psutil.Process]]:
    """The processes of that copy by name: whoever has its home in the environment."""
    known = {each.pid: str(each.component) for each in processes.running(here)}
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            home = process.environ().get("KEEPSAKE_HOME")
            if process.pid in known or (home and Path(home).resolve() == here.home):
                found.append((known.get(process.pid) or _module(process), process))
    return found


def _module(process: psutil.Process) -> str:
    """What a process that nothing else names was started as."""
    line = process.cmdline()
    return line[line.index("-m") + 1] if "-m" in line[:-1] else process.name()


def _seconds(stat: Path) -> float:
    """Of user and system, from a ``stat`` of Linux."""
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
