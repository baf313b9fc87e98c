"""The game's side: starts, watches, restarts and ends one child process.

Everything here blocks now and then, so it runs in a thread, never on the reactor.
"""

from __future__ import annotations

import contextlib
import http.client
import logging
import os
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import psutil

from keepsake.child.serving import EXIT_LOCKED, EXIT_PORT, read_pid
from keepsake.errors import KeepsakeError
from keepsake.paths import REPOSITORY, Places

_HEALTH_SECONDS = 2.0
_LOG_TAIL_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the supervisor waits for what, in seconds."""

    first_retry: float = 1.0  # before the first restart; doubles each time
    last_retry: float = 60.0  # the longest time between two restarts
    start: float = 300.0  # until a child that was just started must answer
    hang: float = 60.0  # how long a child that answered may be silent
    steady: float = 30.0  # how long it must answer before earlier deaths are forgotten


class Supervisor(ABC):
    """Looks after one child process of one home; a subclass says what it is.

    Args:
        places: Folders and ports of this copy.
        watch_pid: A process that the child serves; it ends when this one and the
            one in ``portal.pid`` are gone.
        grace: Seconds that the child waits for them to come back.
        patience: See :class:`Patience`.

    Attributes:
        stem: Names its port in :class:`keepsake.paths.Ports`, its pid file and its log.
        name: In log lines and errors, after "the": ``embedded model``.
        tag: Begins its log lines.
        logger: Where those lines go.
        module: What the child runs; its command line is recognised by it.
        health: The path that answers with status 200 when it works.
        off_cure: How to get it back when it was put away.
        environ: What its environment has beside the game's.
        unavailable: The error that says what went wrong and its cure.
        pid_file: Holds the child's id; the child locks it while it lives.
        log_file: What the child says; the last child's words go beside it, ``.log.1``.
        problem: Why the child does not answer now; None when it does.
        starts: How often a child was started.
    """

    stem: ClassVar[str]
    name: ClassVar[str]
    tag: ClassVar[str]
    logger: ClassVar[logging.Logger]
    module: ClassVar[str]
    health: ClassVar[str]
    off_cure: ClassVar[str]
    environ: ClassVar[Mapping[str, str]] = {}
    unavailable: ClassVar[type[KeepsakeError]]

    def __init__(
        self,
        places: Places,
        watch_pid: int | None = None,
        *,
        grace: float = 20.0,
        patience: Patience | None = None,
    ) -> None:
        self.problem: KeepsakeError | None = self.unavailable(f"The {self.name} is not started")
        self.starts = 0
        self.pid_file = places.home / f"{self.stem}.pid"
        self.log_file = places.logs / f"{self.stem}.log"
        self._port: int = getattr(places.ports, self.stem)
        self._places = places
        self._watch_pid = os.getpid() if watch_pid is None else watch_pid
        self._grace = grace
        self._patience = patience or Patience()
        self._child: subprocess.Popen[bytes] | None = None
        self._ready = threading.Event()
        self._lock = threading.Lock()
        self._stopped = False
        self._deaths = 0
        self._next_start = self._silent_since = self._steady_since = 0.0

    @abstractmethod
    def _arguments(self) -> Sequence[object]:
        """The rest of its command line, or a KeepsakeError; one with others is replaced."""

    @property
    def address(self) -> str:
        """Where the child answers."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int | None:
        """The child's id, ours or one adopted from before a reload; None if there is none."""
        if self._child is not None and self._child.poll() is None:
            return self._child.pid
        pid = read_pid(self.pid_file)
        return pid if pid and self._is_ours(pid) else None

    def ready(self) -> bool:
        """Whether the child answered when it was last looked at."""
        return self._ready.is_set()

    def wait_ready(self, seconds: float) -> bool:
        """Wait until the child answers, ``seconds`` at most; whether it does."""
        return self._ready.wait(seconds)

    def watch(self, *, wanted: bool = True) -> bool:
        """One look at the child: start, restart or adopt it as needed; whether it answers.

        Call it every second or so, from a thread. Failures are logged once and kept
        in :attr:`problem`; the next look tries again, later each time. A child that
        is not ``wanted`` is ended.
        """
        with self._lock:
            if self._stopped or not wanted:
                self._put_away(f"The {self.name} is not in use")
            elif (pid := self.pid) is None:
                self._missing()
            elif self._outdated(pid):
                self._replace()
            elif self._healthy():
                self._answers()
            else:
                self._silent()
            return self._ready.is_set()

    def stop(self, seconds: float = 5.0) -> None:
        """End the child for good, by force when it does not go in ``seconds``."""
        with self._lock:
            self._stopped = True
            self._put_away(f"The {self.name} was stopped", seconds)

    def _put_away(self, why: str, seconds: float = 5.0) -> None:
        self._ready.clear()
        self.problem = self.unavailable(why, self.off_cure)
        self._end(seconds)

    def _outdated(self, pid: int) -> bool:
        """Whether the child, perhaps one from before a reload, was told something else."""
        try:
            own = [str(word) for word in self._arguments()]
            return psutil.Process(pid).cmdline()[-len(own) :] != own
        except (KeepsakeError, psutil.Error):  # nothing better to put in its place
            return False

    def _replace(self) -> None:
        self._log(logging.INFO, f"The {self.name} server is to serve something else")
        self._ready.clear()
        self._end(seconds=5.0)
        self._next_start = 0.0
        self._missing()

    def _missing(self) -> None:
        self._ready.clear()
        if self._child is not None:
            self._mourn(self._child.returncode)
            self._child = None
        if time.monotonic() < self._next_start:
            return
        self._steady_since = 0.0
        try:
            self._start()
        except KeepsakeError as error:
            self._failed(error)
        except OSError as error:
            self._fail(
                f"The {self.name} server could not be started ({error.strerror})",
                "See whether the disk is full or KEEPSAKE_HOME read-only",
            )

    def _start(self) -> None:
        command = self._command()
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        if self.log_file.exists():
            self.log_file.replace(self.log_file.with_suffix(".log.1"))
        with self.log_file.open("wb") as output:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._places.home,
                env={
                    **os.environ,
                    **self.environ,
                    "PYTHONPATH": str(REPOSITORY),
                    "PYTHONUNBUFFERED": "1",
                },
                start_new_session=True,
            )
        self.starts += 1
        self._silent_since = time.monotonic()
        self.problem = self.unavailable(f"The {self.name} is being loaded", "Wait a little")
        self._log(logging.INFO, f"Starting the {self.name} server on port {self._port}")

    def _command(self) -> list[str]:
        tied = {
            "--port": self._port,
            "--pid-file": self.pid_file,
            "--watch-pid": self._watch_pid,
            "--watch-file": self._places.portal_pid,
            "--grace": self._grace,
        }
        words = [word for pair in tied.items() for word in pair]
        own = self._arguments()
        return [sys.executable, "-m", self.module, *map(str, (*words, *own))]

    def _answers(self) -> None:
        now = time.monotonic()
        self._silent_since = 0.0
        self._steady_since = self._steady_since or now
        if now - self._steady_since >= self._patience.steady:
            self._deaths = 0
        if not self._ready.is_set():
            self._log(logging.INFO, f"The {self.name} answers at {self.address}")
            self.problem = None
            self._ready.set()

    def _silent(self) -> None:
        """Alive and without an answer: still loading, busy, or hanging."""
        now = time.monotonic()
        self._silent_since = self._silent_since or now
        patience = self._patience.hang if self._ready.is_set() else self._patience.start
        if now - self._silent_since > patience:
            self._end(seconds=2.0)
            self._fail(
                f"The {self.name} server gave no answer for {patience:g} s and was ended",
                f"See {self.log_file}",
            )

    def _mourn(self, status: int) -> None:
        if status == EXIT_PORT:
            self._fail(
                f"Port {self._port}, meant for the {self.name}, is in use",
                "End the program that uses it, or set KEEPSAKE_PORT_BASE",
            )
        elif status == EXIT_LOCKED:
            self._fail(
                f"Another {self.name} server holds {self.pid_file}", "End it, then wait a little"
            )
        else:
            self._fail(
                f"The {self.name} server ended with status {status} ({self._last_words()})",
                f"It will be started again; see {self.log_file}",
            )

    def _fail(self, what: str, cure: str) -> None:
        self._failed(self.unavailable(what, cure))

    def _failed(self, problem: KeepsakeError) -> None:
        self._ready.clear()
        wait = min(self._patience.first_retry * 2**self._deaths, self._patience.last_retry)
        self._deaths += 1
        self._next_start = time.monotonic() + wait
        self.problem = problem
        self._log(logging.ERROR, f"{problem} (next try in {wait:g} s)")

    def _end(self, seconds: float) -> None:
        pid = self.pid
        if pid is None:
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            process.terminate()
            if not _has_ended(process, seconds):
                process.kill()
                _has_ended(process, seconds)
        if self._child is not None:
            self._child.wait()
            self._child = None

    def _is_ours(self, pid: int) -> bool:
        """Whether ``pid`` is such a server of this home, and no zombie or stranger."""
        try:
            process = psutil.Process(pid)
            words = process.cmdline()
            zombie = process.status() == psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False
        return not zombie and self.module in words and str(self.pid_file) in words

    def _healthy(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_HEALTH_SECONDS)
        try:
            connection.request("GET", self.health)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _last_words(self) -> str:
        try:
            tail = self.log_file.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace")
        except OSError:
            return "no log"
        lines = [line.strip() for line in tail.splitlines() if line.strip()]
        return lines[-1][:200] if lines else "it said nothing"

    def _log(self, level: int, text: str) -> None:
        self.logger.log(level, "[%s] %s", self.tag, text)


def _has_ended(process: psutil.Process, seconds: float) -> bool:
    """Whether it ends in that time. One whose parent is another may stay a zombie for ever."""
    until = time.monotonic() + seconds
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
