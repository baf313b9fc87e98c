"""What the processes and threads of a running world cost, as the system counts it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from keepsake.cli import processes
from keepsake.paths import REPOSITORY, Places

NAMED_THREADS = REPOSITORY / "tests" / "bench" / "named_threads"
"""In ``PYTHONPATH`` of a world whose threads are to be told apart."""
SERVER = "server"
REACTOR = "reactor"
_TICKS = os.sysconf("SC_CLK_TCK")
_NUMBER = re.compile(r"[-_]?\d+$")


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of a processor up to one moment, or between two.

    Attributes:
        processes: By what the process is: ``server``, ``portal``, ``vectors`` …
        threads: Of the Server, by the names of its threads; ``reactor`` is the main one, ``ended``
            those that are no more.
    """

    processes: Mapping[str, float] = field(default_factory=Counter)
    threads: Mapping[str, float] = field(default_factory=Counter)

    @property
    def total(self) -> float:
        """Of all processes together."""
        return sum(self.processes.values())

    @property
    def server(self) -> float:
        """Of the Server alone."""
        return self.processes.get(SERVER, 0.0)

    def __sub__(self, before: Spent) -> Spent:
        return Spent(
            _differences(self.processes, before.processes),
            _differences(self.threads, before.threads),
        )

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            Counter(self.processes) + Counter(other.processes),
            Counter(self.threads) + Counter(other.threads),
        )


def spent(here: Places) -> Spent:
    """What the processes of that copy have spent since they began."""
    each: Counter[str] = Counter()
    threads: Counter[str] = Counter()
    for name, process in world(here):
        with suppress(psutil.Error, OSError):
            used = _seconds(Path(f"/proc/{process.pid}/stat"))
            each[name] += used
            if name == SERVER:
                threads = _threads(process.pid)
                threads["ended"] = used - threads.total()
    return Spent(each, threads)


def memory(here: Places) -> dict[str, tuple[float, float]]:
    """MB that each process of that copy holds now, and held at most."""
    held: dict[str, tuple[float, float]] = {}
    for name, process in world(here):
        with suppress(OSError):
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            kb = {line.split(":")[0]: int(line.split()[1]) for line in lines if "kB" in line}
            held[name] = (kb["VmRSS"] / 1024, kb["VmHWM"] / 1024)
    return held


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


def disk_mb(*folders: Path) -> float:
    """What the files below these folders take."""
    files = (file for folder in folders for file in folder.rglob("*"))
    total = 0
    for file in files:
        with suppress(OSError):
            total += file.lstat().st_size
    return total / 1e6


def _module(process: psutil.Process) -> str:
    """What a process that nothing else names was started as."""
    line = process.cmdline()
    return line[line.index("-m") + 1] if "-m" in line[:-1] else process.name()


def _threads(pid: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            name = (task / "comm").read_text().strip()
            found[REACTOR if int(task.name) == pid else _NUMBER.sub("", name)] += _seconds(
                task / "stat"
            )
    return found


def _seconds(stat: Path) -> float:
    """Of user and system, from a ``stat`` of Linux."""
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _differences(later: Mapping[str, float], before: Mapping[str, float]) -> Counter[str]:
    return Counter({name: used - before.get(name, 0.0) for name, used in later.items()})
