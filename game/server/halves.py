"""Evennia's two halves, Portal and Server: how each starts the other, and tells if it lives."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

import psutil
from twisted.logger import Logger

from keepsake.child.serving import read_pid
from keepsake.paths import RESTART_SECONDS, Places

_log = Logger()


class Half(StrEnum):
    """One of the two processes that make a world, by the name of its pid file and its log."""

    PORTAL = "portal"
    SERVER = "server"


_APPLICATIONS = {Half.PORTAL: "portal/portal.py", Half.SERVER: "server.py"}


class Launcher:
    """Starts one half, which goes into the background by itself; counts how often it died."""

    def __init__(self, here: Places, half: Half) -> None:
        self.here, self.half = here, half
        self._pid_file: Path = getattr(here, f"{half}_pid")
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths: deque[float] = deque()

    def reap(self) -> None:
        """Let the first process go, which ends once the half is in the background."""
        if self._process is not None:
            self._process.poll()

    def lives(self) -> bool:
        """Whether one is coming up, or there, or has not yet ended."""
        pid = read_pid(self._pid_file)
        if pid == 0:  # it has not yet said its number
            return self._process is not None and self._process.poll() is None
        with suppress(psutil.Error):  # a number alone may be a stranger's by now
            process = psutil.Process(pid)
            named = f"--pidfile={self._pid_file}" in process.cmdline()
            return named and process.status() != psutil.STATUS_ZOMBIE
        return False

    def start(self) -> None:
        """Start it; what cannot be started is logged, and is one more that died."""
        if self._process is not None:  # it waits without end for one that was killed
            self._process.kill()
            self._process.wait()
        self._pid_file.unlink(missing_ok=True)
        try:
            with (self.here.logs / f"{self.half}.log").open("ab") as log:
                self._process = subprocess.Popen(
                    self._command(),
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
        except OSError as error:  # no memory
            _log.error("No {half} could be started: {error}", half=self.half, error=error)

    def kill(self) -> None:
        """End it at once."""
        if not self.lives():
            return
        with suppress(psutil.NoSuchProcess):
            if pid := read_pid(self._pid_file):
                psutil.Process(pid).kill()
            elif self._process is not None:
                self._process.kill()

    def died(self) -> str:
        """Note a death; what is to be told if that was one too often, else nothing."""
        now, most, half = time.monotonic(), self.here.restarts, self.half.capitalize()
        self._deaths.append(now)
        while now - self._deaths[0] > RESTART_SECONDS:
            self._deaths.popleft()
        times, minutes = len(self._deaths), f"within {RESTART_SECONDS / 60:.0f} minutes"
        if times > most:
            return f"The {half} has died {times} times {minutes} and is not started again"
        _log.warn(
            "The {half} has died and is started again ({times} of {most} {minutes})",
            half=half,
            times=times,
            most=most,
            minutes=minutes,
        )
        return ""

    def forgive(self) -> None:
        """Forget its deaths: somebody asks for it."""
        self._deaths.clear()

    def _command(self) -> list[str]:
        import evennia  # noqa: PLC0415 - a start has to be in the game's folder before

        return [
            "twistd",
            f"--python={Path(evennia.__file__).parent / 'server' / _APPLICATIONS[self.half]}",
            f"--logger=evennia.utils.logger.Get{self.half.capitalize()}LogObserver",
            f"--pidfile={self._pid_file}",
        ]
