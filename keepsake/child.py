"""Child processes of the game: servers on loopback that it starts, watches and ends.

A child lives on its own, so that a reload of the game does not lose what it holds. It is one
process a home, has a low priority, and ends when the processes that it serves are gone.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import fcntl
import http.client
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import psutil

from keepsake.errors import KeepsakeError
from keepsake.paths import REPOSITORY, Places

LOOPBACK = "127.0.0.1"
NICE = 5
"""How far a child steps back."""
EXIT_FAILED, EXIT_ALONE = 5, 0
_LOCK_SECONDS, _CHECK_SECONDS, _HEALTH_SECONDS = 5.0, 1.0, 2.0
_LOG_TAIL_BYTES = 2000


def read_pid(path: Path) -> int:
    """The process id in a pid file; 0 when there is none."""
    try:
        return int(path.read_text().strip() or 0)
    except (OSError, ValueError):
        return 0


def refusal(address: str, number: int) -> OSError | None:
    """Why nobody can listen at that port now; None if somebody can.

    llama.cpp's connections, which last for a minute after it has ended, share their port with
    SO_REUSEPORT alone, as it does itself. With that option two may listen side by side, so a
    listener is first looked for by calling it.
    """
    refused: OSError | None = None
    for options in ((socket.SO_REUSEADDR,), (socket.SO_REUSEADDR, socket.SO_REUSEPORT)):
        with socket.socket() as probe, socket.socket() as caller:
            for option in options:
                probe.setsockopt(socket.SOL_SOCKET, option, 1)
            try:
                probe.bind((address, number))
                probe.listen(1)  # with SO_REUSEADDR only this notices some listeners
                return None
            except OSError as error:
                refused = error
            caller.settimeout(1)
            there = (LOOPBACK if address in ("", "0.0.0.0") else address, number)
            free = refused.errno == errno.EADDRINUSE
            if not free or caller.connect_ex(there) != errno.ECONNREFUSED:
                return refused
    return refused


# -- the child's side


class CannotServe(Exception):
    """The server did not come up; says why, for the child's log."""


def parser(program: str) -> argparse.ArgumentParser:
    """A command line with what ties a child to the game, the same for every kind of child."""
    made = argparse.ArgumentParser(prog=program)
    made.add_argument("--port", type=int, required=True, help="on loopback")
    made.add_argument("--pid-file", type=Path, required=True, help="locked while it lives")
    made.add_argument("--watch-pid", type=int, default=0, help="whom it serves")
    made.add_argument("--watch-file", type=Path, default=Path(), help="the same, as a pid file")
    made.add_argument("--grace", type=float, default=20.0, help="seconds to wait for them")
    return made


def serve(name: str, tied: argparse.Namespace, start: Callable[[], str]) -> int:
    """Serve until told to end, or until nobody is left to serve.

    Args:
        name: What this process is, for its log.
        tied: What :func:`parser` read.
        start: Brings the server up in threads of its own and says where it listens;
            raises :class:`CannotServe`.

    Returns:
        The exit status; after a server that came up this never returns.
    """
    # At once: what must be saved is saved, and a server's own shutdown waits for calls.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(EXIT_ALONE))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(NICE)
    tied.pid_file.parent.mkdir(parents=True, exist_ok=True)
    lock, until = tied.pid_file.open("a+", encoding="utf-8"), time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > until:
                print(f"Another {name} of this home is running: end it", flush=True)
                return EXIT_FAILED
            time.sleep(0.1)
    lock.truncate(0)
    print(os.getpid(), file=lock, flush=True)
    try:
        if refusal(LOOPBACK, tied.port):
            told = f"Port {tied.port} is in use: end the program that uses it"
            raise CannotServe(f"{told}, or set KEEPSAKE_PORT_BASE")
        print(start(), flush=True)
    except CannotServe as error:
        print(error, flush=True)
        return EXIT_FAILED
    last_seen = time.monotonic()
    # Looked at before it is judged: a grace shorter than the sleep must not end a child
    # whose game is there.
    while True:
        if _lives(tied.watch_pid) or _lives(read_pid(tied.watch_file)):
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > tied.grace:
            print("nobody is left to serve", flush=True)
            os._exit(EXIT_ALONE)
        time.sleep(_CHECK_SECONDS)


def give_up(reason: str) -> None:
    """End this process at once, from any thread, with the reason in its log."""
    print(reason, flush=True)
    os._exit(EXIT_FAILED)


def _lives(pid: int) -> bool:
    try:
        return pid > 0 and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


# -- the game's side


class Supervisor(ABC):
    """Looks after one child process of one home; a subclass says what it is.

    Everything here blocks now and then, so it runs in a thread, never on the reactor.

    Args:
        places: Folders and ports of this copy.
        grace: Seconds that the child waits for this process or the one in ``portal.pid``.

    Attributes:
        stem: Names its port in :class:`keepsake.paths.Ports`, its pid file and its log.
        name: In log lines and errors, after "the": ``embedded model``.
        tag: Begins its log lines.
        logger: Where those lines go.
        module: What the child runs; its command line is recognised by it.
        health: The path that answers with status 200 when it works.
        off_cure: How to get it back when it was put away.
        environ: What its environment has beside the game's.
        first_retry: Seconds before the first restart; doubles each time.
        last_retry: The longest time between two restarts.
        silence: How long a child may be silent: it loads, or it hangs.
        unavailable: The error that says what went wrong and its cure.
        address: Where the child answers.
        pid_file: Holds the child's id; the child locks it while it lives.
        log_file: What the child says.
        problem: Why the child does not answer now; None when it does.
        ready: Set while the child answers.
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
    first_retry, last_retry, silence = 1.0, 60.0, 300.0

    def __init__(self, places: Places, *, grace: float = 20.0) -> None:
        self.problem: KeepsakeError | None = self.unavailable(f"The {self.name} is not started")
        self.pid_file = places.home / f"{self.stem}.pid"
        self.log_file = places.logs / f"{self.stem}.log"
        self._port: int = getattr(places.ports, self.stem)
        self.address = f"http://{LOOPBACK}:{self._port}"
        self._places, self._grace = places, grace
        self._child: subprocess.Popen[bytes] | None = None
        self.ready, self._lock = threading.Event(), threading.Lock()
        self._stopped, self._deaths = False, 0
        self._next_start = self._started = self._heard = 0.0

    @abstractmethod
    def _arguments(self) -> Sequence[object]:
        """The rest of its command line, or a KeepsakeError; one with others is replaced."""

    @property
    def pid(self) -> int | None:
        """The child's id, ours or one adopted from before a reload; None if there is none."""
        if self._child is not None and self._child.poll() is None:
            return self._child.pid
        pid = read_pid(self.pid_file)
        with contextlib.suppress(psutil.Error):
            words = psutil.Process(pid).cmdline() if _lives(pid) else []
            if self.module in words and str(self.pid_file) in words:  # and no stranger
                return pid
        return None

    def watch(self, *, wanted: bool = True) -> bool:
        """One look at the child: start, restart or adopt it as needed; whether it answers.

        Call it every second or so, from a thread. Failures are logged once and kept
        in :attr:`problem`; the next look tries again, later each time. A child that
        is not ``wanted`` is ended.
        """
        with self._lock:
            self._heard = self._heard or time.monotonic()
            if self._stopped or not wanted:
                self._put_away(f"The {self.name} is not in use")
            elif (pid := self.pid) is None:
                self._missing()
            elif self._outdated(pid):
                self._log(logging.INFO, f"The {self.name} server is to serve something else")
                self._end()
                self._next_start = 0.0
                self._missing()
            elif self._is_healthy():
                self._heard = time.monotonic()
                if not self.ready.is_set():
                    self._log(logging.INFO, f"The {self.name} answers at {self.address}")
                    self.problem = None
                    self.ready.set()
            elif time.monotonic() - self._heard > self.silence:
                self._end()
                told = f"gave no answer for {self.silence:g} s and was ended"
                what = f"The {self.name} server {told}"
                self._failed(self.unavailable(what, f"See {self.log_file}"))
            return self.ready.is_set()

    def stop(self, seconds: float = 5.0) -> None:
        """End the child for good, by force when it does not go in ``seconds``."""
        with self._lock:
            self._stopped = True
            self._put_away(f"The {self.name} was stopped", seconds)

    def _put_away(self, why: str, seconds: float = 5.0) -> None:
        self.problem = self.unavailable(why, self.off_cure)
        self._end(seconds)

    def _outdated(self, pid: int) -> bool:
        """Whether the child, perhaps one from before a reload, was told something else."""
        try:
            own = [str(word) for word in self._arguments()]
            return psutil.Process(pid).cmdline()[-len(own) :] != own
        except (KeepsakeError, psutil.Error):  # nothing better to put in its place
            return False

    def _missing(self) -> None:
        self.ready.clear()
        if self._child is not None:
            self._mourn(self._child.returncode)
            self._child = None
        if time.monotonic() < self._next_start:
            return
        try:
            self._start()
        except KeepsakeError as error:
            self._failed(error)
        except OSError as error:
            what = f"The {self.name} server could not be started ({error.strerror})"
            cure = "See whether the disk is full or KEEPSAKE_HOME read-only"
            self._failed(self.unavailable(what, cure))

    def _start(self) -> None:
        words: list[object] = ["--port", self._port, "--pid-file", self.pid_file]
        words += ["--watch-pid", os.getpid(), "--watch-file", self._places.portal_pid]
        words += ["--grace", self._grace, *self._arguments()]
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
        self._started = self._heard = time.monotonic()
        self.problem = self.unavailable(f"The {self.name} is being loaded", "Wait a little")
        self._log(logging.INFO, f"Starting the {self.name} server on port {self._port}")

    def _mourn(self, status: int) -> None:
        """The child has ended by itself."""
        what = f"The {self.name} server ended with status {status} ({self._last_words()})"
        self._failed(self.unavailable(what, f"It will be started again; see {self.log_file}"))

    def _failed(self, problem: KeepsakeError) -> None:
        if time.monotonic() - self._started > self.last_retry:
            self._deaths = 0  # it had come up well before
        self.ready.clear()
        wait = min(self.first_retry * 2**self._deaths, self.last_retry)
        self._deaths += 1
        self._next_start = time.monotonic() + wait
        self.problem = problem
        self._log(logging.ERROR, f"{problem} (next try in {wait:g} s)")

    def _end(self, seconds: float = 5.0) -> None:
        """End the child, by force when it does not go in that time."""
        self.ready.clear()
        pid = self.pid
        if pid is None:
            return
        for call in (psutil.Process.terminate, psutil.Process.kill):
            until = time.monotonic() + seconds
            with contextlib.suppress(psutil.NoSuchProcess):
                call(psutil.Process(pid))
            # One whose parent is another may stay a zombie for ever.
            while _lives(pid) and time.monotonic() < until:
                time.sleep(0.02)
            if not _lives(pid):
                break
        if self._child is not None:
            self._child.wait()
            self._child = None

    def _is_healthy(self) -> bool:
        connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=_HEALTH_SECONDS)
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
