"""A world of its own for a soak: made, started, broken, looked at, ended."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import psutil

from game.cli.world import client, ports, processes
from game.cli.world.processes import Component
from game.lab.simulations.settings import with_model
from game.lab.soak.fake_model import MODEL
from game.lab.soak.plan import SoakPlan
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import MOVED_CLOCK, REPOSITORY, Places, places

_OURS = ("KEEPSAKE_", "OLLAMA_", "OPENAI_", "DJANGO_")
_START_SECONDS = 900.0
_POLL = 0.1
_MOST_RESTARTS = 100_000
_MOUNT_SECONDS = 1.0
_READ_ONLY_SECONDS = 300.0
_LARGEST_DISK = 512 * 1024 * 1024
_SUMMARIZER = re.compile(r"(?m)^\*\*provider\*\*: extractive$")
_SETTINGS = {
    # All are awake, so that all hear; the window is small, so that there is much compaction.
    "sleep.md": {"sleep": "no"},
    "memory_compaction.md": {"immediate_window": "16", "recent_window": "16"},
}


@dataclass(frozen=True, slots=True)
class Sample:
    """The Server at one moment; ``pid`` tells one process from the next."""

    at: float
    pid: int
    age: float
    memory: int
    handles: int


class SoakedWorld:
    """A copy of Keepsake in a temporary folder, with the shipped configuration.

    Args:
        model_port: Where the model server of all its profiles listens.
        first_base: It takes the first free port base from there.
        plan: Whether its vault is on a small disk, which model it has, whether its clock jumps.

    Raises:
        KeepsakeError: The small disk cannot be used.
    """

    def __init__(self, model_port: int, first_base: int, plan: SoakPlan) -> None:
        self._disk = small_disk = plan.small_disk
        if small_disk is not None:
            _refuse_large(small_disk)
        self.folder = Path(mkdtemp(prefix="keepsake-soak-"))
        self.environ = {
            **{key: value for key, value in os.environ.items() if not key.startswith(_OURS)},
            "KEEPSAKE_HOME": str(self.folder / "home"),
            "KEEPSAKE_VAULT": str((small_disk or self.folder) / "vault"),
            "KEEPSAKE_PORT_BASE": str(ports.free_base(first_base)),
            "KEEPSAKE_RESTARTS": str(_MOST_RESTARTS),
        }
        self.here: Places = places(self.environ)
        self._clock = self.folder / "clock-off-by"
        if plan.clock_jumps:
            self.environ[MOVED_CLOCK] = str(self._clock)
        _configure(self.here.config, None if plan.embedded else model_port)

    def start(self) -> None:
        """Bring it up, from whatever state it is in.

        Raises:
            KeepsakeError: It did not come up.
        """
        self._keepsake("start")

    def stop(self) -> None:
        """End it the usual way.

        Raises:
            KeepsakeError: The command failed.
        """
        self._keepsake("stop")

    def end(self, *, keep: bool) -> None:
        """End what runs by signal; ``keep`` leaves its files."""
        self.make_read_only(on=False)
        self.fill_disk(full=False)
        while found := processes.running(self.here):
            processes.end(found)
        if not keep:
            shutil.rmtree(self.here.vault, ignore_errors=True)
            shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self, component: Component) -> bool:
        """End a process at once; False if there was none."""
        found = processes.one(processes.running(self.here), component)
        if found is None:
            return False
        with suppress(ProcessLookupError):
            os.kill(found.pid, signal.SIGKILL)
        return True

    def runs(self, component: Component) -> bool:
        """Whether such a process is there."""
        return processes.one(processes.running(self.here), component) is not None

    def sample(self, at: float) -> Sample | None:
        """The Server as it is now; None if there is none."""
        found = processes.one(processes.running(self.here), Component.SERVER)
        with suppress(psutil.Error):
            if found is not None:
                process = psutil.Process(found.pid)
                memory, handles = process.memory_info().rss, process.num_fds()
                return Sample(at, found.pid, found.uptime, memory, handles)
        return None

    def agents(self) -> list[str]:
        """The agents' names."""
        return [str(each["name"]) for each in client.ask(self.here, "agents")]

    def waiting(self) -> list[str]:
        """Whose memories wait for a disk."""
        return [str(each["name"]) for each in client.ask(self.here, "waiting")]

    def fill_disk(self, *, full: bool) -> None:
        """Take all room of the small disk, or give it back; nothing without one."""
        if self._disk is None:
            return
        filler = self._disk / "filler"
        if not full:
            until(lambda: _is_gone(filler), _READ_ONLY_SECONDS)
            return
        with suppress(OSError), filler.open("ab", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def make_read_only(self, *, on: bool) -> bool:
        """Mount the small disk so that nothing can be written, or again as it was.

        Returns whether that could be done. It cannot while a process has a file open there to
        write: that is tried again for a second, as one that was killed may still be going.
        """
        if self._disk is None:
            return False
        how = ["mount", "-o", "remount,ro" if on else "remount,rw", str(self._disk)]
        return until(lambda: _succeeds(how), _MOUNT_SECONDS)

    def set_clock(self, off: int) -> None:
        """Have its agents read a clock that is so many seconds off."""
        new = self._clock.with_suffix(".new")
        new.write_text(str(off), encoding="utf-8")
        new.replace(self._clock)

    def _keepsake(self, command: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "game", command],
            cwd=REPOSITORY,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=_START_SECONDS,
            check=False,
        )
        if done.returncode:
            raise KeepsakeError(f"`keepsake {command}` failed: {done.stderr.strip()}")


def until(done: Callable[[], object], seconds: float) -> bool:
    """Wait for ``done()``; False when it was not so in time."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL)
    return True


def _is_gone(file: Path) -> bool:
    with suppress(OSError):  # the disk may be mounted read-only just now
        file.unlink(missing_ok=True)
    return not file.exists()


def _succeeds(command: list[str]) -> bool:
    with suppress(OSError):
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return False


def _refuse_large(folder: Path) -> None:
    with refusing(f"{folder} is no folder", "Mount a tmpfs"):
        total = shutil.disk_usage(folder).total
    if total > _LARGEST_DISK:
        raise KeepsakeError(
            f"{folder} is on a disk of {total / 1e6:,.0f} MB, which would be filled",
            f"Give a small one: mount -t tmpfs -o size=64m none {folder}",
        )


def _configure(config: Path, model_port: int | None) -> None:
    """The shipped configuration; every model replaced by the one at that port, if there is one."""
    shutil.copytree(REPOSITORY / "vault" / "config", config)
    if model_port is not None:
        host = f"http://127.0.0.1:{model_port}"
        models = config / "llm.md"
        text = with_model(models.read_text(encoding="utf-8"), f"openai:{MODEL}@{host}", 0)
        server = f"**provider**: openai\n**host**: {host}\n**model**: {MODEL}"
        models.write_text(_SUMMARIZER.sub(server, text), encoding="utf-8")
    for name, values in _SETTINGS.items():
        text = (config / name).read_text(encoding="utf-8")
        for key, value in values.items():
            # The first, as sections further down may have a key of the same name.
            text = re.sub(rf"(?m)^\*\*{key}\*\*:.*$", f"**{key}**: {value}", text, count=1)
        (config / name).write_text(text, encoding="utf-8")
