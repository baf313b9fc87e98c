"""Child processes of the game: servers on loopback that the game starts, monitors and stops.

A child survives a reload of the game, so its state is not lost. Each home has at most one child of
each kind. It ends after the Portal of its game has ended.
"""

from __future__ import annotations

import argparse
import atexit
import fcntl
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, ClassVar, NoReturn

import psutil

from keepsake.errors import KeepsakeError
from keepsake.logs import Log
from keepsake.paths import REPOSITORY, Places

LOOPBACK = "127.0.0.1"
NICE = 5
"""The niceness of a child process whose work can wait for the game and for other programs."""
_CHECK_SECONDS = 1.0
"""Seconds between two checks of a child process whether its parent is still there."""
_HEALTH_SECONDS = 2.0
"""Seconds that a child process may take to answer whether it is ready."""
_FIRST_RETRY = 1.0
"""Seconds before the first restart; they double each time."""
_LAST_RETRY = 60.0
"""The most seconds before a restart."""


def in_use(number: int, address: str = LOOPBACK) -> bool:
    """Return whether a program listens on that port."""
    with socket.socket() as caller:
        caller.settimeout(1)
        return caller.connect_ex((LOOPBACK if address == "0.0.0.0" else address, number)) == 0


def _is_running(pid: int) -> bool:
    try:
        return pid > 0 and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _read_pid(path: Path) -> int:
    """Return the process id in a pid file; 0 if there is none."""
    try:
        return int(path.read_text().strip() or 0)
    except (OSError, ValueError):
        return 0


def _pid_with(path: Path, option: str) -> int:
    """Return the process id in a pid file, if a process of that id runs with this option.

    A file that outlives its process may hold the id of another program.

    Args:
        option: Its name: ``--pidfile``; its value is the path of the file.

    Returns:
        The id; 0 if there is no such process.
    """
    pid = _read_pid(path)
    with suppress(psutil.Error):
        words = psutil.Process(pid).cmdline() if _is_running(pid) else []
        return pid if f"{option}={path}" in words else 0
    return 0


# -- the child's side


def parser(program: str) -> argparse.ArgumentParser:
    """Return an argument parser with the options that all kinds of children share."""
    made = argparse.ArgumentParser(prog=program)
    made.add_argument("--port", type=int, required=True, help="on loopback")
    made.add_argument(
        "--pid-file", type=Path, required=True, help="locked while the process runs, then removed"
    )
    made.add_argument("--watch-pid", type=int, required=True, help="the process that it serves")
    return made


def serve(
    options: argparse.Namespace, start: Callable[[], str], *, niceness: int = NICE
) -> NoReturn:
    """Serve until a signal ends the process, or until the process that it serves has ended.

    Args:
        options: The parsed options of :func:`parser`.
        start: Starts the server in threads, and returns its address or exits with the reason.
        niceness: Its priority among processes: 0 is that of other programs, 19 the lowest.
    """
    # Exit at once: all data is saved already, and a server's own shutdown waits for open calls.
    signal.signal(signal.SIGTERM, lambda *_: _exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        os.nice(niceness)
    watched = _process(options.watch_pid)
    options.pid_file.parent.mkdir(parents=True, exist_ok=True)
    lock = _take(options.pid_file)
    lock.truncate(0)
    print(os.getpid(), file=lock, flush=True)
    if in_use(options.port):
        what = f"Port {options.port} is in use: end the program that uses it"
        give_up(f"{what}, or set KEEPSAKE_PORT_BASE")
    print(start(), flush=True)
    while watched is not None and _goes_on(watched):
        time.sleep(_CHECK_SECONDS)
    print("the game has ended", flush=True)
    _exit(0)


def _process(pid: int) -> psutil.Process | None:
    """Return a process with its start time; None if there is none."""
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None


def _goes_on(process: psutil.Process) -> bool:
    """Whether a process still runs, and not another one that has got its id since."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def give_up(reason: str) -> NoReturn:
    """Exit at once, from any thread, with the reason in the log."""
    print(reason, flush=True)
    _exit(1)


_own_pid_file: Path | None = None
"""The pid file that this process has locked; None in a process that is no child."""


def _take(pid_file: Path) -> IO[str]:
    """Lock a pid file, and return it: it stays locked as long as it is open."""
    global _own_pid_file  # noqa: PLW0603 - one per process
    while True:
        lock = pid_file.open("a+", encoding="utf-8")
        fcntl.flock(lock, fcntl.LOCK_EX)  # the previous child may still be ending
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock.fileno()), pid_file.stat()):
                _own_pid_file = pid_file
                atexit.register(_remove_pid_file)
                return lock
        lock.close()  # that child has removed its file meanwhile


def _exit(status: int) -> NoReturn:
    """Exit at once, from any thread."""
    _remove_pid_file()
    os._exit(status)


def _remove_pid_file() -> None:
    """Remove the pid file while it is still locked, so that its number stands for no process."""
    if _own_pid_file is not None:
        with suppress(OSError):
            _own_pid_file.unlink(missing_ok=True)


# -- the game's side


class Supervisor(ABC):
    """Monitor of one child process of one home; a subclass defines the kind of child.

    Its methods can block, so call them in a thread, never on the reactor.

    Attributes:
        address: The URL at which the child answers.
        pid_file: Holds the child's process id; the child locks it while it runs.
        problem: Why the child does not answer now; None if it does.
        ready: Set while the child answers.
    """

    stem: ClassVar[str]  # name of its port in `keepsake.paths.Ports`, pid file and log
    name: ClassVar[str]  # in log lines and errors, after "the": ``embedded model``
    logger: ClassVar[Log]
    module: ClassVar[str]  # the Python module that the child runs
    health: ClassVar[str]  # URL path that returns status 200 while the child works
    off_cure: ClassVar[str]  # cure in the error after the child was stopped on purpose
    environ: ClassVar[Mapping[str, str]] = {}  # added to the game's environment
    unavailable: ClassVar[type[KeepsakeError]]

    def __init__(self, places: Places) -> None:
        self.problem: KeepsakeError | None = self.unavailable(f"The {self.name} is not started")
        self.pid_file = places.home / f"{self.stem}.pid"
        self.log_file = places.logs / f"{self.stem}.log"
        self._port: int = getattr(places.ports, self.stem)
        self.address = f"http://{LOOPBACK}:{self._port}"
        self._places = places
        self._child: subprocess.Popen[bytes] | None = None
        self.ready = threading.Event()
        self._lock = threading.Lock()
        self._stopped = False
        self._failures = 0
        self._next_start = 0.0
        self._started = 0.0

    @abstractmethod
    def _arguments(self) -> Sequence[object]:
        """Return the remaining arguments, or raise KeepsakeError. A change replaces the child."""

    @property
    def pid(self) -> int | None:
        """The child's process id, also of one adopted after a reload; None if there is none."""
        if self._child is not None and self._child.poll() is None:
            return self._child.pid
        return _pid_with(self.pid_file, "--pid-file") or None

    def watch(self, *, wanted: bool = True) -> bool:
        """Check the child once: start, restart or adopt it as needed; return whether it answers.

        Call it about every second, in a thread. A failure is logged once and kept in
        :attr:`problem`. Later calls retry, with growing delays. A child that is not ``wanted`` is
        stopped.
        """
        with self._lock:
            if self._stopped or not wanted:
                self._stop_child(f"The {self.name} is not in use")
            elif (pid := self.pid) is None or self._outdated(pid):
                self._begin(pid)
            elif not self.ready.is_set() and self._is_healthy():
                self.logger.info(f"The {self.name} answers at {self.address}")
                self.problem = None
                self.ready.set()
            return self.ready.is_set()

    def stop(self) -> None:
        """Stop the child permanently, by force if necessary."""
        with self._lock:
            self._stopped = True
            self._stop_child(f"The {self.name} was stopped")

    def _stop_child(self, why: str) -> None:
        self.problem = self.unavailable(why, self.off_cure)
        self._end()

    def _outdated(self, pid: int) -> bool:
        """Return whether the child, perhaps an adopted one, runs with outdated arguments."""
        try:
            own = [str(word) for word in self._arguments()]
            return psutil.Process(pid).cmdline()[-len(own) :] != own
        except (KeepsakeError, psutil.Error):  # no replacement could be started
            return False

    def _begin(self, outdated: int | None) -> None:
        """Start a child if its retry delay is over; replaces one that is outdated or has ended."""
        if outdated is not None:
            self.logger.info(f"The {self.name} server restarts with new settings")
            self._end()
            self._next_start = 0.0
        self.ready.clear()
        if self._child is not None:
            self._handle_exit(self._child.returncode)
            self._child = None
        if time.monotonic() < self._next_start:
            return
        try:
            self._start()
        except KeepsakeError as error:
            self._failed(error)
        except OSError as error:
            what = f"The {self.name} server could not be started ({error.strerror})"
            cure = "Check whether the disk is full or KEEPSAKE_HOME is read-only"
            self._failed(self.unavailable(what, cure))

    def _start(self) -> None:
        # Without a Portal of this home, as in another game, the child serves this process.
        served = _pid_with(self._places.portal_pid, "--pidfile") or os.getpid()
        words = ["--port", self._port, f"--pid-file={self.pid_file}"]
        words += ["--watch-pid", served, *self._arguments()]
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        own = {**self.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1"}
        with self.log_file.open("wb") as output:
            self._child = subprocess.Popen(
                [sys.executable, "-m", self.module, *map(str, words)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._places.home,
                env={**os.environ, **own},
                start_new_session=True,
            )
        self._started = time.monotonic()
        self.problem = self.unavailable(f"The {self.name} is being loaded", "Wait a little")
        self.logger.info(f"Starting the {self.name} server on port {self._port}")

    def _handle_exit(self, status: int) -> None:
        """Handle a child that has ended by itself."""
        what = f"The {self.name} server ended with status {status} ({self._last_log_line()})"
        self._failed(self.unavailable(what, f"It will be started again; see {self.log_file}"))

    def _failed(self, problem: KeepsakeError) -> None:
        if self._started and time.monotonic() - self._started > _LAST_RETRY:
            self._failures = 0  # it ran long enough to count as a success
        self.ready.clear()
        wait = min(_FIRST_RETRY * 2**self._failures, _LAST_RETRY)
        self._failures += 1
        self._next_start = time.monotonic() + wait
        if str(problem) != str(self.problem):  # log a repeated failure to start only once
            self.logger.error(str(problem), next_try_in_seconds=wait, exc_info=problem.__cause__)
        self.problem = problem

    def _end(self, seconds: float = 5.0) -> None:
        """Stop the child, by force if it does not end in that time."""
        self.ready.clear()
        pid = self.pid
        if pid is None:
            return
        for call in (psutil.Process.terminate, psutil.Process.kill):
            until = time.monotonic() + seconds
            with suppress(psutil.NoSuchProcess):
                call(psutil.Process(pid))
            # A child of another parent process may stay a zombie for ever.
            while _is_running(pid) and time.monotonic() < until:
                time.sleep(0.02)
            if not _is_running(pid):
                break
        if self._child is not None:
            self._child.wait()
            self._child = None

    def _is_healthy(self) -> bool:
        asked = http.client.HTTPConnection(LOOPBACK, self._port, timeout=_HEALTH_SECONDS)
        with closing(asked), suppress(OSError, http.client.HTTPException):
            asked.request("GET", self.health)
            return asked.getresponse().status == 200
        return False

    def _last_log_line(self) -> str:
        with suppress(OSError):
            lines = self.log_file.read_text(errors="replace").splitlines()
            return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "nothing")
        return "no log"
